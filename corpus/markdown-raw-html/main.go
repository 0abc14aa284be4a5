// Turns every note of a folder into HTML and says how long the pages are.
package main

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io/ioutil"
	"log"
	"os"
	"path/filepath"

	"github.com/yuin/goldmark"
)

func main() {
	paths, err := filepath.Glob(filepath.Join(os.Args[1], "*.md"))
	if err != nil {
		log.Fatal(err)
	}
	for _, path := range paths {
		text, err := ioutil.ReadFile(path)
		if err != nil {
			log.Fatal(err)
		}
		var page bytes.Buffer
		if err := goldmark.Convert(text, &page); err != nil {
			log.Fatalf("%s: %v", path, err)
		}
		fmt.Printf("%s: %d bytes, sum %08x\n", filepath.Base(path), page.Len(), crc32.ChecksumIEEE(page.Bytes()))
	}
}
