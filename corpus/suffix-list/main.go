// Says which domains send the most mail to a server: reads its log, takes the registered domain of each sender's host, as the public
// suffix list has it, and adds up messages and bytes. Usage: program SUFFIXES LOG
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/weppos/publicsuffix-go/publicsuffix"
)

type traffic struct {
	domain          string
	messages, bytes int
}

func field(line, name string) string {
	_, rest, _ := strings.Cut(line, " "+name+"=")
	value, _, _ := strings.Cut(rest, " ")
	return value
}

func main() {
	list, err := publicsuffix.NewListFromFile(os.Args[1], nil)
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.Open(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	senders := map[string]*traffic{}
	refused := 0
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		_, host, found := strings.Cut(field(line, "from"), "@")
		if !found {
			continue
		}
		domain, err := publicsuffix.DomainFromListWithOptions(list, host, nil)
		if err != nil {
			refused++
			continue
		}
		sender := senders[domain]
		if sender == nil {
			sender = &traffic{domain: domain}
			senders[domain] = sender
		}
		size, err := strconv.Atoi(field(line, "size"))
		if err != nil {
			log.Fatal(err)
		}
		sender.messages++
		sender.bytes += size
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	var sorted []*traffic
	for _, sender := range senders {
		sorted = append(sorted, sender)
	}
	sort.Slice(sorted, func(i, j int) bool {
		if sorted[i].bytes != sorted[j].bytes {
			return sorted[i].bytes > sorted[j].bytes
		}
		return sorted[i].domain < sorted[j].domain
	})
	fmt.Printf("%d domains, %d messages of none\n", len(sorted), refused)
	for _, sender := range sorted[:min(20, len(sorted))] {
		fmt.Printf("%s: %d messages, %d bytes\n", sender.domain, sender.messages, sender.bytes)
	}
}
