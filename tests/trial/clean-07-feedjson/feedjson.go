// feedjson encodes a product feed as JSON lines and reads it back for validation.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

type Price struct {
	Currency string  `json:"currency"`
	Amount   float64 `json:"amount"`
	VAT      float64 `json:"vat,omitempty"`
}

type Variant struct {
	SKU   string            `json:"sku"`
	Stock int               `json:"stock"`
	Attrs map[string]string `json:"attrs"`
}

type Product struct {
	ID       int       `json:"id"`
	Title    string    `json:"title"`
	Text     string    `json:"description"`
	Updated  time.Time `json:"updated"`
	Prices   []Price   `json:"prices"`
	Variants []Variant `json:"variants"`
	Tags     []string  `json:"tags"`
}

var colours = []string{"red", "green", "blue", "black", "white"}
var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func makeProduct(i int) Product {
	p := Product{
		ID:      i,
		Title:   fmt.Sprintf("Product <%d> & more", i),
		Text:    "A \"sturdy\" item made of recycled material. Größe M – für den täglichen Gebrauch.",
		Updated: epoch.Add(time.Duration(i) * time.Minute),
		Tags:    []string{"new", "outdoor", colours[i%5]},
	}
	p.Prices = []Price{{"EUR", float64(i%900) + 0.95, 0.19}, {"CHF", float64(i%900) + 1.45, 0.081}}
	for k := 0; k < 3; k++ {
		p.Variants = append(p.Variants, Variant{
			SKU:   fmt.Sprintf("SKU-%06d-%d", i, k),
			Stock: (i * (k + 3)) % 40,
			Attrs: map[string]string{"colour": colours[(i+k)%5], "size": []string{"S", "M", "L"}[k]},
		})
	}
	return p
}

func writeFeed(path string, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	enc := json.NewEncoder(w)
	for i := 0; i < n; i++ {
		p := makeProduct(i)
		if err := enc.Encode(&p); err != nil {
			f.Close()
			return err
		}
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func validate(path string, every int) (int, int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	cr := bufio.NewReaderSize(io.TeeReader(f, h), 1<<16)
	lines, checked := 0, 0
	var size int64
	for {
		line, err := cr.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, 0, "", err
		}
		size += int64(len(line))
		if lines%every == 0 {
			var p Product
			if err := json.Unmarshal(line, &p); err != nil || p.ID != lines {
				return 0, 0, "", fmt.Errorf("line %d: %v", lines, err)
			}
			checked++
		}
		lines++
	}
	return checked, size, fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

func main() {
	dir, err := os.MkdirTemp("", "feedjson-")
	if err == nil {
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, "feed.jsonl")
		if err = writeFeed(path, 200000); err == nil {
			var n int
			var size int64
			var sum string
			if n, size, sum, err = validate(path, 3); err == nil {
				fmt.Printf("%d bytes, %d checked, sha256 %s\n", size, n, sum)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "feedjson:", err)
	}
}
