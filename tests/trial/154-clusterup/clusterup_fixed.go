// clusterup brings up a small cluster: it starts the control plane's interface,
// creates the objects in order and waits for each before it goes on.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

type Object struct {
	Kind   string            `json:"kind"`
	Name   string            `json:"name"`
	Spec   map[string]string `json:"spec"`
	Status string            `json:"status"`
	Digest string            `json:"digest"`
}

// ---- control plane -----------------------------------------------------------

type store struct {
	mu      sync.Mutex
	objects map[string]*Object
}

func (s *store) admit(o *Object) {
	h := sha256.New()
	var keys []string
	for k := range o.Spec {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for round := 0; round < 2000; round++ {
		for _, k := range keys {
			io.WriteString(h, k+"="+o.Spec[k]+"\n")
		}
	}
	o.Digest = hex.EncodeToString(h.Sum(nil))[:16]
	o.Status = "Ready"
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(r.URL.Path, "/api/")
	switch r.Method {
	case http.MethodPost:
		var o Object
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.admit(&o)
		s.mu.Lock()
		s.objects[o.Kind+"/"+o.Name] = &o
		s.mu.Unlock()
		w.WriteHeader(http.StatusCreated)
	case http.MethodGet:
		s.mu.Lock()
		o := s.objects[key]
		s.mu.Unlock()
		if o == nil {
			http.NotFound(w, r)
			return
		}
		json.NewEncoder(w).Encode(o)
	}
}

func serve() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go http.Serve(l, &store{objects: map[string]*Object{}})
	return "http://" + l.Addr().String(), nil
}

// ---- waiting -------------------------------------------------------------------

var errTimeout = errors.New("timed out waiting for the condition")

type conditionFunc func() (bool, error)

// poll tries cond every interval until it holds, fails, or timeout has passed.
func poll(interval, timeout time.Duration, cond conditionFunc) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	deadline := time.Now().Add(timeout)
	for {
		ok, err := cond()
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
		if time.Now().After(deadline) {
			return errTimeout
		}
		<-ticker.C
	}
}

// ---- deployer --------------------------------------------------------------------

type deployer struct {
	base   string
	client *http.Client
	log    []string
}

func (d *deployer) create(o *Object) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	resp, err := d.client.Post(d.base+"/api/"+o.Kind, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("create %s/%s: %s", o.Kind, o.Name, resp.Status)
	}
	return nil
}

func (d *deployer) fetch(kind, name string) (*Object, error) {
	resp, err := d.client.Get(d.base + "/api/" + kind + "/" + name)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode == http.StatusNotFound {
		return nil, err
	}
	var o Object
	return &o, json.Unmarshal(data, &o)
}

func (d *deployer) waitReady(o *Object) error {
	return poll(100*time.Millisecond, 10*time.Second, func() (bool, error) {
		got, err := d.fetch(o.Kind, o.Name)
		if err != nil || got == nil {
			return false, err
		}
		if got.Status == "Ready" {
			d.log = append(d.log, fmt.Sprintf("%s/%s %s", got.Kind, got.Name, got.Digest))
			return true, nil
		}
		return false, nil
	})
}

func (d *deployer) apply(objects []*Object) error {
	for _, o := range objects {
		if err := d.create(o); err != nil {
			return err
		}
		if err := d.waitReady(o); err != nil {
			return fmt.Errorf("%s/%s: %w", o.Kind, o.Name, err)
		}
	}
	return nil
}

func manifests() []*Object {
	var out []*Object
	add := func(kind, name string, kv ...string) {
		spec := map[string]string{}
		for i := 0; i+1 < len(kv); i += 2 {
			spec[kv[i]] = kv[i+1]
		}
		out = append(out, &Object{Kind: kind, Name: name, Spec: spec})
	}
	for _, crd := range []string{"clusters", "machines", "machinesets", "machinedeployments"} {
		add("definitions", crd, "group", "cluster.example", "version", "v1")
	}
	add("namespaces", "kube-system", "quota", "none")
	add("namespaces", "default", "quota", "10")
	add("clusters", "test1", "pods", "10.2.0.0/16", "services", "10.3.0.0/16")
	for i := 0; i < 3; i++ {
		add("machines", fmt.Sprintf("master-%d", i), "role", "master", "zone", string(rune('a'+i)))
	}
	for i := 0; i < 5; i++ {
		add("machines", fmt.Sprintf("node-%d", i), "role", "node", "zone", string(rune('a'+i%3)), "disk", "40")
	}
	return out
}

func main() {
	base, err := serve()
	if err != nil {
		log.Fatal(err)
	}
	d := &deployer{base: base, client: &http.Client{Timeout: 5 * time.Second}}
	if err := d.apply(manifests()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, l := range d.log {
		fmt.Println(l)
	}
	fmt.Println(len(d.log), "objects ready")
}
