// tallyhttp is a small load test: an HTTP counter service on localhost and concurrent clients
// which reuse their connections.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sort"
	"sync"
)

type Event struct {
	Topic  string `json:"topic"`
	Amount int    `json:"amount"`
	Note   string `json:"note"`
}

type Tally struct {
	Count int `json:"count"`
	Sum   int `json:"sum"`
}

type shard struct {
	mu      sync.Mutex
	tallies map[string]*Tally
}

type Service struct {
	shards [16]shard
}

func NewService() *Service {
	s := &Service{}
	for i := range s.shards {
		s.shards[i].tallies = map[string]*Tally{}
	}
	return s
}

func (s *Service) shardFor(topic string) *shard {
	h := uint32(2166136261)
	for i := 0; i < len(topic); i++ {
		h = (h ^ uint32(topic[i])) * 16777619
	}
	return &s.shards[h%16]
}

func (s *Service) add(e Event) Tally {
	sh := s.shardFor(e.Topic)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	t := sh.tallies[e.Topic]
	if t == nil {
		t = &Tally{}
		sh.tallies[e.Topic] = t
	}
	t.Count++
	t.Sum += e.Amount
	return *t
}

func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var events []Event
	if err := json.NewDecoder(r.Body).Decode(&events); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := make([]Tally, len(events))
	for i, e := range events {
		out[i] = s.add(e)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out)
}

func (s *Service) snapshot() map[string]Tally {
	all := map[string]Tally{}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		for k, v := range sh.tallies {
			all[k] = *v
		}
		sh.mu.Unlock()
	}
	return all
}

func post(client *http.Client, url string, events []Event) (int, error) {
	body, err := json.Marshal(events)
	if err != nil {
		return 0, err
	}
	resp, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var tallies []Tally
	if err := json.NewDecoder(resp.Body).Decode(&tallies); err != nil {
		return 0, err
	}
	io.Copy(io.Discard, resp.Body)
	return len(tallies), nil
}

func runClient(client *http.Client, url string, id, requests int) int {
	done := 0
	for r := 0; r < requests; r++ {
		events := make([]Event, 20)
		for i := range events {
			k := id*7919 + r*31 + i
			events[i] = Event{fmt.Sprintf("topic-%d", k%500), k % 97, "load test event"}
		}
		n, err := post(client, url, events)
		if err != nil {
			fmt.Fprintln(os.Stderr, "tallyhttp:", err)
			continue
		}
		done += n
	}
	return done
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "tallyhttp:", err)
		os.Exit(1)
	}
	service := NewService()
	go http.Serve(l, service)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	url := "http://" + l.Addr().String() + "/events"
	var wg sync.WaitGroup
	done := make([]int, 12)
	for c := range done {
		wg.Add(1)
		go func() {
			defer wg.Done()
			done[c] = runClient(client, url, c, 2200)
		}()
	}
	wg.Wait()
	total := 0
	for _, n := range done {
		total += n
	}
	all := service.snapshot()
	var topics []string
	for k := range all {
		topics = append(topics, k)
	}
	sort.Strings(topics)
	sum := 0
	for i, k := range topics {
		sum += all[k].Sum * (i%7 + 1)
	}
	fmt.Printf("%d events, %d topics, weighted sum %d\n", total, len(topics), sum)
}
