// Allocates and drops small trees, so that the garbage collector has much to do. Expect: nothing.

package main

import (
	"fmt"
	"os"
	"strconv"
)

type node struct {
	left, right *node
	label       string
}

func build(depth int) *node {
	if depth == 0 {
		return &node{label: "leaf " + strconv.Itoa(depth)}
	}
	return &node{build(depth - 1), build(depth - 1), "node " + strconv.Itoa(depth)}
}

func (n *node) size() int {
	if n == nil {
		return 0
	}
	return len(n.label) + n.left.size() + n.right.size()
}

func main() {
	scale := 1.0
	if len(os.Args) > 1 {
		var err error
		if scale, err = strconv.ParseFloat(os.Args[1], 64); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	trees := int(9000 * scale)
	kept := make([]*node, 16) // the newest few stay alive
	total := 0
	for i := 0; i < trees; i++ {
		tree := build(11)
		kept[i%len(kept)] = tree
		total += tree.size()
	}
	fmt.Println(total)
}
