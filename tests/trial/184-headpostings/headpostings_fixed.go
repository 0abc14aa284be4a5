// Command headpostings simulates series churn in the head block of a time series database.
package main

import (
	"fmt"
	"hash/fnv"
	"sort"
	"strings"
)

type SeriesRef uint64

type Label struct{ Name, Value string }

type Labels []Label

func (ls Labels) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, l := range ls {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s=%q", l.Name, l.Value)
	}
	b.WriteByte('}')
	return b.String()
}

func parseMetric(line string) (Labels, error) {
	open := strings.IndexByte(line, '{')
	if open < 0 || !strings.HasSuffix(line, "}") {
		return nil, fmt.Errorf("malformed metric %q", line)
	}
	ls := Labels{{"__name__", line[:open]}}
	for _, kv := range strings.Split(line[open+1:len(line)-1], ",") {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, fmt.Errorf("malformed label %q", kv)
		}
		ls = append(ls, Label{k, strings.Trim(v, `"`)})
	}
	sort.Slice(ls, func(i, j int) bool { return ls[i].Name < ls[j].Name })
	return ls, nil
}

type MemPostings struct {
	m map[string]map[string][]SeriesRef
}

func NewMemPostings() *MemPostings { return &MemPostings{m: map[string]map[string][]SeriesRef{}} }

func (p *MemPostings) Add(id SeriesRef, ls Labels) {
	for _, l := range ls {
		nm, ok := p.m[l.Name]
		if !ok {
			nm = map[string][]SeriesRef{}
			p.m[l.Name] = nm
		}
		nm[l.Value] = append(nm[l.Value], id)
	}
}

func (p *MemPostings) Delete(deleted map[SeriesRef]struct{}, affected map[Label]struct{}) {
	for l := range affected {
		p.filter(l.Name, l.Value, p.m[l.Name][l.Value], deleted)
	}
}

func (p *MemPostings) filter(name, value string, list []SeriesRef, deleted map[SeriesRef]struct{}) {
	found := false
	for _, id := range list {
		if _, ok := deleted[id]; ok {
			found = true
			break
		}
	}
	if !found {
		return
	}
	repl := make([]SeriesRef, 0, len(list))
	for _, id := range list {
		if _, ok := deleted[id]; !ok {
			repl = append(repl, id)
		}
	}
	if len(repl) > 0 {
		p.m[name][value] = repl
		return
	}
	delete(p.m[name], value)
}

func intersect(a, b []SeriesRef) []SeriesRef {
	var out []SeriesRef
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			out = append(out, a[i])
			i++
			j++
		}
	}
	return out
}

type memSeries struct {
	ref    SeriesRef
	line   string
	labels Labels
	maxt   int64
}

type Head struct {
	series   map[SeriesRef]*memSeries
	byLabels map[string]*memSeries
	order    []*memSeries
	postings *MemPostings
	lastID   SeriesRef
}

func NewHead() *Head {
	return &Head{series: map[SeriesRef]*memSeries{}, byLabels: map[string]*memSeries{}, postings: NewMemPostings()}
}

func (h *Head) Append(line string, t int64) error {
	s, ok := h.byLabels[line]
	if !ok {
		ls, err := parseMetric(line)
		if err != nil {
			return err
		}
		h.lastID++
		s = &memSeries{ref: h.lastID, line: line, labels: ls}
		h.series[s.ref] = s
		h.byLabels[line] = s
		h.order = append(h.order, s)
		h.postings.Add(s.ref, ls)
	}
	s.maxt = max(s.maxt, t)
	return nil
}

func (h *Head) GC(mint int64) int {
	deleted, affected := map[SeriesRef]struct{}{}, map[Label]struct{}{}
	keep := h.order[:0]
	for _, s := range h.order {
		if s.maxt >= mint {
			keep = append(keep, s)
			continue
		}
		deleted[s.ref] = struct{}{}
		for _, l := range s.labels {
			affected[l] = struct{}{}
		}
		delete(h.byLabels, s.line)
		delete(h.series, s.ref)
	}
	h.order = keep
	h.postings.Delete(deleted, affected)
	return len(deleted)
}

func (h *Head) Select(matchers ...Label) []*memSeries {
	var refs []SeriesRef
	for i, m := range matchers {
		list := h.postings.m[m.Name][m.Value]
		if i == 0 {
			refs = list
		} else {
			refs = intersect(refs, list)
		}
	}
	out := make([]*memSeries, 0, len(refs))
	for _, r := range refs {
		out = append(out, h.series[r])
	}
	return out
}

func podLines(pod, metrics int) []string {
	job := pod % 60
	lines := make([]string, metrics)
	for i := range lines {
		lines[i] = fmt.Sprintf(`job%d_metric_%d{job="svc-%d",namespace="ns-%d",pod="pod-%05d",shard="s%d",node="node-%d",image="img-%d-%d",code="c%d-%d"}`,
			job, i, job, job, pod, pod%2400, pod%600, job, pod/600, job, i%5)
	}
	return lines
}

func main() {
	h, now, removed := NewHead(), int64(0), 0
	sum := fnv.New64a()
	const live, metrics = 1500, 8
	for pod := 0; pod < live+1400; pod++ {
		for _, line := range podLines(pod, metrics) {
			if err := h.Append(line, now); err != nil {
				panic(err)
			}
		}
		now++
		if pod >= live {
			removed += h.GC(now - live)
			for _, s := range h.Select(Label{"job", fmt.Sprintf("svc-%d", pod%60)}, Label{"node", fmt.Sprintf("node-%d", pod%600)}) {
				fmt.Fprintln(sum, s.ref, s.labels)
			}
		}
	}
	sample := h.Select(Label{"pod", "pod-02800"})
	fmt.Printf("%d live, %d removed, digest %016x\n", len(h.series), removed, sum.Sum64())
	fmt.Println(len(sample), sample[0].labels)
}
