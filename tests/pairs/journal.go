// A journal of records, each made durable by itself or all together.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
)

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "fixed"
	file, err := os.CreateTemp("/var/tmp", "journal")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	digest := sha256.New()
	for number := 0; number < 300; number++ {
		record := fmt.Sprintf("record %d of the journal\n", number)
		digest.Write([]byte(record))
		if _, err := file.WriteString(record); err != nil {
			panic(err)
		}
		if !fixed {
			file.Sync()
		}
	}
	file.Sync()
	fmt.Printf("%x\n", digest.Sum(nil))
}
