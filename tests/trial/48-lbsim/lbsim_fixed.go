// lbsim: replays a trace of requests against a load balancer that picks the least loaded endpoint of a service,
// and reports how evenly the endpoints were used.
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
)

type Endpoint struct {
	Address  string
	Zone     string
	Weight   int
	Active   int
	Served   int
	Rejected int
}

type Request struct {
	At, Duration int
	Service      string
	Zone         string
}

type running struct {
	until int
	ep    *Endpoint
}

type Service struct {
	Name      string
	Endpoints []*Endpoint
	inflight  []running
	ordered []*Endpoint
}

func (s *Service) AddEndpoint(e *Endpoint) {
	s.Endpoints = append(s.Endpoints, e)
	s.ordered = nil
}

// expire ends the requests that are over by now.
func (s *Service) expire(now int) {
	keep := s.inflight[:0]
	for _, r := range s.inflight {
		if r.until <= now {
			r.ep.Active--
		} else {
			keep = append(keep, r)
		}
	}
	s.inflight = keep
}

// candidates returns the endpoints in a stable order: heavy ones first, then by address.
func (s *Service) candidates() []*Endpoint {
	if s.ordered == nil {
		list := make([]*Endpoint, len(s.Endpoints))
		copy(list, s.Endpoints)
		sort.Slice(list, func(i, j int) bool {
			if list[i].Weight != list[j].Weight {
				return list[i].Weight > list[j].Weight
			}
			return list[i].Address < list[j].Address
		})
		s.ordered = list
	}
	return s.ordered
}

// Pick chooses an endpoint; one of the same zone is preferred if it is not busier.
func (s *Service) Pick(rq *Request) *Endpoint {
	var best *Endpoint
	for _, e := range s.candidates() {
		if e.Active >= 4*e.Weight {
			continue
		}
		switch {
		case best == nil:
			best = e
		case e.Active*best.Weight < best.Active*e.Weight:
			best = e
		case e.Active*best.Weight == best.Active*e.Weight && e.Zone == rq.Zone && best.Zone != rq.Zone:
			best = e
		}
	}
	return best
}

type Balancer struct {
	services map[string]*Service
	requests []Request
	rejected int
	local    int
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(fmt.Sprintf("bad number %q", s))
	}
	return n
}

func Load(path string) (*Balancer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := &Balancer{services: map[string]*Service{}}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		w := strings.Fields(sc.Text())
		if len(w) != 5 {
			return nil, fmt.Errorf("bad line %q", sc.Text())
		}
		if w[0] == "endpoint" {
			s := b.services[w[1]]
			if s == nil {
				s = &Service{Name: w[1]}
				b.services[w[1]] = s
			}
			s.AddEndpoint(&Endpoint{Address: w[2], Zone: w[3], Weight: atoi(w[4])})
		} else {
			b.requests = append(b.requests, Request{At: atoi(w[0]), Service: w[1], Zone: w[2], Duration: atoi(w[3])})
		}
	}
	return b, sc.Err()
}

func (b *Balancer) Replay() {
	for i := range b.requests {
		rq := &b.requests[i]
		s := b.services[rq.Service]
		s.expire(rq.At)
		e := s.Pick(rq)
		if e == nil {
			b.rejected++
			continue
		}
		e.Active++
		e.Served++
		if e.Zone == rq.Zone {
			b.local++
		}
		s.inflight = append(s.inflight, running{rq.At + rq.Duration, e})
	}
}

func (b *Balancer) Report() {
	var names []string
	for n := range b.services {
		names = append(names, n)
	}
	sort.Strings(names)
	fmt.Printf("requests %d rejected %d local %d\n", len(b.requests), b.rejected, b.local)
	for _, n := range names {
		s := b.services[n]
		least, most, total := 1<<30, 0, 0
		sum := uint32(0)
		for _, e := range s.Endpoints {
			least, most = min(least, e.Served), max(most, e.Served)
			total += e.Served
			sum = sum*31 + uint32(e.Served)
		}
		fmt.Printf("%s endpoints %d served %d least %d most %d sum %08x\n", n, len(s.Endpoints), total, least, most, sum)
	}
}

func main() {
	path := "data/trace.txt"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	b, err := Load(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	b.Replay()
	b.Report()
}
