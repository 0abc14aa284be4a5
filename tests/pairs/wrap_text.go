// Breaks paragraphs into lines of a given width. The slow version converts the whole paragraph to characters for each character that it looks at;
// the fixed one does so once for each paragraph.
package main

import (
	"fmt"
	"os"
	"strings"
)

const (
	paragraphs = 350
	words      = 150
	width      = 72
)

func wrap(text string, fixed bool) []string {
	var lines []string
	characters := []rune(text)
	begin, space := 0, -1
	for at := 0; at < len(characters); at++ {
		character := characters[at]
		if !fixed {
			character = []rune(text)[at]
		}
		if character == ' ' {
			space = at
		}
		if at-begin >= width && space > begin {
			lines = append(lines, string(characters[begin:space]))
			begin = space + 1
		}
	}
	return append(lines, string(characters[begin:]))
}

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "fixed"
	lines, letters := 0, 0
	state := uint32(1)
	for number := 0; number < paragraphs; number++ {
		var text strings.Builder
		for word := 0; word < words; word++ {
			state = state*1664525 + 1013904223
			fmt.Fprintf(&text, "wört%d ", state>>20)
		}
		for _, line := range wrap(text.String(), fixed) {
			lines++
			letters += len(line)
		}
	}
	fmt.Printf("%d lines, %d bytes\n", lines, letters)
}
