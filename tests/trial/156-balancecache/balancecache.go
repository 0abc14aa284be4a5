// balancecache settles a batch of promises: workers look up each issuer's account
// at the accountant's service, through a cache, and add up what is payable.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

type Account struct {
	ID      string `json:"id"`
	Balance int64  `json:"balance"`
	Stake   int64  `json:"stake"`
	Active  bool   `json:"active"`
}

type Promise struct {
	Issuer string
	Amount int64
	Fee    int64
}

// ---- the accountant's service -------------------------------------------------

func accountFor(id string) Account {
	var h uint32 = 2166136261
	for i := 0; i < len(id); i++ {
		h = (h ^ uint32(id[i])) * 16777619
	}
	return Account{ID: id, Balance: int64(h % 100000), Stake: int64(h>>8) % 5000, Active: h%17 != 0}
}

type service struct {
	backend time.Duration
}

func (s service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, "/account/")
	if id == "" {
		http.NotFound(w, r)
		return
	}
	time.Sleep(s.backend) // its ledger's round trip
	json.NewEncoder(w).Encode(accountFor(id))
}

func startService(backend time.Duration) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go http.Serve(l, service{backend})
	return "http://" + l.Addr().String(), nil
}

// ---- the caller -------------------------------------------------------------------

var errInactive = errors.New("account is not active")

type entry struct {
	account Account
	until   time.Time
}

type Caller struct {
	base   string
	client *http.Client
	ttl    time.Duration

	mu      sync.Mutex
	entries map[string]entry
	hits    int
	misses  int
}

func NewCaller(base string) *Caller {
	tr := &http.Transport{MaxIdleConnsPerHost: 32}
	return &Caller{
		base:    base,
		client:  &http.Client{Timeout: 10 * time.Second, Transport: tr},
		ttl:     time.Minute,
		entries: map[string]entry{},
	}
}

func (c *Caller) request(id string) (Account, error) {
	var a Account
	resp, err := c.client.Get(c.base + "/account/" + id)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, err
	}
	if resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("account %s: %s", id, resp.Status)
	}
	return a, json.Unmarshal(data, &a)
}

// GetAccount returns the account, from the cache if it is fresh there.
func (c *Caller) GetAccount(id string) (Account, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[id]; ok && time.Now().Before(e.until) {
		c.hits++
		return e.account, nil
	}
	a, err := c.request(id)
	if err != nil {
		return a, err
	}
	c.misses++
	c.entries[id] = entry{account: a, until: time.Now().Add(c.ttl)}
	return a, nil
}

func (c *Caller) Known() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}

// ---- settlement ---------------------------------------------------------------------

type totals struct {
	mu       sync.Mutex
	payable  map[string]int64
	rejected int
	fees     int64
}

func (t *totals) settle(c *Caller, p Promise) error {
	a, err := c.GetAccount(p.Issuer)
	if err != nil {
		return err
	}
	amount, err := check(a, p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.rejected++
		return nil
	}
	t.payable[p.Issuer] += amount
	t.fees += p.Fee
	return nil
}

func check(a Account, p Promise) (int64, error) {
	if !a.Active {
		return 0, errInactive
	}
	amount := p.Amount - p.Fee
	if limit := a.Balance + a.Stake; amount > limit {
		amount = limit
	}
	return amount, nil
}

func makePromises(n, issuers int) []Promise {
	var s uint32 = 5
	rnd := func(k int) int {
		s = s*1664525 + 1013904223
		return int(s>>8) % k
	}
	var out []Promise
	for i := 0; i < n; i++ {
		out = append(out, Promise{
			Issuer: fmt.Sprintf("0x%04d%s", rnd(issuers), strings.Repeat("ab", 8)),
			Amount: int64(rnd(60000)),
			Fee:    int64(rnd(50)),
		})
	}
	return out
}

func run(c *Caller, promises []Promise, workers int) (*totals, error) {
	t := &totals{payable: map[string]int64{}}
	jobs := make(chan Promise)
	errs := make(chan error, workers)
	var wg sync.WaitGroup
	for i := 0; i < workers; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for p := range jobs {
				if err := t.settle(c, p); err != nil {
					select {
					case errs <- err:
					default:
					}
				}
			}
		}()
	}
	for _, p := range promises {
		jobs <- p
	}
	close(jobs)
	wg.Wait()
	select {
	case err := <-errs:
		return nil, err
	default:
		return t, nil
	}
}

func main() {
	base, err := startService(12 * time.Millisecond)
	if err != nil {
		log.Fatal(err)
	}
	c := NewCaller(base)
	t, err := run(c, makePromises(4000, 120), 24)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var ids []string
	var sum int64
	for id, v := range t.payable {
		ids = append(ids, id)
		sum += v
	}
	sort.Strings(ids)
	for _, id := range ids[:8] {
		fmt.Println(id, t.payable[id])
	}
	fmt.Printf("%d issuers payable, %d accounts known, %d promises rejected\n", len(ids), c.Known(), t.rejected)
	fmt.Printf("payable %d, fees %d\n", sum, t.fees)
}
