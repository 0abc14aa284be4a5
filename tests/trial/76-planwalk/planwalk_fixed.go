// planwalk: reads a configuration of resources that refer to each other and the state of those that exist, walks them in the order of their
// dependencies, and prints a plan of what would be changed. PLAN_LOG sets the level of its log.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"os"
	"sort"
	"strings"
)

// LevelFilter is a writer for a log whose lines start with a level, as [DEBUG]. It lets through those of at least a level.
type LevelFilter struct {
	Levels []string
	Min    string
	Writer io.Writer
}

// logs is what the log of the program goes through.
var logs = &LevelFilter{Levels: []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR"}, Min: "WARN", Writer: os.Stderr}

func (f *LevelFilter) passes(line []byte) bool {
	level := ""
	if from := bytes.IndexByte(line, '['); from >= 0 {
		if to := bytes.IndexByte(line[from:], ']'); to >= 0 {
			level = string(line[from+1 : from+to])
		}
	}
	return f.lets(level)
}

func (f *LevelFilter) lets(level string) bool {
	for _, one := range f.Levels {
		if one == f.Min {
			return true
		}
		if one == level {
			return false
		}
	}
	return true
}

func (f *LevelFilter) Write(p []byte) (int, error) {
	if !f.passes(p) {
		return len(p), nil
	}
	return f.Writer.Write(p)
}

type Attribute struct {
	Name, Text string
}

type Resource struct {
	Type, Name string
	Attributes []Attribute
	DependsOn  []*Resource
	Values     map[string]string
	visited    bool
}

func (r *Resource) Address() string {
	return r.Type + "." + r.Name
}

type Module struct {
	Variables map[string]string
	Resources map[string]*Resource
	Order     []*Resource
}

func readModule(path string) (*Module, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &Module{Variables: map[string]string{}, Resources: map[string]*Resource{}}
	var current *Resource
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "variable "); ok {
			name, value, _ := strings.Cut(rest, " ")
			m.Variables[name] = value
		} else if rest, ok := strings.CutPrefix(line, "resource "); ok {
			kind, name, _ := strings.Cut(rest, ".")
			current = &Resource{Type: kind, Name: name, Values: map[string]string{}}
			m.Resources[rest] = current
			m.Order = append(m.Order, current)
		} else if name, text, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && current != nil {
			current.Attributes = append(current.Attributes, Attribute{name, text})
		} else {
			return nil, fmt.Errorf("%s: cannot understand %q", path, line)
		}
	}
	return m, lines.Err()
}

// references calls f with what each ${...} of a text refers to, and returns the text with what f answers in its place.
func references(text string, f func(string) string) string {
	var out strings.Builder
	for {
		from := strings.Index(text, "${")
		if from < 0 {
			break
		}
		to := strings.IndexByte(text[from:], '}')
		if to < 0 {
			break
		}
		out.WriteString(text[:from])
		out.WriteString(f(text[from+2 : from+to]))
		text = text[from+to+1:]
	}
	out.WriteString(text)
	return out.String()
}

func (m *Module) connect() error {
	var missing error
	for _, r := range m.Order {
		for _, a := range r.Attributes {
			references(a.Text, func(reference string) string {
				if strings.HasPrefix(reference, "var.") {
					return ""
				}
				address := reference[:strings.LastIndexByte(reference, '.')]
				on := m.Resources[address]
				if on == nil {
					missing = fmt.Errorf("%s: no resource %s", r.Address(), address)
					return ""
				}
				r.DependsOn = append(r.DependsOn, on)
				return ""
			})
		}
	}
	return missing
}

type Planner struct {
	module, state        *Module
	create, update, same int
	changes              []string
	walked, longest      int
}

func (p *Planner) evaluate(r *Resource, text string) string {
	value := references(text, func(reference string) string {
		last := strings.LastIndexByte(reference, '.')
		if reference[:last] == "var" {
			return p.module.Variables[reference[last+1:]]
		}
		on := p.module.Resources[reference[:last]]
		if reference[last+1:] == "id" {
			return fmt.Sprintf("%s-%06x", on.Type, crc32.ChecksumIEEE([]byte(on.Address()))>>8)
		}
		return on.Values[reference[last+1:]]
	})
	if logs.lets("TRACE") {
		log.Printf("[TRACE] planwalk: %s: evaluated %q to %q with %+v", r.Address(), text, value, p.module.Variables)
	}
	return value
}

// visit plans a resource after those that it depends on.
func (p *Planner) visit(r *Resource, depth int) {
	if r.visited {
		return
	}
	r.visited = true
	for _, on := range r.DependsOn {
		p.visit(on, depth+1)
	}
	p.walked++
	if depth > p.longest {
		p.longest = depth
	}
	if logs.lets("TRACE") {
		log.Printf("[TRACE] planwalk: visiting %s at depth %d: %+v", r.Address(), depth, *r)
	}
	for _, a := range r.Attributes {
		value := p.evaluate(r, a.Text)
		if len(value) > 60 {
			value = value[:60]
		}
		r.Values[a.Name] = value
	}
	p.diff(r)
}

func (p *Planner) diff(r *Resource) {
	old := p.state.Resources[r.Address()]
	if old == nil {
		if logs.lets("DEBUG") {
			log.Printf("[DEBUG] planwalk: %s does not exist: create with %+v", r.Address(), r.Values)
		}
		p.create++
		p.changes = append(p.changes, "+ "+r.Address())
		return
	}
	before := map[string]string{}
	for _, a := range old.Attributes {
		before[a.Name] = a.Text
	}
	var differ []string
	for _, a := range r.Attributes {
		if was, ok := before[a.Name]; !ok || was != "unknown" && was != r.Values[a.Name] {
			differ = append(differ, a.Name)
		}
	}
	if logs.lets("DEBUG") {
		log.Printf("[DEBUG] planwalk: %s: before %+v, planned %+v, differing %v", r.Address(), before, r.Values, differ)
	}
	if len(differ) == 0 {
		p.same++
		return
	}
	sort.Strings(differ)
	p.update++
	p.changes = append(p.changes, "~ "+r.Address()+" "+strings.Join(differ, ","))
}

func run() error {
	if level := os.Getenv("PLAN_LOG"); level != "" {
		logs.Min = level
	}
	log.SetOutput(logs)
	module, err := readModule("data/config.tfx")
	if err != nil {
		return err
	}
	state, err := readModule("data/state.tfx")
	if err != nil {
		return err
	}
	if err := module.connect(); err != nil {
		return err
	}
	planner := &Planner{module: module, state: state}
	for i := len(module.Order) - 1; i >= 0; i-- {
		planner.visit(module.Order[i], 0)
	}
	sum := crc32.NewIEEE()
	for _, r := range module.Order {
		for _, a := range r.Attributes {
			fmt.Fprintf(sum, "%s %s\n", a.Name, r.Values[a.Name])
		}
	}
	log.Printf("[INFO] planwalk: %d resources walked", planner.walked)
	fmt.Printf("plan: %d to create, %d to update, %d as they are; checksum %08x\n", planner.create, planner.update, planner.same, sum.Sum32())
	fmt.Printf("longest way of references: %d\n", planner.longest)
	for i, change := range planner.changes {
		if i%1000 == 0 {
			fmt.Println(change)
		}
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "planwalk:", err)
		os.Exit(1)
	}
}
