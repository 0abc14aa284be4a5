// Command dnsfilter answers which queries of the clients of a network are blocked: it loads block lists, compiles them
// to an engine, and takes events: queries, and changes of the settings of a client, after which the engine that holds
// the settings of the clients is built anew.
package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"os"
	"sort"
	"strings"
)

type Rule struct {
	Text      string
	Host      string
	Exception bool
	Client    string
	ListID    int
}

type node struct {
	children map[string]*node
	rules    []*Rule
}

// Engine holds the rules of all lists, by the labels of their hosts from the last to the first.
type Engine struct {
	root  *node
	count int
}

type clientSettings struct {
	name    string
	blocked map[string]bool
	queries int
	denied  int
}

// ClientEngine holds the rules that users set for clients.
type ClientEngine struct {
	engine *Engine
	serial int
}

type Filter struct {
	lists   *Engine
	clients *ClientEngine
	known   map[string]*clientSettings
	rebuilt int
}

type Result struct {
	Blocked bool
	Rule    *Rule
}

// ---- rules ----

func parseRule(line string, list int) *Rule {
	r := &Rule{Text: line, ListID: list}
	if strings.HasPrefix(line, "@@") {
		r.Exception = true
		line = line[2:]
	}
	if !strings.HasPrefix(line, "||") {
		return nil
	}
	host, options, _ := strings.Cut(line[2:], "^")
	r.Host = strings.ToLower(host)
	for _, option := range strings.Split(strings.TrimPrefix(options, "$"), ",") {
		if name, value, ok := strings.Cut(option, "="); ok && name == "client" {
			r.Client = value
		}
	}
	return r
}

func newEngine() *Engine {
	return &Engine{root: &node{}}
}

func (e *Engine) add(r *Rule) {
	at := e.root
	labels := strings.Split(r.Host, ".")
	for i := len(labels) - 1; i >= 0; i-- {
		if at.children == nil {
			at.children = map[string]*node{}
		}
		next := at.children[labels[i]]
		if next == nil {
			next = &node{}
			at.children[labels[i]] = next
		}
		at = next
	}
	at.rules = append(at.rules, r)
	e.count++
}

func (e *Engine) match(host, client string) Result {
	var result Result
	at := e.root
	for rest := host; rest != ""; {
		label := rest
		if i := strings.LastIndexByte(rest, '.'); i >= 0 {
			label, rest = rest[i+1:], rest[:i]
		} else {
			rest = ""
		}
		at = at.children[label]
		if at == nil {
			break
		}
		for _, r := range at.rules {
			if r.Client != "" && r.Client != client {
				continue
			}
			if r.Exception {
				return Result{false, r}
			}
			result = Result{true, r}
		}
	}
	return result
}

func loadLists(path string) (*Engine, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	e := newEngine()
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		if r := parseRule(scanner.Text(), 1); r != nil {
			e.add(r)
		}
	}
	return e, scanner.Err()
}

// ---- clients ----

func (f *Filter) client(name string) *clientSettings {
	c := f.known[name]
	if c == nil {
		c = &clientSettings{name: name, blocked: map[string]bool{}}
		f.known[name] = c
	}
	return c
}

// initClientEngine compiles the settings of the clients.
func (f *Filter) initClientEngine() {
	engine := newEngine()
	for _, c := range f.known {
		for host := range c.blocked {
			engine.add(&Rule{Text: "||" + host + "^", Host: host, Client: c.name, ListID: 2})
		}
	}
	f.rebuilt++
	f.clients = &ClientEngine{engine: engine, serial: f.rebuilt}
}

func (f *Filter) setBlocked(client, host string) {
	f.client(client).blocked[strings.ToLower(host)] = true
	f.initClientEngine()
}

func (f *Filter) query(client, host string) Result {
	c := f.client(client)
	c.queries++
	result := f.lists.match(host, client)
	if !result.Blocked && (result.Rule == nil || !result.Rule.Exception) {
		result = f.clients.engine.match(host, client)
	}
	if result.Blocked {
		c.denied++
	}
	return result
}

// ---- events ----

func (f *Filter) handle(line string) (Result, error) {
	words := strings.Fields(line)
	switch {
	case len(words) == 4 && words[0] == "set" && words[2] == "block":
		f.setBlocked(words[1], words[3])
		return Result{}, nil
	case len(words) == 3 && words[0] == "query":
		return f.query(words[1], words[2]), nil
	}
	return Result{}, fmt.Errorf("bad event %q", line)
}

func run() error {
	lists, err := loadLists("data/rules.txt")
	if err != nil {
		return err
	}
	f := &Filter{lists: lists, known: map[string]*clientSettings{}}
	f.initClientEngine()
	file, err := os.Open("data/events.txt")
	if err != nil {
		return err
	}
	defer file.Close()
	digest, blocked, exceptions := fnv.New64a(), 0, 0
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		result, err := f.handle(scanner.Text())
		if err != nil {
			return err
		}
		if result.Rule != nil {
			digest.Write([]byte(result.Rule.Text))
			if result.Blocked {
				blocked++
			} else {
				exceptions++
			}
		}
	}
	if err := scanner.Err(); err != nil {
		return err
	}
	names := make([]string, 0, len(f.known))
	for name := range f.known {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Printf("rules %d, client rules %d, rebuilt %d\n", f.lists.count, f.clients.engine.count, f.rebuilt)
	fmt.Printf("blocked %d, exceptions %d, digest %016x\n", blocked, exceptions, digest.Sum64())
	for _, name := range names {
		fmt.Printf("%-8s %d queries, %d denied\n", name, f.known[name].queries, f.known[name].denied)
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "dnsfilter:", err)
		os.Exit(1)
	}
}
