// Command edgegzip serves a synthetic request log through a small middleware chain.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"os"
	"sort"
	"strconv"
	"strings"
)

type Handler interface {
	ServeHTTP(http.ResponseWriter, *http.Request) (int, error)
}

type HandlerFunc func(http.ResponseWriter, *http.Request) (int, error)

func (f HandlerFunc) ServeHTTP(w http.ResponseWriter, r *http.Request) (int, error) { return f(w, r) }

type Config struct {
	Level      int
	MinLength  int
	Extensions map[string]bool
	Excluded   []string
}

type Gzip struct {
	Next    Handler
	Configs []Config
}

type gzipResponseWriter struct {
	io.Writer
	http.ResponseWriter
	wroteHeader bool
}

func (w *gzipResponseWriter) WriteHeader(code int) {
	if w.wroteHeader {
		return
	}
	w.wroteHeader = true
	w.Header().Del("Content-Length")
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Add("Vary", "Accept-Encoding")
	w.ResponseWriter.WriteHeader(code)
}

func (w *gzipResponseWriter) Write(b []byte) (int, error) {
	if !w.wroteHeader {
		w.WriteHeader(http.StatusOK)
	}
	return w.Writer.Write(b)
}

func (c *Config) shouldCompress(r *http.Request) bool {
	for _, p := range c.Excluded {
		if strings.HasPrefix(r.URL.Path, p) {
			return false
		}
	}
	dot := strings.LastIndexByte(r.URL.Path, '.')
	return dot < 0 || c.Extensions[r.URL.Path[dot:]]
}

func acceptsGzip(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		enc, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if enc == "gzip" && strings.TrimSpace(q) != "q=0" {
			return true
		}
	}
	return false
}

func (g Gzip) ServeHTTP(w http.ResponseWriter, r *http.Request) (int, error) {
	if !acceptsGzip(r) {
		return g.Next.ServeHTTP(w, r)
	}
	for i := range g.Configs {
		c := &g.Configs[i]
		if !c.shouldCompress(r) {
			continue
		}
		r.Header.Del("Accept-Encoding")
		gz, err := newWriter(c, w)
		if err != nil {
			return http.StatusInternalServerError, err
		}
		defer gz.Close()
		return g.Next.ServeHTTP(&gzipResponseWriter{Writer: gz, ResponseWriter: w}, r)
	}
	return g.Next.ServeHTTP(w, r)
}

func newWriter(c *Config, w io.Writer) (*gzip.Writer, error) {
	if c.Level >= gzip.BestSpeed && c.Level <= gzip.BestCompression {
		return gzip.NewWriterLevel(w, c.Level)
	}
	return gzip.NewWriter(w), nil
}

type product struct {
	sku   string
	name  string
	price int
}

type store struct {
	items map[string]product
	order []string
}

func newStore(n int) *store {
	s := &store{items: map[string]product{}}
	for i := 0; i < n; i++ {
		sku := fmt.Sprintf("sku-%05d", i*37%99991)
		s.items[sku] = product{sku, fmt.Sprintf("Widget %c%d", 'A'+i%26, i), 99 + i*i%5000}
		s.order = append(s.order, sku)
	}
	sort.Strings(s.order)
	return s
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) (int, error) {
	q := r.URL.Query()
	page, err := strconv.Atoi(q.Get("page"))
	if err != nil || page < 0 {
		return http.StatusBadRequest, errors.New("bad page")
	}
	per := 4
	start := page * per % len(s.order)
	end := min(start+per, len(s.order))
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"page":`+strconv.Itoa(page)+`,"items":[`)
	for i, sku := range s.order[start:end] {
		p := s.items[sku]
		if i > 0 {
			io.WriteString(w, ",")
		}
		fmt.Fprintf(w, `{"sku":%q,"name":%q,"price":%d.%02d}`, p.sku, p.name, p.price/100, p.price%100)
	}
	io.WriteString(w, "]}\n")
	return http.StatusOK, nil
}

type recorder struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(code int)        { r.code = code }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

func withServerHeader(next Handler) Handler {
	return HandlerFunc(func(w http.ResponseWriter, r *http.Request) (int, error) {
		w.Header().Set("Server", "edge")
		return next.ServeHTTP(w, r)
	})
}

func parseRequest(line string) (*http.Request, error) {
	f := strings.Split(line, " ")
	if len(f) != 3 {
		return nil, fmt.Errorf("malformed request line %q", line)
	}
	u, err := url.ParseRequestURI(f[1])
	if err != nil {
		return nil, err
	}
	return &http.Request{Method: f[0], URL: u, Header: http.Header{"Accept-Encoding": {f[2]}}}, nil
}

func main() {
	gz := Gzip{Next: newStore(900), Configs: []Config{{Level: 1, Extensions: map[string]bool{".json": true, ".html": true}, Excluded: []string{"/raw/"}}}}
	chain := withServerHeader(gz)
	encodings := []string{"gzip,deflate", "br,gzip;q=0.8", "identity", "deflate,gzip", "gzip;q=0"}
	paths := []string{"/catalog", "/catalog.json", "/catalog", "/raw/catalog", "/index.html", "/logo.png"}
	var total, compressed, failures int
	sum := crc32.NewIEEE()
	for i := 0; i < 7000; i++ {
		line := fmt.Sprintf("GET %s?page=%d %s", paths[i%len(paths)], i%331, encodings[i*7%5])
		req, err := parseRequest(line)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		rec := &recorder{header: http.Header{}, code: http.StatusOK}
		if _, err := chain.ServeHTTP(rec, req); err != nil {
			failures++
			continue
		}
		if rec.header.Get("Content-Encoding") == "gzip" {
			compressed++
		}
		total += rec.body.Len()
		sum.Write(rec.body.Bytes())
	}
	fmt.Printf("requests=7000 compressed=%d failures=%d bytes=%d crc=%08x\n", compressed, failures, total, sum.Sum32())
}
