// Lists the links and the length of the text of every saved page in a folder.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"golang.org/x/net/html"
)

type page struct {
	links []string
	text  int
}

func (p *page) walk(node *html.Node) {
	switch node.Type {
	case html.TextNode:
		p.text += len(node.Data)
	case html.ElementNode:
		for _, attribute := range node.Attr {
			if node.Data == "a" && attribute.Key == "href" {
				p.links = append(p.links, attribute.Val)
			}
		}
	}
	for child := node.FirstChild; child != nil; child = child.NextSibling {
		p.walk(child)
	}
}

func read(path string) (*page, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	root, err := html.Parse(bufio.NewReader(file))
	if err != nil {
		return nil, err
	}
	result := &page{}
	result.walk(root)
	return result, nil
}

func main() {
	paths, err := filepath.Glob(filepath.Join(os.Args[1], "*.html"))
	if err != nil {
		log.Fatal(err)
	}
	for _, path := range paths {
		page, err := read(path)
		if err != nil {
			log.Fatalf("%s: %v", path, err)
		}
		fmt.Printf("%s: %d characters of text, %d links\n", filepath.Base(path), page.text, len(page.links))
		for _, link := range page.links {
			fmt.Println("  " + link)
		}
	}
}
