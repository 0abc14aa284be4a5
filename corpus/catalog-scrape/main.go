// Reads the pages of a shop's catalog and says what its articles cost. Usage: program FOLDER
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/antchfx/htmlquery"
	"golang.org/x/net/html"
)

type article struct {
	name, maker string
	cents       int
	available   bool
	offer       bool
	days        string
	used, gone  bool
}

func text(row *html.Node, expression string) string {
	node := htmlquery.FindOne(row, expression)
	if node == nil {
		return ""
	}
	return strings.TrimSpace(htmlquery.InnerText(node))
}

func articles(path string) ([]article, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	page, err := htmlquery.Parse(file)
	if err != nil {
		return nil, err
	}
	var found []article
	for _, row := range htmlquery.Find(page, "//li[@class='article']") {
		price := strings.TrimSuffix(text(row, "./span[@class='price' or @class='price reduced' or @class='price last']"), " EUR")
		cents, err := strconv.Atoi(strings.ReplaceAll(price, ".", ""))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		found = append(found, article{
			name:      text(row, "./a[@class='name' or @class='name new' or @class='name old']"),
			maker:     text(row, "./b[contains(@class, 'maker') and not(contains(@class, 'hidden'))]"),
			cents:     cents,
			available: text(row, "./i[@class='stock' or @class='stock few' or @class='stock none']") != "sold out",
			offer:     text(row, "./em[@class='offer' or @class='offer week' or @class='offer day']") != "",
			days:      text(row, "./small[@class='delivery' or @class='delivery fast' or (@class='pickup' and @title='today')]"),
			used:      text(row, "./u[@class='used' or @class='used good' or @class='used fair' or @class='refurbished']") != "",
			gone:      text(row, "./s[(@class='old' and not(@hidden)) or @class='withdrawn' or @class='recalled']") != "",
		})
	}
	return found, nil
}

func main() {
	paths, err := filepath.Glob(filepath.Join(os.Args[1], "*.html"))
	if err != nil {
		panic(err)
	}
	sort.Strings(paths)
	makers := map[string][]article{}
	for _, path := range paths {
		found, err := articles(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, one := range found {
			makers[one.maker] = append(makers[one.maker], one)
		}
	}
	var names []string
	for name := range makers {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		sum, available, offers, today, special := 0, 0, 0, 0, 0
		for _, one := range makers[name] {
			sum += one.cents
			if one.available {
				available++
			}
			if one.used || one.gone {
				special++
			}
			if one.offer {
				offers++
			}
			if one.days == "today" {
				today++
			}
		}
		fmt.Printf("%s: %d articles, %d available, %d on offer, %d today, %d special, %d cents on average\n", name, len(makers[name]), available, offers, today, special, sum/len(makers[name]))
	}
}
