// citygraph works out how many people can reach each clinic of a city within a time limit: a street network with
// one-way streets and turn-free travel times, one bounded search for each clinic and profile.
package main

import "fmt"

type graph struct {
	first  []int32
	head   []int32
	cost   []int32
	people []int32
}

type random uint64

func (r *random) below(n int) int {
	*r ^= *r << 13
	*r ^= *r >> 7
	*r ^= *r << 17
	return int((uint64(*r) >> 16) % uint64(n))
}

func buildCity(w, h int, r *random) *graph {
	n := w * h
	g := &graph{first: make([]int32, n+1), people: make([]int32, n)}
	add := func(to, c int) {
		g.head = append(g.head, int32(to))
		g.cost = append(g.cost, int32(c))
	}
	for y := range h {
		for x := range w {
			v := y*w + x
			g.first[v] = int32(len(g.head))
			g.people[v] = int32(r.below(40))
			speed := 30
			if x%16 == 0 || y%16 == 0 {
				speed = 12
			}
			if x+1 < w && y%7 != 3 {
				add(v+1, speed+r.below(20))
			}
			if x > 0 && y%7 != 5 {
				add(v-1, speed+r.below(20))
			}
			if y+1 < h && x%9 != 4 {
				add(v+w, speed+r.below(20))
			}
			if y > 0 && x%9 != 7 {
				add(v-w, speed+r.below(20))
			}
		}
	}
	g.first[n] = int32(len(g.head))
	return g
}

type item struct {
	dist, node int32
}

type heap struct {
	a []item
}

func (h *heap) push(it item) {
	h.a = append(h.a, it)
	i := len(h.a) - 1
	for i > 0 {
		p := (i - 1) / 4
		if h.a[p].dist <= it.dist {
			break
		}
		h.a[i] = h.a[p]
		i = p
	}
	h.a[i] = it
}

func (h *heap) pop() item {
	top := h.a[0]
	last := h.a[len(h.a)-1]
	h.a = h.a[:len(h.a)-1]
	n := len(h.a)
	if n == 0 {
		return top
	}
	i := 0
	for {
		c := 4*i + 1
		if c >= n {
			break
		}
		best := c
		for k := c + 1; k < min(c+4, n); k++ {
			if h.a[k].dist < h.a[best].dist {
				best = k
			}
		}
		if h.a[best].dist >= last.dist {
			break
		}
		h.a[i] = h.a[best]
		i = best
	}
	h.a[i] = last
	return top
}

type searcher struct {
	g     *graph
	dist  []int32
	stamp []int32
	run   int32
	open  heap
}

func newSearcher(g *graph) *searcher {
	n := len(g.people)
	return &searcher{g: g, dist: make([]int32, n), stamp: make([]int32, n)}
}

func (s *searcher) label(v, d int32) {
	if s.stamp[v] == s.run && s.dist[v] <= d {
		return
	}
	s.stamp[v] = s.run
	s.dist[v] = d
	s.open.push(item{d, v})
}

func (s *searcher) reach(source int32, limit int32, visit func(v, d int32)) {
	s.run++
	s.open.a = s.open.a[:0]
	s.label(source, 0)
	for len(s.open.a) > 0 {
		it := s.open.pop()
		if it.dist > s.dist[it.node] {
			continue
		}
		visit(it.node, it.dist)
		lo, hi := s.g.first[it.node], s.g.first[it.node+1]
		for e := lo; e < hi; e++ {
			if d := it.dist + s.g.cost[e]; d <= limit {
				s.label(s.g.head[e], d)
			}
		}
	}
}

type result struct {
	people, nodes, far int64
	bands              [6]int64
}

func catchment(s *searcher, source, limit int32, nearest []int32) result {
	var r result
	s.reach(source, limit, func(v, d int32) {
		p := int64(s.g.people[v])
		r.people += p
		r.nodes++
		r.far = max(r.far, int64(d))
		r.bands[min(5, int(d)*6/int(limit))] += p
		if nearest[v] == 0 || d+1 < nearest[v] {
			nearest[v] = d + 1
		}
	})
	return r
}

// nextSite takes the candidate that is farthest from the clinics there are.
func nextSite(g *graph, nearest []int32, r *random) int32 {
	site, worst := int32(0), int32(-1)
	for range 6 {
		v := int32(r.below(len(g.people)))
		d := nearest[v]
		if d == 0 {
			d = 1 << 30
		}
		if d > worst {
			site, worst = v, d
		}
	}
	return site
}

func main() {
	r := random(987654321)
	g := buildCity(420, 400, &r)
	s := newSearcher(g)
	nearest := make([]int32, len(g.people))
	var total result
	best, bestAt := int64(0), 0
	for c := range 330 {
		source := nextSite(g, nearest, &r)
		res := catchment(s, source, 4200, nearest)
		total.nodes += res.nodes
		total.people += res.people
		total.far = max(total.far, res.far)
		for i, b := range res.bands {
			total.bands[i] += b
		}
		if res.people > best {
			best, bestAt = res.people, c
		}
	}
	uncovered, sum := 0, int64(0)
	for _, d := range nearest {
		if d == 0 {
			uncovered++
		}
		sum += int64(max(d-1, 0))
	}
	fmt.Printf("nodes %d, edges %d, labels %d, people %d, best %d (%d)\n", len(g.people), len(g.head), total.nodes, total.people, bestAt, best)
	fmt.Printf("bands %v, uncovered %d, mean %.3f, far %d\n", total.bands, uncovered, float64(sum)/float64(len(nearest)-uncovered), total.far)
}
