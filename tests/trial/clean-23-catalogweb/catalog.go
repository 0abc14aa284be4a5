package main

import (
	"bufio"
	"encoding/json"
	"os"
	"sort"
)

// Product is an entry of the catalog.
type Product struct {
	ID    int            `json:"id"`
	Name  string         `json:"name"`
	Cents int            `json:"cents"`
	Tags  []string       `json:"tags"`
	Stock map[string]int `json:"stock"`
}

// Catalog holds all products, by number and by tag (cheapest first). It does not change after it was loaded.
type Catalog struct {
	products []*Product
	byID     map[int]*Product
	byTag    map[string][]*Product
}

func loadCatalog(path string) (*Catalog, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := &Catalog{byID: make(map[int]*Product), byTag: make(map[string][]*Product)}
	in := json.NewDecoder(bufio.NewReaderSize(f, 256<<10))
	for in.More() {
		p := new(Product)
		if err := in.Decode(p); err != nil {
			return nil, err
		}
		c.products = append(c.products, p)
		c.byID[p.ID] = p
		for _, tag := range p.Tags {
			c.byTag[tag] = append(c.byTag[tag], p)
		}
	}
	for _, list := range c.byTag {
		sort.Slice(list, func(i, j int) bool {
			if list[i].Cents != list[j].Cents {
				return list[i].Cents < list[j].Cents
			}
			return list[i].ID < list[j].ID
		})
	}
	return c, nil
}

// Cheapest returns a page of the products with a tag.
func (c *Catalog) Cheapest(tag string, from, count int) []*Product {
	list := c.byTag[tag]
	if from >= len(list) {
		return nil
	}
	if from+count > len(list) {
		count = len(list) - from
	}
	return list[from : from+count]
}
