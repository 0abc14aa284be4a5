// Writes rows of a table as "column=value", and for each row works out the columns from the tags of the structure. Fixed: once for each type.
package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"
)

type column struct {
	name  string
	index int
	empty bool
}

type order struct {
	ID       int    `db:"id"`
	Customer string `db:"customer,omitempty"`
	Street   string `db:"street"`
	City     string `db:"city,omitempty"`
	Count    int    `db:"count"`
	Price    int    `db:"price"`
	note     string
	Paid     bool   `db:"paid"`
	Country  string `db:"country,omitempty"`
	Internal string `db:"-"`
}

var known = map[reflect.Type][]column{}

func columns(of reflect.Type) []column {
	var found []column
	for i := range of.NumField() {
		field := of.Field(i)
		tag := field.Tag.Get("db")
		if !field.IsExported() || tag == "-" {
			continue
		}
		parts := strings.Split(tag, ",")
		found = append(found, column{parts[0], i, len(parts) > 1 && parts[1] == "omitempty"})
	}
	return found
}

func write(out *strings.Builder, row any, fixed bool) {
	value := reflect.ValueOf(row)
	list, ok := known[value.Type()]
	if !ok {
		list = columns(value.Type())
		if fixed {
			known[value.Type()] = list
		}
	}
	for _, one := range list {
		field := value.Field(one.index)
		if one.empty && field.IsZero() {
			continue
		}
		out.WriteString(one.name)
		out.WriteByte('=')
		fmt.Fprint(out, field.Interface())
		out.WriteByte('\n')
	}
}

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "fixed"
	length := 0
	for i := range 500000 {
		var out strings.Builder
		write(&out, order{ID: i, Customer: "customer", City: "Oslo", Count: i % 7, Price: i % 1000}, fixed)
		length += out.Len()
	}
	fmt.Println(length)
}
