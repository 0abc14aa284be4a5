// idxstatus compares the index of each module of a working copy with its HEAD.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"sort"
	"strings"
)

type headEntry struct {
	mode, hash string
}

func loadHead(path string) (map[string]headEntry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := map[string]headEntry{}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		parts := strings.SplitN(sc.Text(), " ", 3)
		if len(parts) == 3 {
			head[parts[2]] = headEntry{parts[0], parts[1]}
		}
	}
	return head, sc.Err()
}

type change struct {
	code byte
	path string
}

func compare(idx *Index, head map[string]headEntry) []change {
	var changes []change
	seen := 0
	for _, e := range idx.Entries {
		h, ok := head[e.Name]
		if !ok {
			changes = append(changes, change{'A', e.Name})
			continue
		}
		seen++
		if h.hash != hex.EncodeToString(e.Hash[:]) || h.mode != fmt.Sprintf("%o", e.Mode) {
			changes = append(changes, change{'M', e.Name})
		}
	}
	if seen < len(head) {
		names := map[string]bool{}
		for _, e := range idx.Entries {
			names[e.Name] = true
		}
		for path := range head {
			if !names[path] {
				changes = append(changes, change{'D', path})
			}
		}
	}
	sort.Slice(changes, func(i, j int) bool { return changes[i].path < changes[j].path })
	return changes
}

func bySize(idx *Index) map[string]uint64 {
	sizes := map[string]uint64{}
	for _, e := range idx.Entries {
		ext := e.Name[strings.LastIndexByte(e.Name, '.')+1:]
		sizes[ext] += uint64(e.Size)
	}
	return sizes
}

// stagedChanges is what a commit would change.
func stagedChanges(module string) ([]change, error) {
	idx, err := OpenIndex("data/" + module + ".index")
	if err != nil {
		return nil, err
	}
	head, err := loadHead("data/" + module + ".head")
	if err != nil {
		return nil, err
	}
	return compare(idx, head), nil
}

func status(module string, out *bufio.Writer) error {
	changes, err := stagedChanges(module)
	if err != nil {
		return err
	}
	counts := map[byte]int{}
	for _, c := range changes {
		counts[c.code]++
		if counts[c.code] <= 25 {
			fmt.Fprintf(out, "%c %s/%s\n", c.code, module, c.path)
		}
	}
	idx, err := OpenIndex("data/" + module + ".index")
	if err != nil {
		return err
	}
	tree, trees := BuildTree(idx)
	fmt.Fprintf(out, "%s: %d entries, %d added, %d modified, %d deleted, tree %x of %d\n",
		module, len(idx.Entries), counts['A'], counts['M'], counts['D'], tree, trees)
	sizes := bySize(idx)
	exts := make([]string, 0, len(sizes))
	for ext := range sizes {
		exts = append(exts, ext)
	}
	sort.Strings(exts)
	for _, ext := range exts {
		fmt.Fprintf(out, "  .%s %d\n", ext, sizes[ext])
	}
	return nil
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, module := range []string{"main", "vendor", "docs"} {
		if err := status(module, out); err != nil {
			out.Flush()
			fmt.Fprintln(os.Stderr, module+":", err)
			os.Exit(1)
		}
	}
}
