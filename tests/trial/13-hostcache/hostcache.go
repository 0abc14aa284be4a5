// hostcache enriches connection records with host names, resolved through a small
// upstream name service and kept in a cache shared by the workers.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

type Record struct {
	Addr  string
	Bytes int64
}

type Cache struct {
	mu       sync.Mutex
	entries  map[string]string
	upstream *Upstream
	hits     int
	misses   int
}

type Upstream struct {
	addr string
}

// Query asks the name service; one connection per query, one line each way.
func (u *Upstream) Query(addr string) (string, error) {
	c, err := net.Dial("tcp", u.addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "PTR %s\n", addr); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line), err
}

func (c *Cache) Lookup(addr string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if name, ok := c.entries[addr]; ok {
		c.hits++
		return name, nil
	}
	c.misses++
	name, err := c.upstream.Query(addr)
	if err != nil {
		return "", err
	}
	c.entries[addr] = name
	return name, nil
}

func serveNames(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			line, err := bufio.NewReader(c).ReadString('\n')
			if err != nil {
				return
			}
			time.Sleep(4 * time.Millisecond) // zone store
			addr := strings.TrimPrefix(strings.TrimSpace(line), "PTR ")
			fmt.Fprintf(c, "host-%s.lan\n", strings.ReplaceAll(addr, ".", "-"))
		}()
	}
}

func readRecords(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Record
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var r Record
		if _, err := fmt.Sscan(sc.Text(), &r.Addr, &r.Bytes); err == nil {
			out = append(out, r)
		}
	}
	return out, sc.Err()
}

func enrich(records []Record, cache *Cache, workers int) map[string]int64 {
	jobs := make(chan Record)
	totals := make([]map[string]int64, workers)
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		totals[w] = map[string]int64{}
		wg.Add(1)
		go func(mine map[string]int64) {
			defer wg.Done()
			for r := range jobs {
				name, err := cache.Lookup(r.Addr)
				if err != nil {
					name = "unknown"
				}
				mine[name] += r.Bytes
			}
		}(totals[w])
	}
	for _, r := range records {
		jobs <- r
	}
	close(jobs)
	wg.Wait()
	sum := map[string]int64{}
	for _, t := range totals {
		for k, v := range t {
			sum[k] += v
		}
	}
	return sum
}

func main() {
	path := "data/flows.txt"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostcache:", err)
		os.Exit(1)
	}
	defer l.Close()
	go serveNames(l)
	records, err := readRecords(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostcache:", err)
		os.Exit(1)
	}
	cache := &Cache{entries: map[string]string{}, upstream: &Upstream{l.Addr().String()}}
	sum := enrich(records, cache, 16)
	var names []string
	for n := range sum {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool {
		if sum[names[i]] != sum[names[j]] {
			return sum[names[i]] > sum[names[j]]
		}
		return names[i] < names[j]
	})
	for _, n := range names[:20] {
		fmt.Printf("%-28s %12d\n", n, sum[n])
	}
	fmt.Println(len(names), "hosts,", len(records), "flows")
}
