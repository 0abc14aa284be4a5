// Lists what came with the messages of an insurer's mailbox: photos and forms. Usage: program FOLDER
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/jhillyerd/enmime"
)

type kind struct{ parts, bytes int }

func read(path string, kinds map[string]*kind) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	message, err := enmime.ReadEnvelope(file)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s, %d words", filepath.Base(path), message.GetHeader("Subject"), len(strings.Fields(message.Text)))
	for _, part := range append(message.Attachments, message.Inlines...) {
		one, known := kinds[part.ContentType]
		if !known {
			one = &kind{}
			kinds[part.ContentType] = one
		}
		one.parts++
		one.bytes += len(part.Content)
		fmt.Printf(", %s %x", part.FileName, sha256.Sum256(part.Content))
	}
	fmt.Printf(", %d problems\n", len(message.Errors))
	return nil
}

func main() {
	paths, err := filepath.Glob(filepath.Join(os.Args[1], "*.eml"))
	kinds := map[string]*kind{}
	for _, path := range paths {
		if err == nil {
			err = read(path, kinds)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Printf("%s: %d, %d bytes\n", name, kinds[name].parts, kinds[name].bytes)
	}
}
