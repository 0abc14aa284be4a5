// Checks the orders that a partner sent, one JSON document a line, against the shop's OpenAPI description. Usage: program DESCRIPTION ORDERS
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

func check(schema *openapi3.Schema, order any) string {
	err := schema.VisitJSON(order)
	var wrong *openapi3.SchemaError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &wrong):
		return strings.Join(wrong.JSONPointer(), "/") + " has the wrong " + wrong.SchemaField
	}
	return err.Error()
}

func run(description, orders string) error {
	document, err := openapi3.NewLoader().LoadFromFile(description)
	if err != nil {
		return err
	}
	schema := document.Components.Schemas["Order"].Value
	file, err := os.Open(orders)
	if err != nil {
		return err
	}
	defer file.Close()
	accepted, articles, refused := 0, map[string]int{}, map[string]int{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var order map[string]any
		if err := json.Unmarshal(lines.Bytes(), &order); err != nil {
			return err
		}
		if reason := check(schema, order); reason != "" {
			refused[reason]++
			continue
		}
		accepted++
		for _, item := range order["items"].([]any) {
			one := item.(map[string]any)
			articles[one["article"].(string)[:3]] += int(one["amount"].(float64))
		}
	}
	fmt.Printf("%d orders accepted\n", accepted)
	for _, counts := range []map[string]int{articles, refused} {
		var names []string
		for name := range counts {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			fmt.Printf("%s: %d\n", name, counts[name])
		}
	}
	return lines.Err()
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
