// Command report sums up the orders of many customers, which live on twelve shards.
package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
)

const workers = 16

// Order is a row of a shard.
type Order struct {
	ID, Item int
	Cents    int64
	Status   string
	Month    int
}

// Query is a line of the list of reports.
type Query struct {
	Number, Shard, Customer int
	Kind                    string
}

// Report is what a query comes to.
type Report struct {
	Kind     string
	Shard    int
	Orders   int
	Cents    int64
	ByMonth  [13]int64
	Digest   uint64
	TopItems []int
}

func parseOrder(line string) (Order, error) {
	f := strings.Split(line, ",")
	if len(f) != 5 {
		return Order{}, fmt.Errorf("bad row %q", line)
	}
	var o Order
	var err error
	if o.ID, err = strconv.Atoi(f[0]); err != nil {
		return o, err
	}
	if o.Item, err = strconv.Atoi(f[1]); err != nil {
		return o, err
	}
	units, cents, _ := strings.Cut(f[2], ".")
	u, err := strconv.ParseInt(units, 10, 64)
	if err != nil {
		return o, err
	}
	c, err := strconv.ParseInt(cents, 10, 64)
	if err != nil {
		return o, err
	}
	o.Cents, o.Status = u*100+c, f[3]
	o.Month, err = strconv.Atoi(f[4][5:7])
	return o, err
}

func readQueries(path string) ([]Query, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var queries []Query
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		q := Query{Number: len(queries)}
		if _, err := fmt.Sscanf(lines.Text(), "%d %d %s", &q.Shard, &q.Customer, &q.Kind); err != nil {
			return nil, err
		}
		queries = append(queries, q)
	}
	return queries, lines.Err()
}

func wanted(kind, status string) bool {
	switch kind {
	case "refunds":
		return status == "refunded"
	case "tax":
		return status == "paid" || status == "shipped"
	}
	return true
}

func summarise(q Query, orders []Order) Report {
	r := Report{Kind: q.Kind, Shard: q.Shard}
	items := make(map[int]int64)
	digest := fnv.New64a()
	for _, o := range orders {
		if !wanted(q.Kind, o.Status) {
			continue
		}
		r.Orders++
		r.Cents += o.Cents
		r.ByMonth[o.Month] += o.Cents
		items[o.Item] += o.Cents
		fmt.Fprintf(digest, "%d:%d:%d;", o.ID, o.Item, o.Cents)
	}
	for item := range items {
		r.TopItems = append(r.TopItems, item)
	}
	sort.Slice(r.TopItems, func(i, j int) bool {
		a, b := r.TopItems[i], r.TopItems[j]
		if items[a] != items[b] {
			return items[a] > items[b]
		}
		return a < b
	})
	if len(r.TopItems) > 5 {
		r.TopItems = r.TopItems[:5]
	}
	r.Digest = digest.Sum64()
	return r
}

func runQuery(pool *Pool, q Query) (Report, error) {
	conn, err := pool.Acquire(q.Shard)
	if err != nil {
		return Report{}, err
	}
	orders, err := conn.Orders(q.Customer)
	if err != nil {
		conn.raw.Close()
		return Report{}, err
	}
	pool.Release(conn)
	return summarise(q, orders), nil
}

func runAll(pool *Pool, queries []Query) ([]Report, error) {
	reports := make([]Report, len(queries))
	work := make(chan Query, workers)
	failed := make(chan error, workers)
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for q := range work {
				r, err := runQuery(pool, q)
				if err != nil {
					select {
					case failed <- err:
					default:
					}
					continue
				}
				reports[q.Number] = r
			}
		}()
	}
	for _, q := range queries {
		work <- q
	}
	close(work)
	wg.Wait()
	select {
	case err := <-failed:
		return nil, err
	default:
		return reports, nil
	}
}

func printSummary(reports []Report) {
	type total struct {
		orders int
		cents  int64
	}
	byKind := make(map[string]*total)
	var months [13]int64
	shards := make([]int, 12)
	var digest uint64
	for _, r := range reports {
		t := byKind[r.Kind]
		if t == nil {
			t = new(total)
			byKind[r.Kind] = t
		}
		t.orders += r.Orders
		t.cents += r.Cents
		shards[r.Shard] += r.Orders
		for m, c := range r.ByMonth {
			months[m] += c
		}
		digest = digest*1099511628211 ^ r.Digest
	}
	kinds := make([]string, 0, len(byKind))
	for k := range byKind {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	for _, k := range kinds {
		fmt.Printf("%-8s %7d orders %12.2f\n", k, byKind[k].orders, float64(byKind[k].cents)/100)
	}
	fmt.Println("by shard", shards)
	fmt.Println("by month", months[1:])
	fmt.Printf("digest %016x\n", digest)
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: report ADDRESS QUERIES")
		os.Exit(2)
	}
	queries, err := readQueries(os.Args[2])
	if err == nil {
		pool := NewPool(os.Args[1])
		defer pool.Close()
		var reports []Report
		if reports, err = runAll(pool, queries); err == nil {
			printSummary(reports)
			return
		}
	}
	fmt.Fprintln(os.Stderr, "report:", err)
	os.Exit(1)
}
