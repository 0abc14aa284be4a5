// latwatch reads an access log and raises an alert whenever a request is slower
// than the running 99th percentile of its endpoint.
package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"strings"
)

type Sample struct {
	Time     int64
	Endpoint string
	Status   int
	Millis   float64
}

type Window struct {
	values []float64
	sum    float64
}

type Alert struct {
	Time     int64
	Endpoint string
	Millis   float64
	Limit    float64
}

type Monitor struct {
	windows map[string]*Window
	alerts  []Alert
	errors  map[string]int
}

func NewMonitor() *Monitor {
	return &Monitor{windows: map[string]*Window{}, errors: map[string]int{}}
}

func (w *Window) Add(v float64) {
	w.values = append(w.values, v)
	w.sum += v
}

func (w *Window) Percentile(p float64) float64 {
	if len(w.values) == 0 {
		return 0
	}
	sorted := make([]float64, len(w.values))
	copy(sorted, w.values)
	sort.Float64s(sorted)
	idx := int(p * float64(len(sorted)-1))
	return sorted[idx]
}

func (w *Window) Mean() float64 {
	if len(w.values) == 0 {
		return 0
	}
	return w.sum / float64(len(w.values))
}

func (m *Monitor) Observe(s Sample) {
	if s.Status >= 500 {
		m.errors[s.Endpoint]++
	}
	w := m.windows[s.Endpoint]
	if w == nil {
		w = &Window{}
		m.windows[s.Endpoint] = w
	}
	w.Add(s.Millis)
	limit := w.Percentile(0.99)
	if len(w.values) > 100 && s.Millis > limit {
		m.alerts = append(m.alerts, Alert{s.Time, s.Endpoint, s.Millis, limit})
	}
}

// bootstrap returns the 5 % and 95 % bounds of the mean by resampling.
func bootstrap(values []float64, rounds int) (float64, float64) {
	rng := rand.New(rand.NewSource(int64(len(values))))
	means := make([]float64, rounds)
	for r := range means {
		sum := 0.0
		for range values {
			sum += values[rng.Intn(len(values))]
		}
		means[r] = sum / float64(len(values))
	}
	sort.Float64s(means)
	return means[rounds/20], means[rounds*19/20]
}

func parseLine(line string) (Sample, error) {
	f := strings.Fields(line)
	if len(f) != 4 {
		return Sample{}, fmt.Errorf("want 4 fields, have %d", len(f))
	}
	t, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil {
		return Sample{}, err
	}
	status, err := strconv.Atoi(f[2])
	if err != nil {
		return Sample{}, err
	}
	ms, err := strconv.ParseFloat(f[3], 64)
	if err != nil {
		return Sample{}, err
	}
	return Sample{t, f[1], status, ms}, nil
}

func readSamples(path string) ([]Sample, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out []Sample
	sc := bufio.NewScanner(file)
	for sc.Scan() {
		s, err := parseLine(sc.Text())
		if err != nil {
			continue
		}
		out = append(out, s)
	}
	return out, sc.Err()
}

func report(m *Monitor) {
	var names []string
	for n := range m.windows {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		w := m.windows[n]
		fmt.Printf("%-20s n=%d mean=%.2f p50=%.1f p99=%.1f errors=%d\n",
			n, len(w.values), w.Mean(), w.Percentile(0.5), w.Percentile(0.99), m.errors[n])
	}
	for _, n := range names {
		sorted := append([]float64(nil), m.windows[n].values...)
		sort.Float64s(sorted)
		lo, hi := bootstrap(sorted, 1000)
		fmt.Printf("%-20s mean in %.2f..%.2f\n", n, lo, hi)
	}
	h := fnv.New64a()
	for _, a := range m.alerts {
		fmt.Fprintf(h, "%d %s %.1f %.1f\n", a.Time, a.Endpoint, a.Millis, a.Limit)
	}
	fmt.Printf("%d alerts, digest %016x\n", len(m.alerts), h.Sum64())
}

func main() {
	path := "data/access.log"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	samples, err := readSamples(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "latwatch:", err)
		os.Exit(1)
	}
	m := NewMonitor()
	for _, s := range samples {
		m.Observe(s)
	}
	report(m)
}
