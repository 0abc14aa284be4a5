// Filters lines of JSON by a query, as the gojq command does. Usage: program QUERY FILE
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/itchyny/gojq"
)

func run(query string, path string) error {
	parsed, err := gojq.Parse(query)
	if err != nil {
		return err
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	decoder := json.NewDecoder(bufio.NewReader(file))
	for decoder.More() {
		var value any
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		results := code.Run(value)
		for {
			result, more := results.Next()
			if !more {
				break
			}
			if err, failed := result.(error); failed {
				return err
			}
			text, err := gojq.Marshal(result)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s\n", text)
		}
	}
	return nil
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}
