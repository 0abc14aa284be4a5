// Command catalogweb measures the web server of a catalog on loopback: eight visitors, each on a connection of its own that is kept alive.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

const (
	visitors = 8
	requests = 4500 // of each visitor
)

var tags = []string{"steel", "oak", "walnut", "lamp", "table", "chair", "garden", "modern", "blue", "travel"}

// Tally is what one visitor saw.
type Tally struct {
	Replies [3]int
	Bytes   int64
	Cents   int64
	Digest  uint64
	slowest time.Duration
}

type visitor struct {
	number int
	base   string
	client *http.Client
	rng    *rand.Rand
	body   bytes.Buffer
	tally  Tally
}

func newVisitor(number int, base string) *visitor {
	transport := &http.Transport{MaxIdleConnsPerHost: 1, DisableCompression: true}
	return &visitor{number: number, base: base, client: &http.Client{Transport: transport}, rng: rand.New(rand.NewSource(int64(number)))}
}

// request sends one request and leaves the answer in v.body.
func (v *visitor) request(method, path string, payload []byte) error {
	req, err := http.NewRequest(method, v.base+path, bytes.NewReader(payload))
	if err != nil {
		return err
	}
	start := time.Now()
	resp, err := v.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	v.body.Reset()
	if _, err := io.Copy(&v.body, resp.Body); err != nil {
		return err
	}
	if d := time.Since(start); d > v.tally.slowest {
		v.tally.slowest = d
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	return nil
}

func (v *visitor) look() error {
	if err := v.request("GET", fmt.Sprintf("/product?id=%d", v.rng.Intn(20000)), nil); err != nil {
		return err
	}
	var p Product
	if err := json.Unmarshal(v.body.Bytes(), &p); err != nil {
		return err
	}
	v.tally.Cents += int64(p.Cents)
	return nil
}

func (v *visitor) browse() error {
	if err := v.request("GET", fmt.Sprintf("/list?tag=%s&from=%d", tags[v.rng.Intn(len(tags))], v.rng.Intn(50)*20), nil); err != nil {
		return err
	}
	var page []Product
	if err := json.Unmarshal(v.body.Bytes(), &page); err != nil {
		return err
	}
	for _, p := range page {
		v.tally.Cents += int64(p.Cents)
	}
	return nil
}

func (v *visitor) buy(step int) error {
	payload, err := json.Marshal(map[string]any{"Session": fmt.Sprintf("v%d-%d", v.number, step/40), "ID": v.rng.Intn(20000), "Many": 1 + v.rng.Intn(3)})
	if err != nil {
		return err
	}
	if err := v.request("POST", "/cart", payload); err != nil {
		return err
	}
	var sum struct{ Cents, Pieces int64 }
	if err := json.Unmarshal(v.body.Bytes(), &sum); err != nil {
		return err
	}
	v.tally.Cents += sum.Cents
	return nil
}

func (v *visitor) run() error {
	digest := fnv.New64a()
	for step := 0; step < requests; step++ {
		kind := v.rng.Intn(3)
		var err error
		switch kind {
		case 0:
			err = v.look()
		case 1:
			err = v.browse()
		default:
			err = v.buy(step)
		}
		if err != nil {
			return err
		}
		v.tally.Replies[kind]++
		v.tally.Bytes += int64(v.body.Len())
		digest.Write(v.body.Bytes())
	}
	v.tally.Digest = digest.Sum64()
	v.client.CloseIdleConnections()
	return nil
}

func measure(base string) ([]Tally, error) {
	tallies := make([]Tally, visitors)
	errors := make([]error, visitors)
	var wg sync.WaitGroup
	for n := 0; n < visitors; n++ {
		wg.Add(1)
		go func(n int) {
			defer wg.Done()
			v := newVisitor(n, base)
			errors[n] = v.run()
			tallies[n] = v.tally
		}(n)
	}
	wg.Wait()
	for _, err := range errors {
		if err != nil {
			return nil, err
		}
	}
	return tallies, nil
}

func run() error {
	catalog, err := loadCatalog("data/catalog.jsonl")
	if err != nil {
		return err
	}
	s := &server{catalog: catalog, carts: make(map[string]*cart)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web := &http.Server{Handler: s.routes()}
	go web.Serve(listener)
	tallies, err := measure("http://" + listener.Addr().String())
	if err != nil {
		return err
	}
	var slowest time.Duration
	for n, t := range tallies {
		fmt.Printf("visitor %d: %v replies, %d bytes, %d cents, digest %016x\n", n, t.Replies, t.Bytes, t.Cents, t.Digest)
		if t.slowest > slowest {
			slowest = t.slowest
		}
	}
	fmt.Fprintln(os.Stderr, "slowest reply", slowest)
	fmt.Println(len(s.carts), "carts")
	return web.Shutdown(context.Background())
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "catalogweb:", err)
		os.Exit(1)
	}
}
