// Replays a recorded watch stream through the cache and the reconciler of a
// small cluster controller.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
)

type Container struct {
	Name     string            `json:"name"`
	Image    string            `json:"image"`
	Env      map[string]string `json:"env"`
	Ports    []int             `json:"ports"`
	CPUMilli int64             `json:"cpuMilli"`
	MemMi    int64             `json:"memMi"`
}

type Condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

type PodSpec struct {
	NodeName   string      `json:"nodeName"`
	Priority   int         `json:"priority"`
	Containers []Container `json:"containers"`
}

type PodStatus struct {
	Phase      string      `json:"phase"`
	Restarts   int         `json:"restarts"`
	Conditions []Condition `json:"conditions"`
}

type Pod struct {
	Kind            string            `json:"kind"`
	Namespace       string            `json:"namespace"`
	Name            string            `json:"name"`
	ResourceVersion int64             `json:"resourceVersion"`
	Labels          map[string]string `json:"labels"`
	Annotations     map[string]string `json:"annotations"`
	Spec            PodSpec           `json:"spec"`
	Status          PodStatus         `json:"status"`
}

func (p *Pod) Key() string { return p.Namespace + "/" + p.Name }

type Event struct {
	Type   string `json:"type"`
	Object *Pod   `json:"object"`
}

// ---- leveled logging ----

type Level int

type Logger struct {
	verbosity Level
	out       *log.Logger
}

type Verbose struct {
	enabled bool
	out     *log.Logger
}

func (l *Logger) V(level Level) Verbose {
	return Verbose{enabled: level <= l.verbosity, out: l.out}
}

func (v Verbose) Enabled() bool { return v.enabled }

func (v Verbose) Infof(format string, args ...any) {
	if v.enabled {
		v.out.Printf(format, args...)
	}
}

// ---- comparing objects ----

// ObjectDiff returns the fields in which two objects differ, one per line.
func ObjectDiff(a, b any) string {
	lines := diffValues(nil, "object", reflect.ValueOf(a), reflect.ValueOf(b))
	if len(lines) == 0 {
		return "<no diffs>"
	}
	return strings.Join(lines, "\n")
}

func diffValues(lines []string, path string, a, b reflect.Value) []string {
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				lines = append(lines, fmt.Sprintf("%s: %v != %v", path, a, b))
			}
			return lines
		}
		return diffValues(lines, path, a.Elem(), b.Elem())
	case reflect.Struct:
		for i := 0; i < a.NumField(); i++ {
			lines = diffValues(lines, path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	case reflect.Slice:
		n := max(a.Len(), b.Len())
		for i := 0; i < n; i++ {
			p := fmt.Sprintf("%s[%d]", path, i)
			if i >= a.Len() || i >= b.Len() {
				lines = append(lines, p+": missing on one side")
				continue
			}
			lines = diffValues(lines, p, a.Index(i), b.Index(i))
		}
	case reflect.Map:
		keys := append(a.MapKeys(), b.MapKeys()...)
		sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
		for i, k := range keys {
			if i > 0 && k.String() == keys[i-1].String() {
				continue
			}
			p := fmt.Sprintf("%s[%q]", path, k.String())
			av, bv := a.MapIndex(k), b.MapIndex(k)
			if !av.IsValid() || !bv.IsValid() {
				lines = append(lines, p+": missing on one side")
				continue
			}
			lines = diffValues(lines, p, av, bv)
		}
	default:
		if !reflect.DeepEqual(a.Interface(), b.Interface()) {
			lines = append(lines, fmt.Sprintf("%s: %#v != %#v", path, a.Interface(), b.Interface()))
		}
	}
	return lines
}

// ---- controller ----

type NodeUsage struct {
	Pods     int
	CPUMilli int64
	MemMi    int64
}

type Controller struct {
	log      *Logger
	store    map[string]*Pod
	nodes    map[string]*NodeUsage
	byApp    map[string]map[string]struct{}
	actions  map[string]int
	revision uint64
}

func NewController(l *Logger) *Controller {
	return &Controller{
		log:     l,
		store:   map[string]*Pod{},
		nodes:   map[string]*NodeUsage{},
		byApp:   map[string]map[string]struct{}{},
		actions: map[string]int{},
	}
}

