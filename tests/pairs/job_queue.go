// Takes jobs from the front of a queue: what is left is copied to the front each time, or an index moves on.
package main

import (
	"fmt"
	"os"
)

type job struct{ number, weight, parent, due uint64 }

//go:noinline
func take(queue *[]job, head *int, fixed bool) job {
	if fixed {
		first := (*queue)[*head]
		*head++
		return first
	}
	first := (*queue)[0]
	copy(*queue, (*queue)[1:])
	*queue = (*queue)[:len(*queue)-1]
	return first
}

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "fixed"
	var queue []job
	for i := uint64(0); i < 30000; i++ {
		queue = append(queue, job{i, i * 7 % 13, i / 2, i + 100})
	}
	head, sum := 0, uint64(0)
	for n := len(queue); n > 0; n-- {
		next := take(&queue, &head, fixed)
		sum = sum*31 + next.number*next.weight
	}
	fmt.Println(sum)
}
