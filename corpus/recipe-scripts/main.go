// Runs a script on each book of a collection of recipes; the script finds amounts and units. Usage: program SCRIPT RECIPES
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/dop251/goja"
)

func run(script, recipes string) error {
	source, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(recipes)
	if err != nil {
		return err
	}
	vm := goja.New()
	if _, err := vm.RunScript(script, string(source)); err != nil {
		return err
	}
	read, ok := goja.AssertFunction(vm.Get("read"))
	if !ok {
		return fmt.Errorf("%s has no function read", script)
	}
	totals := map[string]float64{}
	for _, recipe := range strings.Split(string(text), "\n\n") {
		result, err := read(goja.Undefined(), vm.ToValue(recipe))
		if err != nil {
			return err
		}
		var found map[string]float64
		if err := vm.ExportTo(result, &found); err != nil {
			return err
		}
		for unit, amount := range found {
			totals[unit] += amount
		}
	}
	units := make([]string, 0, len(totals))
	for unit := range totals {
		units = append(units, unit)
	}
	sort.Strings(units)
	for _, unit := range units {
		fmt.Printf("%s: %.1f\n", unit, totals[unit])
	}
	return nil
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
