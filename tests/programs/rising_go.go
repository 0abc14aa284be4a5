// Looks through a slice of strings before each append. Expect: superlinear-work in main.(*uniqueNames).add.

package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

type uniqueNames struct {
	names []string
}

func (u *uniqueNames) add(name string) error {
	if name == "" {
		return errors.New("a record without a name")
	}
	for i, known := range u.names {
		if strings.EqualFold(known, name) {
			return fmt.Errorf("record %d has the name %q already", i, known)
		}
	}
	u.names = append(u.names, name)
	return nil
}

func parse(line string) (name string, sum uint64) {
	parts := strings.Split(line, ",")
	for _, field := range parts[1:] {
		value, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			panic(err)
		}
		sum += value
	}
	return parts[0], sum
}

func main() {
	scale := 1.0
	if len(os.Args) > 1 {
		var err error
		if scale, err = strconv.ParseFloat(os.Args[1], 64); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	count := int(21000 * scale)
	var names uniqueNames
	var total uint64
	duplicates := 0
	for i := 0; i < count; i++ {
		number := i
		if i%32 == 31 {
			number = i / 2
		}
		fields := []string{fmt.Sprintf("customer-%010d", number)}
		for k := 0; k < 24; k++ {
			fields = append(fields, strconv.Itoa(number*31+k))
		}
		name, sum := parse(strings.Join(fields, ","))
		total += sum
		if names.add(name) != nil {
			duplicates++
		}
	}
	fmt.Println(len(names.names), "names,", duplicates, "duplicates,", total)
}
