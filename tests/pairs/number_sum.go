// Adds up numbers in a text. `slow` reads them by fmt.Fscan, `fixed` by a scanner and strconv.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func sum(text string, fixed bool) (all int) {
	if fixed {
		for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
			number, _ := strconv.Atoi(lines.Text())
			all += number
		}
		return all
	}
	from := bufio.NewReader(strings.NewReader(text))
	for number := 0; ; all += number {
		if _, err := fmt.Fscan(from, &number); err != nil {
			return all
		}
	}
}

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "fixed"
	var text strings.Builder
	for i := 0; i < 600000; i++ {
		text.WriteString(strconv.Itoa(i * 7919 % 1000003))
		text.WriteByte('\n')
	}
	fmt.Println(sum(text.String(), fixed))
}
