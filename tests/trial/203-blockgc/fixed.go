// Garbage collection of a content addressed block store: blocks are imported
// into a datastore, those which can be reached from the pins are marked, and
// the rest is swept.
package main

import (
	"bufio"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// ---- datastore interface ----

type Entry struct {
	Key   string
	Value []byte
	Size  int
}

type Result struct {
	Entry
	Error error
}

type Filter interface {
	Filter(e Entry) bool
}

type Query struct {
	Prefix   string
	Filters  []Filter
	KeysOnly bool
}

type Results interface {
	NextSync() (Result, bool)
	Close()
}

type Datastore interface {
	Put(key string, value []byte)
	Get(key string) ([]byte, error)
	Delete(key string)
	Query(q Query) Results
}

var ErrNotFound = errors.New("datastore: key not found")

// iterResults are results which are made when they are asked for.
type iterResults struct {
	next  func() (Result, bool)
	close func()
}

func ResultsFromIterator(next func() (Result, bool), close func()) Results {
	return &iterResults{next: next, close: close}
}

func (r *iterResults) NextSync() (Result, bool) { return r.next() }

func (r *iterResults) Close() { r.close() }

// NaiveFilter applies a filter to results.
func NaiveFilter(qr Results, f Filter) Results {
	return ResultsFromIterator(func() (Result, bool) {
		for {
			e, ok := qr.NextSync()
			if !ok {
				return Result{}, false
			}
			if e.Error == nil && !f.Filter(e.Entry) {
				continue
			}
			return e, true
		}
	}, qr.Close)
}

type MinSize int

func (m MinSize) Filter(e Entry) bool { return e.Size >= int(m) }

// ---- in memory datastore ----

type MapDatastore struct {
	values map[string][]byte
	sorted []string // nil if it has to be made again
}

func NewMapDatastore() *MapDatastore { return &MapDatastore{values: map[string][]byte{}} }

func (d *MapDatastore) Put(key string, value []byte) {
	d.values[key] = value
	d.sorted = nil
}

func (d *MapDatastore) Get(key string) ([]byte, error) {
	v, ok := d.values[key]
	if !ok {
		return nil, ErrNotFound
	}
	return v, nil
}

func (d *MapDatastore) Delete(key string) {
	delete(d.values, key)
	d.sorted = nil
}

// keys returns the keys with a prefix in their order.
func (d *MapDatastore) keys(prefix string) []string {
	if d.sorted == nil {
		d.sorted = make([]string, 0, len(d.values))
		for k := range d.values {
			d.sorted = append(d.sorted, k)
		}
		sort.Strings(d.sorted)
	}
	from := sort.SearchStrings(d.sorted, prefix)
	to := from + sort.Search(len(d.sorted)-from, func(i int) bool {
		return !strings.HasPrefix(d.sorted[from+i], prefix)
	})
	return d.sorted[from:to]
}

func (d *MapDatastore) Query(q Query) Results {
	keys := d.keys(q.Prefix)
	i := 0
	res := ResultsFromIterator(func() (Result, bool) {
		if i >= len(keys) {
			return Result{}, false
		}
		k := keys[i]
		i++
		v := d.values[k]
		e := Entry{Key: k, Size: len(v)}
		if !q.KeysOnly {
			e.Value = v
		}
		return Result{Entry: e}, true
	}, func() {})
	for _, f := range q.Filters {
		res = NaiveFilter(res, f)
	}
	return res
}

// ---- a datastore below a prefix ----

type Namespace struct {
	child  Datastore
	prefix string
}

func (n *Namespace) Put(key string, v []byte)       { n.child.Put(n.prefix+key, v) }
func (n *Namespace) Get(key string) ([]byte, error) { return n.child.Get(n.prefix + key) }
func (n *Namespace) Delete(key string)              { n.child.Delete(n.prefix + key) }

func (n *Namespace) Query(q Query) Results {
	q.Prefix = n.prefix + q.Prefix
	qr := n.child.Query(q)
	return ResultsFromIterator(func() (Result, bool) {
		r, ok := qr.NextSync()
		if !ok {
			return Result{}, false
		}
		r.Key = strings.TrimPrefix(r.Key, n.prefix)
		return r, true
	}, qr.Close)
}

// ---- blocks ----

var keyEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

func blockKey(id []byte) string { return "/" + keyEncoding.EncodeToString(id) }

type Block struct {
	Links   [][]byte
	Payload []byte
}

func decodeBlock(data []byte) (*Block, error) {
	if len(data) < 5 {
		return nil, errors.New("block is too short")
	}
	body := data[:len(data)-4]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(data[len(data)-4:]) {
		return nil, errors.New("wrong checksum")
	}
	n, w := binary.Uvarint(body)
	body = body[w:]
	b := &Block{}
	for i := uint64(0); i < n; i++ {
		b.Links = append(b.Links, body[:20])
		body = body[20:]
	}
	b.Payload = body
	return b, nil
}

func importBlocks(r io.Reader, ds Datastore) (int, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	for n := 0; ; n++ {
		var head [22]byte
		if _, err := io.ReadFull(br, head[:]); err != nil {
			if err == io.EOF {
				return n, nil
			}
			return n, err
		}
		data := make([]byte, binary.BigEndian.Uint16(head[20:]))
		if _, err := io.ReadFull(br, data); err != nil {
			return n, err
		}
		ds.Put(blockKey(head[:20]), data)
	}
}

// ---- collector ----

func mark(ds Datastore, roots []string) (map[string]struct{}, error) {
	marked := map[string]struct{}{}
	todo := append([]string(nil), roots...)
	for len(todo) > 0 {
		key := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, ok := marked[key]; ok {
			continue
		}
		data, err := ds.Get(key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		b, err := decodeBlock(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		marked[key] = struct{}{}
		for _, l := range b.Links {
			todo = append(todo, blockKey(l))
		}
	}
	return marked, nil
}

func sweep(ds Datastore, marked map[string]struct{}) (n, size int) {
	res := ds.Query(Query{KeysOnly: true, Filters: []Filter{MinSize(1)}})
	defer res.Close()
	var dead []string
	for {
		r, ok := res.NextSync()
		if !ok {
			break
		}
		if _, ok := marked[r.Key]; !ok {
			dead = append(dead, r.Key)
			size += r.Size
		}
	}
	for _, k := range dead {
		ds.Delete(k)
	}
	return len(dead), size
}

type Usage struct {
	Blocks, Links, Payload int
	Sum                    uint32
}

func usage(ds Datastore, minSize int) (u Usage, err error) {
	res := ds.Query(Query{Filters: []Filter{MinSize(minSize)}})
	defer res.Close()
	for {
		r, ok := res.NextSync()
		if !ok {
			return u, nil
		}
		b, err := decodeBlock(r.Value)
		if err != nil {
			return u, fmt.Errorf("%s: %w", r.Key, err)
		}
		u.Blocks++
		u.Links += len(b.Links)
		u.Payload += len(b.Payload)
		u.Sum = crc32.Update(u.Sum, crc32.IEEETable, b.Payload)
	}
}

func run() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	dir := filepath.Join(filepath.Dir(exe), "data")
	f, err := os.Open(filepath.Join(dir, "blocks.bin"))
	if err != nil {
		return err
	}
	defer f.Close()
	ds := &Namespace{child: NewMapDatastore(), prefix: "/blocks"}
	n, err := importBlocks(f, ds)
	if err != nil {
		return err
	}
	fmt.Printf("%d blocks imported\n", n)
	pins, err := os.ReadFile(filepath.Join(dir, "pins.txt"))
	if err != nil {
		return err
	}
	var roots []string
	for _, line := range strings.Fields(string(pins)) {
		id, err := hex.DecodeString(line)
		if err != nil {
			return err
		}
		roots = append(roots, blockKey(id))
	}
	for _, min := range []int{1, 20, 40, 60, 80, 120} {
		u, err := usage(ds, min)
		if err != nil {
			return err
		}
		fmt.Printf("before, from %d bytes: %+v\n", min, u)
	}
	for len(roots) > 0 {
		marked, err := mark(ds, roots)
		if err != nil {
			return err
		}
		dead, size := sweep(ds, marked)
		fmt.Printf("%d roots: %d marked, %d swept (%d bytes)\n", len(roots), len(marked), dead, size)
		roots = roots[:len(roots)/10]
	}
	u, err := usage(ds, 1)
	fmt.Printf("after: %+v\n", u)
	return err
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
