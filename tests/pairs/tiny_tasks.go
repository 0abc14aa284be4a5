// Scores many small items. `slow` starts a goroutine for each, `fixed` two for all of them.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

func score(item int) (sum int64) {
	for i := 0; i < 60; i++ {
		sum = sum*31 + int64(item^i)
	}
	return sum & 7
}

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "fixed"
	const items = 1000000
	var all sync.WaitGroup
	var total atomic.Int64
	if fixed {
		for part := 0; part < 2; part++ {
			all.Add(1)
			go func() {
				defer all.Done()
				var sum int64
				for item := part; item < items; item += 2 {
					sum += score(item)
				}
				total.Add(sum)
			}()
		}
	} else {
		for item := 0; item < items; item++ {
			all.Add(1)
			go func() {
				defer all.Done()
				total.Add(score(item))
			}()
		}
	}
	all.Wait()
	fmt.Println(total.Load())
}
