// Takes items from a channel and gives up when none comes for a second. `slow` makes a timer for each, `fixed` one.
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "fixed"
	items := make(chan []int, 64)
	go func() {
		for i := 0; i < 400000; i++ {
			items <- []int{i, i + 1, i + 2}
		}
		close(items)
	}()
	sum, idle := 0, time.NewTimer(time.Minute)
	for {
		over := idle.C
		if !fixed {
			over = time.NewTimer(time.Minute).C
		}
		select {
		case some, more := <-items:
			if !more {
				fmt.Println(sum)
				return
			}
			for _, one := range some {
				sum = sum*31 + one
			}
		case <-over:
			return
		}
	}
}
