// Answers requests and, after each hundredth, has garbage collected "to keep memory low". Fixed: leaves that to the runtime.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

type session struct{ name, token string }

var sessions = map[int]*session{}

func answer(i int, fixed bool) int {
	user := &session{strings.Repeat("u", i%50), fmt.Sprint(i)}
	sessions[i%20000] = user
	sum := 0
	for k := range 3000 {
		sum += len(user.name) ^ k*i
	}
	if i%100 == 0 && !fixed {
		runtime.GC()
	}
	return sum
}

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "fixed"
	sum := 0
	for i := range 200000 {
		sum += answer(i, fixed)
	}
	fmt.Println(sum)
}
