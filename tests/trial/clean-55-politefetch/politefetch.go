// politefetch mirrors the catalogue of an archive. The archive's terms allow one
// request per client in 25 ms; a client that comes sooner is turned away for a
// second. Pages are parsed while the next turn is awaited.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

const spacing = 25 * time.Millisecond

// ---- the archive -----------------------------------------------------------

type archive struct {
	mu      sync.Mutex
	last    time.Time
	refused int
	pages   int
}

func (a *archive) allow() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if now.Sub(a.last) < spacing-3*time.Millisecond {
		a.refused++
		return false
	}
	a.last = now
	return true
}

func (a *archive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !a.allow() {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests", http.StatusTooManyRequests)
		return
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/page/"))
	fmt.Fprintf(w, "<html><title>Catalogue %d</title>\n", n)
	s := uint32(n*2654435761 + 1)
	for i := 0; i < 400; i++ {
		s = s*1664525 + 1013904223
		fmt.Fprintf(w, "<li><a href=\"/item/%d-%d\">Volume %d</a> <b>%d</b> bytes</li>\n", n, i, s>>20, s%9000000)
	}
	if n+1 < a.pages {
		fmt.Fprintf(w, "<a rel=\"next\" href=\"/page/%d\">next</a>\n", n+1)
	}
}

// ---- pacing ------------------------------------------------------------------

// pacer keeps an interval between the end of one turn and the start of the next.
type pacer struct {
	interval time.Duration
	next     time.Time
}

func (p *pacer) wait() {
	if d := time.Until(p.next); d > 0 {
		time.Sleep(d)
	}
}

// done ends a turn; the next may begin an interval later.
func (p *pacer) done() {
	p.next = time.Now().Add(p.interval)
}

// ---- mirror ------------------------------------------------------------------

type item struct {
	path  string
	title string
	size  int
}

type page struct {
	number int
	body   string
}

var (
	itemLine = regexp.MustCompile(`<li><a href="([^"]+)">([^<]+)</a> <b>(\d+)</b>`)
	nextLine = regexp.MustCompile(`rel="next" href="/page/(\d+)"`)
)

func get(client *http.Client, url string) (string, time.Duration, error) {
	resp, err := client.Get(url)
	if err != nil {
		return "", 0, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if resp.StatusCode == http.StatusTooManyRequests {
		sec, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return "", time.Duration(sec) * time.Second, err
	}
	return string(data), 0, err
}

func fetchAll(base string, out chan<- page) error {
	defer close(out)
	client := &http.Client{Timeout: 10 * time.Second}
	turn := &pacer{interval: spacing}
	for n := 0; ; {
		turn.wait()
		body, again, err := get(client, fmt.Sprintf("%s/page/%d", base, n))
		turn.done()
		if err != nil {
			return err
		}
		if again > 0 {
			time.Sleep(again)
			continue
		}
		out <- page{n, body}
		m := nextLine.FindStringSubmatch(body)
		if m == nil {
			return nil
		}
		n, _ = strconv.Atoi(m[1])
	}
}

func parse(p page) []item {
	var items []item
	for _, m := range itemLine.FindAllStringSubmatch(p.body, -1) {
		size, _ := strconv.Atoi(m[3])
		items = append(items, item{m[1], m[2], size})
	}
	return items
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, &archive{pages: 60})
	pages := make(chan page, 4)
	done := make(chan error, 1)
	go func() { done <- fetchAll("http://"+l.Addr().String(), pages) }()
	var all []item
	count := 0
	for p := range pages {
		all = append(all, parse(p)...)
		count++
	}
	if err := <-done; err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].size != all[j].size {
			return all[i].size > all[j].size
		}
		return all[i].path < all[j].path
	})
	h := sha256.New()
	total := 0
	for _, it := range all {
		fmt.Fprintln(h, it.path, it.title, it.size)
		total += it.size
	}
	fmt.Printf("%d pages, %d items, %d bytes\n", count, len(all), total)
	fmt.Println("largest", all[0].path, all[0].size)
	fmt.Println("digest", hex.EncodeToString(h.Sum(nil)[:8]))
}
