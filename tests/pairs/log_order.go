// Puts the lines of logs in order of time. `slow` parses the times of both lines in each comparison, `fixed` each time once.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"time"
)

type line struct {
	text string
	at   time.Time
}

func stamp(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text[:strings.IndexByte(text, ' ')])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return at
}

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "fixed"
	lines := make([]line, 300000)
	seed, begin := uint32(1), time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range lines {
		seed = seed*1664525 + 1013904223
		at := begin.Add(time.Duration(seed%31_000_000) * time.Second)
		lines[i].text = fmt.Sprintf("%s request %d", at.Format(time.RFC3339), i)
	}
	if fixed {
		for i := range lines {
			lines[i].at = stamp(lines[i].text)
		}
		sort.SliceStable(lines, func(a, b int) bool { return lines[a].at.Before(lines[b].at) })
	} else {
		sort.SliceStable(lines, func(a, b int) bool { return stamp(lines[a].text).Before(stamp(lines[b].text)) })
	}
	fmt.Println(lines[0].text, lines[len(lines)-1].text)
}
