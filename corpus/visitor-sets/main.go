// Keeps the visitors of each day as a set of their numbers in a file of its own, adds the visits of a log to these files, and says for
// each day how many came and how many of them had come the day before. Usage: program LOG FOLDER
package main

import (
	"bufio"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/bits-and-blooms/bitset"
)

func load(path string) (*bitset.BitSet, error) {
	set := new(bitset.BitSet)
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return set, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	_, err = set.ReadFrom(file)
	return set, err
}

func save(path string, set *bitset.BitSet) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := set.WriteTo(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// read says which visitors the log has on each day.
func read(path string) (map[string][]uint, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	visits := map[string][]uint{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		day, visitor, _ := strings.Cut(lines.Text(), " ")
		number, err := strconv.ParseUint(visitor, 10, 32)
		if err != nil {
			return nil, err
		}
		visits[day] = append(visits[day], uint(number))
	}
	return visits, lines.Err()
}

func run(path, folder string) error {
	visits, err := read(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	var days []string
	for day, visitors := range visits {
		days = append(days, day)
		set, err := load(filepath.Join(folder, day))
		if err != nil {
			return err
		}
		for _, visitor := range visitors {
			set.Set(visitor)
		}
		if err := save(filepath.Join(folder, day), set); err != nil {
			return err
		}
	}
	sort.Strings(days)
	before := new(bitset.BitSet)
	for _, day := range days {
		set, err := load(filepath.Join(folder, day))
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d visitors, %d came the day before\n", day, set.Count(), set.IntersectionCardinality(before))
		before = set
	}
	return nil
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: program LOG FOLDER")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}
