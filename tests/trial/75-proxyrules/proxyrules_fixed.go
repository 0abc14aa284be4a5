// proxyrules: follows changes of services and their endpoints and keeps the packet filter rules that spread connections over them; prints
// what was programmed.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"hash/crc32"
	"os"
	"sort"
	"strings"
)

type Service struct {
	Name      string
	ClusterIP string
	Port      string
	Sticky    bool
	Endpoints []string
}

// Kernel stands for the packet filter: it takes over chains and counts what changes.
type Kernel struct {
	chains   map[string]string
	replaced int
	rules    int
}

func (k *Kernel) Restore(chains map[string]string) {
	for name, text := range chains {
		if k.chains[name] == text {
			continue
		}
		k.chains[name] = text
		k.replaced++
		k.rules += strings.Count(text, "\n")
	}
}

func (k *Kernel) Delete(name string) {
	delete(k.chains, name)
}

func (k *Kernel) Checksum() uint32 {
	names := make([]string, 0, len(k.chains))
	for name := range k.chains {
		names = append(names, name)
	}
	sort.Strings(names)
	sum := crc32.NewIEEE()
	for _, name := range names {
		fmt.Fprintf(sum, "%s\n%s", name, k.chains[name])
	}
	return sum.Sum32()
}

type Proxier struct {
	services map[string]*Service
	kernel   *Kernel
	owned    map[string]map[string]bool
	changed  map[string]*Service
}

func chainName(prefix string, parts ...string) string {
	hash := sha256.Sum256([]byte(strings.Join(parts, "|")))
	return prefix + base32.StdEncoding.EncodeToString(hash[:])[:16]
}

func (p *Proxier) AddService(name, ip, port string, sticky bool) {
	p.services[name] = &Service{Name: name, ClusterIP: ip, Port: port, Sticky: sticky}
	p.changed[name] = p.services[name]
}

func (p *Proxier) AddEndpoint(name, endpoint string) {
	if s := p.services[name]; s != nil {
		s.Endpoints = append(s.Endpoints, endpoint)
		p.changed[name] = s
	}
}

func (p *Proxier) RemoveEndpoint(name, endpoint string) {
	s := p.services[name]
	if s == nil {
		return
	}
	for i, one := range s.Endpoints {
		if one == endpoint {
			s.Endpoints = append(s.Endpoints[:i:i], s.Endpoints[i+1:]...)
			p.changed[name] = s
			return
		}
	}
}

// serviceChains makes the chain of a service and one for each of its endpoints.
func serviceChains(s *Service) map[string]string {
	chains := map[string]string{}
	service := chainName("SVC-", s.Name, s.Port)
	endpoints := append([]string(nil), s.Endpoints...)
	sort.Strings(endpoints)
	var text bytes.Buffer
	fmt.Fprintf(&text, "-A %s ! -s 10.0.0.0/8 -d %s/32 -p tcp --dport %s -j MARK\n", service, s.ClusterIP, s.Port)
	names := make([]string, len(endpoints))
	for i, endpoint := range endpoints {
		names[i] = chainName("SEP-", s.Name, s.Port, endpoint)
		if s.Sticky {
			fmt.Fprintf(&text, "-A %s -m comment --comment %q -m recent --name %s --rcheck --seconds 10800 --reap -j %s\n", service, s.Name, names[i], names[i])
		}
	}
	for i, endpoint := range endpoints {
		if left := len(endpoints) - i; left > 1 {
			fmt.Fprintf(&text, "-A %s -m comment --comment %q -m statistic --mode random --probability %0.10f -j %s\n", service, s.Name+" -> "+endpoint, 1/float64(left), names[i])
		} else {
			fmt.Fprintf(&text, "-A %s -m comment --comment %q -j %s\n", service, s.Name+" -> "+endpoint, names[i])
		}
		ip, _, _ := strings.Cut(endpoint, ":")
		var own bytes.Buffer
		fmt.Fprintf(&own, "-A %s -s %s/32 -j MARK\n", names[i], ip)
		if s.Sticky {
			fmt.Fprintf(&own, "-A %s -m recent --name %s --set\n", names[i], names[i])
		}
		fmt.Fprintf(&own, "-A %s -p tcp -j DNAT --to-destination %s\n", names[i], endpoint)
		chains[names[i]] = own.String()
	}
	if len(endpoints) == 0 {
		fmt.Fprintf(&text, "-A %s -m comment --comment %q -j REJECT\n", service, s.Name+" has no endpoints")
	}
	chains[service] = text.String()
	return chains
}

// program brings the chains of a service into the kernel and removes those that it had before.
func (p *Proxier) program(s *Service) {
	chains := serviceChains(s)
	p.kernel.Restore(chains)
	for name := range p.owned[s.Name] {
		if _, still := chains[name]; !still {
			p.kernel.Delete(name)
		}
	}
	owned := make(map[string]bool, len(chains))
	for name := range chains {
		owned[name] = true
	}
	p.owned[s.Name] = owned
}

// Sync brings the rules up to date.
func (p *Proxier) Sync() {
	for _, s := range p.changed {
		p.program(s)
	}
	clear(p.changed)
}

func run(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	kernel := &Kernel{chains: map[string]string{}}
	proxier := &Proxier{services: map[string]*Service{}, kernel: kernel, owned: map[string]map[string]bool{}, changed: map[string]*Service{}}
	changes, syncs := 0, 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 5 && words[0] == "service":
			proxier.AddService(words[1], words[2], words[3], words[4] == "ClientIP")
		case len(words) == 3 && words[0] == "add":
			proxier.AddEndpoint(words[1], words[2])
			changes++
		case len(words) == 3 && words[0] == "remove":
			proxier.RemoveEndpoint(words[1], words[2])
			changes++
		case len(words) == 1 && words[0] == "sync":
			proxier.Sync()
			if syncs++; syncs%75 == 1 {
				fmt.Printf("sync %4d: %5d chains, %6d replaced, %6d rules, checksum %08x\n", syncs, len(kernel.chains), kernel.replaced, kernel.rules, kernel.Checksum())
			}
		default:
			return fmt.Errorf("cannot understand %q", lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	fmt.Printf("%d services, %d changes, %d syncs\n", len(proxier.services), changes, syncs)
	fmt.Printf("%d chains, %d replaced, %d rules, checksum %08x\n", len(kernel.chains), kernel.replaced, kernel.rules, kernel.Checksum())
	return nil
}

func main() {
	path := "data/changes.txt"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	if err := run(path); err != nil {
		fmt.Fprintln(os.Stderr, "proxyrules:", err)
		os.Exit(1)
	}
}
