package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
)

// A cart belongs to a session; each has its own lock.
type cart struct {
	mu    sync.Mutex
	items map[int]int
}

type server struct {
	catalog *Catalog
	mu      sync.RWMutex
	carts   map[string]*cart
}

func (s *server) cartOf(session string) *cart {
	s.mu.RLock()
	c := s.carts[session]
	s.mu.RUnlock()
	if c != nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c = s.carts[session]; c == nil {
		c = &cart{items: make(map[int]int)}
		s.carts[session] = c
	}
	return c
}

func reply(w http.ResponseWriter, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

func (s *server) product(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.URL.Query().Get("id"))
	p := s.catalog.byID[id]
	if err != nil || p == nil {
		http.Error(w, "no such product", http.StatusNotFound)
		return
	}
	reply(w, p)
}

func (s *server) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	from, _ := strconv.Atoi(query.Get("from"))
	reply(w, s.catalog.Cheapest(query.Get("tag"), from, 20))
}

func (s *server) add(w http.ResponseWriter, r *http.Request) {
	var order struct {
		Session  string
		ID, Many int
	}
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c := s.cartOf(order.Session)
	c.mu.Lock()
	c.items[order.ID] += order.Many
	cents, pieces := 0, 0
	for id, many := range c.items {
		if p := s.catalog.byID[id]; p != nil {
			cents += p.Cents * many
			pieces += many
		}
	}
	c.mu.Unlock()
	reply(w, map[string]int{"cents": cents, "pieces": pieces})
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/product", s.product)
	mux.HandleFunc("/list", s.list)
	mux.HandleFunc("/cart", s.add)
	return mux
}
