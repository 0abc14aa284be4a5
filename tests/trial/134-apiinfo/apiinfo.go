// Command apiinfo lists the kinds that a cluster serves: it asks the API server for its groups, fetches the resources
// of each group version, builds the mapping from kinds to resources, and resolves the manifests of a deployment with it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

// ---- rate limit ----

// RateLimiter is a bucket of tokens that fills up at a fixed rate.
type RateLimiter struct {
	mu     sync.Mutex
	qps    float64
	burst  float64
	tokens float64
	last   time.Time
}

func NewRateLimiter(qps float64, burst int) *RateLimiter {
	return &RateLimiter{qps: qps, burst: float64(burst), tokens: float64(burst), last: time.Now()}
}

// Accept takes a token and returns when it may be used.
func (l *RateLimiter) Accept() {
	l.mu.Lock()
	now := time.Now()
	l.tokens += now.Sub(l.last).Seconds() * l.qps
	if l.tokens > l.burst {
		l.tokens = l.burst
	}
	l.last = now
	l.tokens--
	missing := -l.tokens
	l.mu.Unlock()
	if missing > 0 {
		time.Sleep(time.Duration(missing / l.qps * float64(time.Second)))
	}
}

// ---- configuration and client ----

type Config struct {
	Host    string
	QPS     float64
	Burst   int
	Timeout time.Duration
}

const (
	defaultQPS   = 50
	defaultBurst = 100
)

func setDefaults(c *Config) {
	if c.Timeout == 0 {
		c.Timeout = 32 * time.Second
	}
	if c.QPS == 0 {
		c.QPS = defaultQPS
	}
	if c.Burst == 0 {
		c.Burst = defaultBurst
	}
}

type APIGroup struct {
	Name     string   `json:"name"`
	Versions []string `json:"versions"`
}

type APIResource struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"`
	Namespaced bool     `json:"namespaced"`
	Verbs      []string `json:"verbs"`
	ShortNames []string `json:"shortNames,omitempty"`
}

type DiscoveryClient struct {
	config  Config
	http    *http.Client
	limiter *RateLimiter
	sent    int
	bytes   int
}

func NewDiscoveryClient(c Config) *DiscoveryClient {
	setDefaults(&c)
	return &DiscoveryClient{config: c, http: &http.Client{Timeout: c.Timeout}, limiter: NewRateLimiter(c.QPS, c.Burst)}
}

