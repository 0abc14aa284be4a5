// Makes HTML of a handbook and says how large each chapter is. Usage: program FILE
// The handbook is text with listings: a line "```language" begins one, a line "```" ends it. A line "# Name" begins a chapter.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	stdhtml "html"
	"log"
	"os"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
)

type handbook struct {
	formatter *html.Formatter
	style     *chroma.Style
	lexers    map[string]chroma.Lexer
}

func (h *handbook) lexer(language string) chroma.Lexer {
	lexer := h.lexers[language]
	if lexer == nil {
		lexer = lexers.Get(language)
		if lexer == nil {
			lexer = lexers.Fallback
		}
		h.lexers[language] = lexer
	}
	return lexer
}

func (h *handbook) listing(page *bytes.Buffer, language, code string) error {
	tokens, err := h.lexer(language).Tokenise(nil, code)
	if err != nil {
		return err
	}
	return h.formatter.Format(page, h.style, tokens)
}

func report(name string, listings int, page *bytes.Buffer) {
	if name != "" {
		fmt.Printf("%s: %d listings, %d bytes, checksum %08x\n", name, listings, page.Len(), crc32.ChecksumIEEE(page.Bytes()))
	}
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	book := &handbook{html.New(html.WithClasses(false), html.TabWidth(4)), styles.Get("monokai"), map[string]chroma.Lexer{}}
	var page bytes.Buffer
	var code strings.Builder
	chapter, language, listings, inside := "", "", 0, false
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case inside && line == "```":
			if err := book.listing(&page, language, code.String()); err != nil {
				log.Fatal(err)
			}
			code.Reset()
			inside = false
			listings++
		case inside:
			code.WriteString(line + "\n")
		case strings.HasPrefix(line, "```"):
			language, inside = line[3:], true
		case strings.HasPrefix(line, "# "):
			report(chapter, listings, &page)
			page.Reset()
			chapter, listings = line[2:], 0
			fmt.Fprintf(&page, "<h1>%s</h1>\n", stdhtml.EscapeString(chapter))
		case line != "":
			fmt.Fprintf(&page, "<p>%s</p>\n", stdhtml.EscapeString(line))
		}
	}
	report(chapter, listings, &page)
}
