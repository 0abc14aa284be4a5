package main

import (
	"crypto/sha1"
	"fmt"
	"sort"
	"strings"
)

// treeNode is a directory while its tree object is built.
type treeNode struct {
	files map[string]*Entry
	dirs  map[string]*treeNode
}

func newTreeNode() *treeNode {
	return &treeNode{files: map[string]*Entry{}, dirs: map[string]*treeNode{}}
}

func (t *treeNode) add(e *Entry) {
	parts := strings.Split(e.Name, "/")
	node := t
	for _, p := range parts[:len(parts)-1] {
		next := node.dirs[p]
		if next == nil {
			next = newTreeNode()
			node.dirs[p] = next
		}
		node = next
	}
	node.files[parts[len(parts)-1]] = e
}

// writeTree hashes the tree object of the directory; count is how many it hashed.
func (t *treeNode) writeTree(count *int) [20]byte {
	type item struct {
		name, mode string
		hash       [20]byte
	}
	var items []item
	for name, e := range t.files {
		items = append(items, item{name, fmt.Sprintf("%o", e.Mode), e.Hash})
	}
	for name, d := range t.dirs {
		items = append(items, item{name + "/", "40000", d.writeTree(count)})
	}
	sort.Slice(items, func(i, j int) bool { return items[i].name < items[j].name })
	var body []byte
	for _, it := range items {
		body = append(body, it.mode...)
		body = append(body, ' ')
		body = append(body, strings.TrimSuffix(it.name, "/")...)
		body = append(body, 0)
		body = append(body, it.hash[:]...)
	}
	*count++
	return sha1.Sum(append([]byte(fmt.Sprintf("tree %d\x00", len(body))), body...))
}

// BuildTree returns the hash of the root tree of an index.
func BuildTree(idx *Index) ([20]byte, int) {
	root := newTreeNode()
	for _, e := range idx.Entries {
		root.add(e)
	}
	count := 0
	return root.writeTree(&count), count
}
