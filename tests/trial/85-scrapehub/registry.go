package main

import (
	"fmt"
	"sort"
	"sync"
)

// Label is a name and a value.
type Label struct{ Name, Value string }

// Metric is a series of one target.
type Metric interface {
	Observe(v float64)
	Collect(name, labels string, emit func(line string))
}

// Counter only grows.
type Counter struct {
	mu    sync.Mutex
	value float64
}

func (c *Counter) Observe(v float64) {
	c.mu.Lock()
	c.value += v
	c.mu.Unlock()
}

func (c *Counter) Collect(name, labels string, emit func(string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	emit(fmt.Sprintf("%s_total{%s} %g", name, labels, c.value))
}

// Gauge is the last value.
type Gauge struct {
	mu    sync.Mutex
	value float64
}

func (g *Gauge) Observe(v float64) {
	g.mu.Lock()
	g.value = v
	g.mu.Unlock()
}

func (g *Gauge) Collect(name, labels string, emit func(string)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	emit(fmt.Sprintf("%s{%s} %g", name, labels, g.value))
}

// Histogram counts in buckets.
type Histogram struct {
	mu     sync.Mutex
	bounds []float64
	counts []uint64
	sum    float64
	n      uint64
}

func newHistogram() *Histogram {
	b := []float64{10, 100, 500, 1000, 2500}
	return &Histogram{bounds: b, counts: make([]uint64, len(b))}
}

func (h *Histogram) Observe(v float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, b := range h.bounds {
		if v <= b {
			h.counts[i]++
		}
	}
	h.sum += v
	h.n++
}

func (h *Histogram) Collect(name, labels string, emit func(string)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, b := range h.bounds {
		emit(fmt.Sprintf("%s_bucket{%s,le=\"%g\"} %d", name, labels, b, h.counts[i]))
	}
	emit(fmt.Sprintf("%s_bucket{%s,le=\"+Inf\"} %d", name, labels, h.n))
	emit(fmt.Sprintf("%s_sum{%s} %g", name, labels, h.sum))
	emit(fmt.Sprintf("%s_count{%s} %d", name, labels, h.n))
}

// Series is a registered metric.
type Series struct {
	Name, Labels, Kind string
	Start              float64
	Metric             Metric
}

// Registry holds the series of a target.
type Registry struct {
	Target string
	mu     sync.RWMutex
	series []*Series
}

// Register adds a series and keeps the order by name.
func (r *Registry) Register(s *Series) error {
	switch s.Kind {
	case "counter":
		s.Metric = &Counter{}
	case "gauge":
		s.Metric = &Gauge{}
	case "histogram":
		s.Metric = newHistogram()
	default:
		return fmt.Errorf("%s: unknown kind %s", s.Name, s.Kind)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.series = append(r.series, s)
	sort.SliceStable(r.series, func(i, j int) bool { return r.series[i].Name < r.series[j].Name })
	return nil
}

// Gather emits the text of all series.
func (r *Registry) Gather(emit func(string)) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, s := range r.series {
		emit("# TYPE " + s.Name + " " + s.Kind)
		s.Metric.Collect(s.Name, s.Labels, emit)
	}
}

// Tick is what the target does between two scrapes.
func (r *Registry) Tick(round int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for i, s := range r.series {
		s.Metric.Observe(float64((int(s.Start)*(i+3) + round*17) % 3000))
	}
}
