// eventship: reads audit events, groups them by tenant into small batches, compresses every batch
// and "ships" it to a sink that checks what it gets, as log shippers and API servers do.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sort"
	"strings"
)

type Event struct {
	Tenant string `json:"tenant"`
	Verb   string `json:"verb"`
	Object string `json:"object"`
	Status int    `json:"status"`
	Stamp  int64  `json:"stamp"`
}

func parseEvent(line string) (Event, error) {
	var e Event
	f := strings.Fields(line)
	if len(f) != 5 {
		return e, fmt.Errorf("bad line %q", line)
	}
	e.Tenant, e.Verb, e.Object = f[0], f[1], f[2]
	if _, err := fmt.Sscan(f[3], &e.Status); err != nil {
		return e, err
	}
	if _, err := fmt.Sscan(f[4], &e.Stamp); err != nil {
		return e, err
	}
	return e, nil
}

type Sink struct {
	batches, raw, packed int
	sum                  uint32
}

// Accept stands for the remote side: it looks at the trailer of the gzip stream only.
func (s *Sink) Accept(body []byte) error {
	if len(body) < 18 || body[0] != 0x1f || body[1] != 0x8b {
		return fmt.Errorf("not gzip")
	}
	t := body[len(body)-8:]
	crc := uint32(t[0]) | uint32(t[1])<<8 | uint32(t[2])<<16 | uint32(t[3])<<24
	s.raw += int(t[4]) | int(t[5])<<8 | int(t[6])<<16
	s.packed += len(body)
	s.batches++
	s.sum = s.sum*31 + crc
	return nil
}

type Shipper struct {
	sink    *Sink
	pending map[string][]Event
	limit   int
}

func NewShipper(sink *Sink, limit int) *Shipper {
	return &Shipper{sink: sink, pending: map[string][]Event{}, limit: limit}
}

func (s *Shipper) Add(e Event) error {
	s.pending[e.Tenant] = append(s.pending[e.Tenant], e)
	if len(s.pending[e.Tenant]) >= s.limit {
		return s.flush(e.Tenant)
	}
	return nil
}

func (s *Shipper) compress(w io.Writer, data []byte) error {
	zw, err := gzip.NewWriterLevel(w, gzip.BestSpeed+3)
	if err != nil {
		return err
	}
	if _, err := zw.Write(data); err != nil {
		return err
	}
	return zw.Close()
}

func (s *Shipper) flush(tenant string) error {
	events := s.pending[tenant]
	if len(events) == 0 {
		return nil
	}
	data, err := json.Marshal(events)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	if err := s.compress(&body, data); err != nil {
		return err
	}
	s.pending[tenant] = events[:0]
	return s.sink.Accept(body.Bytes())
}

func (s *Shipper) Close() error {
	var rest []string
	for t := range s.pending {
		rest = append(rest, t)
	}
	sort.Strings(rest)
	for _, t := range rest {
		if err := s.flush(t); err != nil {
			return err
		}
	}
	return nil
}

func run(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sink := &Sink{}
	ship := NewShipper(sink, 5)
	verbs := map[string]int{}
	sc := bufio.NewScanner(f)
	var events []Event
	for sc.Scan() {
		e, err := parseEvent(sc.Text())
		if err != nil {
			return err
		}
		verbs[e.Verb]++
		events = append(events, e)
	}
	sort.SliceStable(events, func(i, j int) bool { return events[i].Stamp < events[j].Stamp })
	for _, e := range events {
		if err := ship.Add(e); err != nil {
			return err
		}
	}
	if err := ship.Close(); err != nil {
		return err
	}
	fmt.Printf("events %d batches %d raw %d packed %d sum %08x\n", len(events), sink.batches, sink.raw, sink.packed, sink.sum)
	fmt.Printf("get %d create %d crc of verbs %08x\n", verbs["get"], verbs["create"], crc32.ChecksumIEEE([]byte(fmt.Sprint(verbs))))
	return sc.Err()
}

func main() {
	path := "data/events.txt"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	if err := run(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