func (c *Controller) account(p *Pod, sign int) {
	u := c.nodes[p.Spec.NodeName]
	if u == nil {
		u = &NodeUsage{}
		c.nodes[p.Spec.NodeName] = u
	}
	u.Pods += sign
	for i := range p.Spec.Containers {
		u.CPUMilli += int64(sign) * p.Spec.Containers[i].CPUMilli
		u.MemMi += int64(sign) * p.Spec.Containers[i].MemMi
	}
	app := p.Labels["app"]
	if sign > 0 {
		if c.byApp[app] == nil {
			c.byApp[app] = map[string]struct{}{}
		}
		c.byApp[app][p.Key()] = struct{}{}
	} else {
		delete(c.byApp[app], p.Key())
	}
}

func (c *Controller) onAdd(p *Pod) {
	c.log.V(4).Infof("pod %s added on %s", p.Key(), p.Spec.NodeName)
	c.store[p.Key()] = p
	c.account(p, +1)
	c.reconcile(nil, p)
}

func (c *Controller) onUpdate(p *Pod) {
	old, ok := c.store[p.Key()]
	if !ok {
		c.onAdd(p)
		return
	}
	if p.ResourceVersion <= old.ResourceVersion {
		c.log.V(2).Infof("pod %s: stale update %d", p.Key(), p.ResourceVersion)
		return
	}
	c.log.V(5).Infof("pod %s updated:\n%s", p.Key(), ObjectDiff(old, p))
	c.account(old, -1)
	c.store[p.Key()] = p
	c.account(p, +1)
	c.reconcile(old, p)
}

func (c *Controller) onDelete(p *Pod) {
	if old, ok := c.store[p.Key()]; ok {
		c.log.V(4).Infof("pod %s deleted", p.Key())
		c.account(old, -1)
		delete(c.store, p.Key())
		c.actions["cleanup"]++
	}
}

func ready(p *Pod) bool {
	for _, cond := range p.Status.Conditions {
		if cond.Type == "Ready" {
			return cond.Status == "True"
		}
	}
	return false
}

func templateHash(p *Pod) uint64 {
	h := fnv.New64a()
	b, _ := json.Marshal(p.Spec)
	h.Write(b)
	return h.Sum64()
}

// reconcile decides what has to be done about a pod.
func (c *Controller) reconcile(old, p *Pod) {
	c.revision = c.revision*31 + templateHash(p)
	switch {
	case p.Status.Phase == "Failed" && p.Status.Restarts > 3:
		c.actions["evict"]++
	case p.Status.Phase == "Failed":
		c.actions["restart"]++
	case p.Status.Phase == "Running" && !ready(p):
		c.actions["probe"]++
	}
	if old != nil && old.Spec.NodeName != p.Spec.NodeName {
		c.actions["rebind"]++
	}
	if u := c.nodes[p.Spec.NodeName]; u.CPUMilli > 14000 {
		c.actions["pressure"]++
	}
}

func (c *Controller) replay(r io.Reader) (int, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	n := 0
	for {
		line, err := br.ReadBytes('\n')
		if len(line) == 0 && err == io.EOF {
			return n, nil
		}
		var ev Event
		if err := json.Unmarshal(line, &ev); err != nil {
			return n, fmt.Errorf("event %d: %w", n, err)
		}
		switch ev.Type {
		case "ADDED":
			c.onAdd(ev.Object)
		case "MODIFIED":
			c.onUpdate(ev.Object)
		case "DELETED":
			c.onDelete(ev.Object)
		}
		n++
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func main() {
	exe, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	f, err := os.Open(filepath.Join(filepath.Dir(exe), "data", "events.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	c := NewController(&Logger{verbosity: 2, out: log.New(os.Stderr, "", log.LstdFlags)})
	n, err := c.replay(f)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d events, %d pods, revision %016x\n", n, len(c.store), c.revision)
	for _, k := range sortedKeys(c.actions) {
		fmt.Printf("action %-9s %d\n", k, c.actions[k])
	}
	for _, k := range sortedKeys(c.nodes) {
		fmt.Printf("%s: %d pods %dm cpu %dMi\n", k, c.nodes[k].Pods, c.nodes[k].CPUMilli, c.nodes[k].MemMi)
	}
	apps := 0
	for _, set := range c.byApp {
		if len(set) > 0 {
			apps++
		}
	}
	fmt.Printf("%d apps\n", apps)
}
