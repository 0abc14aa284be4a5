// Writes Go models for the schemas of an API, given as JSON. Usage: program SCHEMAS OUTPUT
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	"github.com/go-openapi/swag"
)

type schema struct {
	Name       string            `json:"name"`
	Properties map[string]string `json:"properties"`
}

var types = map[string]string{"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}

func sortedKeys(properties map[string]string) []string {
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func write(out *bufio.Writer, one schema) int {
	fmt.Fprintf(out, "// file %s.go\ntype %s struct {\n", swag.ToFileName(one.Name), swag.ToGoName(one.Name))
	for _, name := range sortedKeys(one.Properties) {
		fmt.Fprintf(out, "\t%s %s `json:%q`\n", swag.ToGoName(name), types[one.Properties[name]], name)
	}
	fmt.Fprintf(out, "}\n\nfunc (%s %s) Validate() error { return nil }\n\n", swag.ToVarName(one.Name), swag.ToGoName(one.Name))
	return len(one.Properties)
}

func run(input, output string) error {
	text, err := os.ReadFile(input)
	if err != nil {
		return err
	}
	var schemas []schema
	if err := json.Unmarshal(text, &schemas); err != nil {
		return err
	}
	file, err := os.Create(output)
	if err != nil {
		return err
	}
	defer file.Close()
	out, fields := bufio.NewWriter(file), 0
	for _, one := range schemas {
		fields += write(out, one)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	size, err := file.Seek(0, 1)
	fmt.Printf("%d models, %d fields, %d bytes\n", len(schemas), fields, size)
	return err
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