func (d *DiscoveryClient) get(path string, into any) error {
	d.limiter.Accept()
	response, err := d.http.Get("http://" + d.config.Host + path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	d.sent++
	d.bytes += len(body)
	return json.Unmarshal(body, into)
}

func (d *DiscoveryClient) ServerGroups() ([]APIGroup, error) {
	var groups []APIGroup
	err := d.get("/apis", &groups)
	return groups, err
}

func (d *DiscoveryClient) ServerResources(groupVersion string) ([]APIResource, error) {
	var resources []APIResource
	err := d.get("/apis/"+groupVersion, &resources)
	return resources, err
}

// ---- mapping ----

type Mapping struct {
	GroupVersion string
	Resource     APIResource
}

type Mapper struct {
	byKind map[string][]Mapping
	short  map[string]string
}

func (m *Mapper) add(groupVersion string, resources []APIResource) {
	for _, r := range resources {
		m.byKind[r.Kind] = append(m.byKind[r.Kind], Mapping{groupVersion, r})
		for _, s := range r.ShortNames {
			m.short[s] = r.Name
		}
	}
}

func (m *Mapper) resolve(kind, group string) (Mapping, bool) {
	for _, c := range m.byKind[kind] {
		if strings.HasPrefix(c.GroupVersion, group+"/") {
			return c, true
		}
	}
	return Mapping{}, false
}

func discover(d *DiscoveryClient) (*Mapper, int, error) {
	mapper := &Mapper{byKind: map[string][]Mapping{}, short: map[string]string{}}
	groups, err := d.ServerGroups()
	if err != nil {
		return nil, 0, err
	}
	versions := 0
	for _, g := range groups {
		for _, v := range g.Versions {
			resources, err := d.ServerResources(g.Name + "/" + v)
			if err != nil {
				return nil, 0, err
			}
			mapper.add(g.Name+"/"+v, resources)
			versions++
		}
	}
	return mapper, versions, nil
}

// ---- the API server ----

func serverGroups() []APIGroup {
	var groups []APIGroup
	for i := 0; i < 96; i++ {
		g := APIGroup{Name: fmt.Sprintf("g%02d.cloud.example", i), Versions: []string{"v1", "v1beta1"}}
		if i%3 == 0 {
			g.Versions = append(g.Versions, "v1alpha1")
		}
		groups = append(groups, g)
	}
	return groups
}

func serverResources(group string) []APIResource {
	var resources []APIResource
	for i := 0; i < 12; i++ {
		name := fmt.Sprintf("%s%c%d", strings.SplitN(group, ".", 2)[0], 'a'+i, len(group)%7)
		r := APIResource{Name: name + "s", Kind: strings.ToUpper(name[:1]) + name[1:], Namespaced: i%3 != 0}
		r.Verbs = []string{"create", "delete", "get", "list", "patch", "update", "watch"}
		if i%4 == 0 {
			r.ShortNames = []string{name[len(name)-3:]}
		}
		resources = append(resources, r)
	}
	return resources
}

func startServer() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/apis", func(w http.ResponseWriter, r *http.Request) { json.NewEncoder(w).Encode(serverGroups()) })
	mux.HandleFunc("/apis/", func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/apis/"), "/")
		if len(parts) != 2 {
			http.NotFound(w, r)
			return
		}
		json.NewEncoder(w).Encode(serverResources(parts[0]))
	})
	go http.Serve(listener, mux)
	return listener.Addr().String(), nil
}

// ---- manifests ----

type manifest struct{ kind, group, name string }

func readManifests(in io.Reader) []manifest {
	var all []manifest
	var m manifest
	scanner := bufio.NewScanner(in)
	for scanner.Scan() {
		key, value, _ := strings.Cut(scanner.Text(), ": ")
		switch key {
		case "---":
			if m.kind != "" {
				all = append(all, m)
			}
			m = manifest{}
		case "apiVersion":
			m.group, _, _ = strings.Cut(value, "/")
		case "kind":
			m.kind = value
		case "name":
			m.name = value
		}
	}
	return all
}

func sampleManifests() string {
	var b strings.Builder
	for i := 0; i < 4000; i++ {
		g := (i * 37) % 101
		group := fmt.Sprintf("g%02d.cloud.example", g)
		fmt.Fprintf(&b, "apiVersion: %s/v1\nkind: G%02d%c%d\nname: item-%d\n---\n", group, g, 'a'+i%13, len(group)%7, i)
	}
	return b.String()
}

func main() {
	host, err := startServer()
	if err != nil {
		fmt.Fprintln(os.Stderr, "apiinfo:", err)
		os.Exit(1)
	}
	client := NewDiscoveryClient(Config{Host: host})
	mapper, versions, err := discover(client)
	if err != nil {
		fmt.Fprintln(os.Stderr, "apiinfo:", err)
		os.Exit(1)
	}
	found, unknown := map[string]int{}, 0
	for _, m := range readManifests(strings.NewReader(sampleManifests())) {
		if mapping, ok := mapper.resolve(m.kind, m.group); ok {
			found[mapping.Resource.Name]++
		} else {
			unknown++
		}
	}
	names := make([]string, 0, len(found))
	for n := range found {
		names = append(names, n)
	}
	sort.Strings(names)
	fmt.Printf("group versions %d, kinds %d, short names %d, requests %d, bytes %d\n", versions, len(mapper.byKind), len(mapper.short), client.sent, client.bytes)
	fmt.Printf("resources used %d, unknown %d\n", len(names), unknown)
	for i := 0; i < len(names); i += 200 {
		fmt.Println(names[i], found[names[i]])
	}
}
