// Checks the DNS records that services registered, one a line, and says what there is of each type. Usage: program FILE
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"

	"github.com/miekg/dns"
)

type summary struct {
	records, refused int
	types            map[string]int
	shortest         uint32
	names            map[string]bool
	bytes            int
}

func read(path string) (*summary, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	sum := &summary{types: map[string]int{}, shortest: ^uint32(0), names: map[string]bool{}}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		record, err := dns.NewRR(lines.Text())
		if err != nil || record == nil {
			sum.refused++
			continue
		}
		header := record.Header()
		sum.records++
		sum.types[dns.TypeToString[header.Rrtype]]++
		sum.names[header.Name] = true
		sum.bytes += dns.Len(record)
		if header.Ttl < sum.shortest {
			sum.shortest = header.Ttl
		}
	}
	return sum, lines.Err()
}

func main() {
	sum, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var types []string
	for name := range sum.types {
		types = append(types, name)
	}
	sort.Strings(types)
	fmt.Printf("%d records of %d names, %d bytes, the shortest lives %d s, %d are refused\n", sum.records, len(sum.names), sum.bytes, sum.shortest, sum.refused)
	for _, name := range types {
		fmt.Printf("%s: %d\n", name, sum.types[name])
	}
}
