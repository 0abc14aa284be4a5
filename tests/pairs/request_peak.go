// Answers requests and asks for the size of the heap after each, to report its peak. Fixed: asks at every thousandth.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

type session struct{ name, token string }

var sessions = map[int]*session{}
var peak uint64

func note() {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	peak = max(peak, stats.HeapAlloc)
}

func answer(i int, fixed bool) int {
	user := &session{strings.Repeat("u", i%50), fmt.Sprint(i)}
	sessions[i%20000] = user
	sum := 0
	for k := range 3000 {
		sum += len(user.name) ^ k*i
	}
	if i%1000 == 0 || !fixed {
		note()
	}
	return sum
}

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "fixed"
	sum := 0
	for i := range 60000 {
		sum += answer(i, fixed)
	}
	fmt.Println(sum, peak > 0)
}
