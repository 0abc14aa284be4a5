// Counts the lines with a word in each file of a 7z archive. Usage: program WORD ARCHIVE
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/bodgit/sevenzip"
)

func count(file *sevenzip.File, word string) (lines, found int, err error) {
	content, err := file.Open()
	if err != nil {
		return 0, 0, err
	}
	defer content.Close()
	scanner := bufio.NewScanner(content)
	for scanner.Scan() {
		lines++
		if strings.Contains(scanner.Text(), word) {
			found++
		}
	}
	return lines, found, scanner.Err()
}

func main() {
	archive, err := sevenzip.OpenReader(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	defer archive.Close()
	for _, file := range archive.File {
		lines, found, err := count(file, os.Args[1])
		if err != nil {
			log.Fatalf("%s: %v", file.Name, err)
		}
		fmt.Printf("%s: %d of %d lines\n", file.Name, found, lines)
	}
}
