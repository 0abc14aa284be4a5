// Command clientpool replays reconcile events for a fleet of clusters.
package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sort"
	"strings"
	"sync"
	"time"
)

type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

type dialHolder struct {
	dial DialFunc
}

type RestConfig struct {
	Host   string
	CAData []byte
	Token  string
	Dial   *dialHolder
}

type transportConfig struct {
	host       string
	caData     []byte
	serverName string
	dialHolder *dialHolder
}

type tlsCacheKey struct {
	caHash     string
	serverName string
	dialer     *dialHolder
}

type clusterTransport struct {
	pool   *x509.CertPool
	roots  map[string]string
	server string
}

func (t *clusterTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	sum := sha256.Sum256([]byte(req.Method + " " + t.server + req.URL.Path + req.Header.Get("Authorization")))
	issuer := t.roots[fmt.Sprintf("ca-%d", int(sum[0])%max(1, len(t.roots)))]
	body := hex.EncodeToString(sum[:8]) + ":" + issuer
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

type transportCache struct {
	mu      sync.Mutex
	entries map[tlsCacheKey]http.RoundTripper
}

func (c *transportCache) get(cfg *transportConfig) (http.RoundTripper, error) {
	key := cacheKey(cfg)
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, ok := c.entries[key]; ok {
		return t, nil
	}
	t, err := newTransport(cfg)
	if err != nil {
		return nil, err
	}
	c.entries[key] = t
	return t, nil
}

func cacheKey(cfg *transportConfig) tlsCacheKey {
	sum := sha256.Sum256(cfg.caData)
	return tlsCacheKey{caHash: hex.EncodeToString(sum[:]), serverName: cfg.serverName, dialer: cfg.dialHolder}
}

func newTransport(cfg *transportConfig) (http.RoundTripper, error) {
	t := &clusterTransport{pool: x509.NewCertPool(), roots: map[string]string{}, server: cfg.serverName}
	rest := cfg.caData
	for {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			break
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("bad CA bundle for %s: %w", cfg.host, err)
		}
		t.pool.AddCert(cert)
		t.roots[cert.Subject.CommonName] = cert.SerialNumber.String()
	}
	return t, nil
}

func (c *RestConfig) transportConfig() *transportConfig {
	return &transportConfig{host: c.Host, caData: c.CAData, serverName: strings.Split(c.Host, ":")[0], dialHolder: c.Dial}
}

type Client struct {
	cfg *RestConfig
	rt  http.RoundTripper
}

func (c *Client) Get(path string) (string, error) {
	req, err := http.NewRequest(http.MethodGet, "https://"+c.cfg.Host+path, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	resp, err := c.rt.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return string(data), err
}

type Controller struct {
	clusters map[string]*RestConfig
	cache    *transportCache
	observed map[string]map[string]int
}

func (ct *Controller) clientFor(cluster string) (*Client, error) {
	cfg := ct.clusters[cluster]
	rt, err := ct.cache.get(cfg.transportConfig())
	if err != nil {
		return nil, err
	}
	return &Client{cfg: cfg, rt: rt}, nil
}

func (ct *Controller) reconcile(event string) error {
	parts := strings.SplitN(event, "/", 3)
	if len(parts) != 3 {
		return fmt.Errorf("malformed event %q", event)
	}
	client, err := ct.clientFor(parts[0])
	if err != nil {
		return err
	}
	body, err := client.Get("/apis/" + parts[1] + "/" + parts[2])
	if err != nil {
		return err
	}
	_, issuer, _ := strings.Cut(body, ":")
	if ct.observed[parts[0]] == nil {
		ct.observed[parts[0]] = map[string]int{}
	}
	ct.observed[parts[0]][issuer]++
	return nil
}

func caBundle(cluster, n int) []byte {
	var out bytes.Buffer
	for i := 0; i < n; i++ {
		seed := sha256.Sum256([]byte(fmt.Sprintf("%d/%d", cluster, i)))
		key := ed25519.NewKeyFromSeed(seed[:])
		when := time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC)
		tmpl := &x509.Certificate{SerialNumber: big.NewInt(int64(cluster*1000 + i)), Subject: pkix.Name{CommonName: fmt.Sprintf("ca-%d", i)},
			NotBefore: when, NotAfter: when.AddDate(10, 0, 0), IsCA: true, BasicConstraintsValid: true}
		der, err := x509.CreateCertificate(nil, tmpl, tmpl, key.Public(), key)
		if err != nil {
			log.Fatal(err)
		}
		pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	return out.Bytes()
}

func main() {
	ct := &Controller{clusters: map[string]*RestConfig{}, observed: map[string]map[string]int{},
		cache: &transportCache{entries: map[tlsCacheKey]http.RoundTripper{}}}
	dialer := &dialHolder{dial: (&net.Dialer{Timeout: 5 * time.Second}).DialContext}
	for i := 0; i < 16; i++ {
		name := fmt.Sprintf("cluster-%02d", i)
		ct.clusters[name] = &RestConfig{Host: name + ".example.internal:6443", CAData: caBundle(i, 40),
			Token: fmt.Sprintf("tok-%04x", i*7919), Dial: dialer}
	}
	for i := 0; i < 2300; i++ {
		ev := fmt.Sprintf("cluster-%02d/deployments/app-%d", i*i%16, i%211)
		if err := ct.reconcile(ev); err != nil {
			log.Fatal(err)
		}
	}
	var names []string
	for name := range ct.observed {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		total, best := 0, ""
		for issuer, n := range ct.observed[name] {
			total += n
			if best == "" || n > ct.observed[name][best] || n == ct.observed[name][best] && issuer < best {
				best = issuer
			}
		}
		fmt.Printf("%s requests=%d issuers=%d top=%s\n", name, total, len(ct.observed[name]), best)
	}
}
