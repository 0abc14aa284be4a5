// podplace: reads a dump of a cluster's nodes and pods and reports how full nodes and zones are,
// and which pods should move off crowded nodes.
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
)

type Node struct {
	Name     string
	Zone     string
	MilliCPU int64
	MemoryMB int64
	UsedCPU  int64
	UsedMem  int64
	Pods     int
}

type Pod struct {
	Name     string
	NodeName string
	MilliCPU int64
	MemoryMB int64
}

func (p *Pod) App() string {
	i := strings.LastIndexByte(p.Name, '-')
	if i < 0 {
		return p.Name
	}
	return p.Name[:i]
}

type Cluster struct {
	nodes []*Node
	pods  []*Pod
}

func parseInts(a, b string) (int64, int64, error) {
	x, err := strconv.ParseInt(a, 10, 64)
	if err != nil {
		return 0, 0, err
	}
	y, err := strconv.ParseInt(b, 10, 64)
	return x, y, err
}

func Load(path string) (*Cluster, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := &Cluster{}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		w := strings.Fields(sc.Text())
		if len(w) != 5 {
			return nil, fmt.Errorf("bad line %q", sc.Text())
		}
		cpu, mem, err := parseInts(w[3], w[4])
		if err != nil {
			return nil, err
		}
		switch w[0] {
		case "node":
			n := &Node{Name: w[1], Zone: w[2], MilliCPU: cpu, MemoryMB: mem}
			c.nodes = append(c.nodes, n)
		case "pod":
			c.pods = append(c.pods, &Pod{Name: w[1], NodeName: w[2], MilliCPU: cpu, MemoryMB: mem})
		}
	}
	return c, sc.Err()
}

// NodeFor returns the node that a pod has been bound to.
func (c *Cluster) NodeFor(p *Pod) *Node {
	for _, n := range c.nodes {
		if n.Name == p.NodeName {
			return n
		}
	}
	return nil
}

func (c *Cluster) Account() (orphans int) {
	for _, p := range c.pods {
		n := c.NodeFor(p)
		if n == nil {
			orphans++
			continue
		}
		n.UsedCPU += p.MilliCPU
		n.UsedMem += p.MemoryMB
		n.Pods++
	}
	return orphans
}

type ZoneUse struct {
	Nodes, Pods  int
	CPU, UsedCPU int64
}

func (c *Cluster) Zones() map[string]*ZoneUse {
	z := map[string]*ZoneUse{}
	for _, n := range c.nodes {
		u := z[n.Zone]
		if u == nil {
			u = &ZoneUse{}
			z[n.Zone] = u
		}
		u.Nodes++
		u.Pods += n.Pods
		u.CPU += n.MilliCPU
		u.UsedCPU += n.UsedCPU
	}
	return z
}

// Spread counts in how many zones each application runs.
func (c *Cluster) Spread() map[string]map[string]int {
	s := map[string]map[string]int{}
	for _, p := range c.pods {
		n := c.NodeFor(p)
		if n == nil {
			continue
		}
		app := p.App()
		if s[app] == nil {
			s[app] = map[string]int{}
		}
		s[app][n.Zone]++
	}
	return s
}

func (c *Cluster) Evictions(limit float64) []string {
	var out []string
	for _, p := range c.pods {
		n := c.NodeFor(p)
		if n != nil && float64(n.UsedMem) > limit*float64(n.MemoryMB) && p.MemoryMB >= 512 {
			out = append(out, p.Name)
			n.UsedMem -= p.MemoryMB
		}
	}
	sort.Strings(out)
	return out
}

func main() {
	path := "data/cluster.txt"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	c, err := Load(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	orphans := c.Account()
	fmt.Printf("nodes %d pods %d orphans %d\n", len(c.nodes), len(c.pods), orphans)
	zones := c.Zones()
	var names []string
	for z := range zones {
		names = append(names, z)
	}
	sort.Strings(names)
	for _, z := range names {
		u := zones[z]
		fmt.Printf("%s nodes %d pods %d cpu %.1f%%\n", z, u.Nodes, u.Pods, 100*float64(u.UsedCPU)/float64(u.CPU))
	}
	uneven := 0
	for _, per := range c.Spread() {
		if len(per) < 3 || per["zone-0"] > 2*per["zone-1"] {
			uneven++
		}
	}
	ev := c.Evictions(0.6)
	fmt.Printf("uneven apps %d, to evict %d", uneven, len(ev))
	if len(ev) > 0 {
		fmt.Printf(" (%s ... %s)", ev[0], ev[len(ev)-1])
	}
	fmt.Println()
}
