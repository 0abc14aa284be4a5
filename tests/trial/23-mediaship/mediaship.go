// mediaship makes thumbnails of raw frames, compresses them and uploads them to an
// object store, each step in its own stage of a pipeline.
package main

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sort"
	"sync"
	"time"
)

type Frame struct {
	Name   string
	W, H   int
	Pixels []byte
}

type Blob struct {
	Name string
	Data []byte
}

type Receipt struct {
	Name string
	Etag string
	Size int
}

type Store struct {
	mu      sync.Mutex
	objects map[string]string
}

func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	sum := sha256.Sum256(data)
	etag := hex.EncodeToString(sum[:8])
	time.Sleep(12 * time.Millisecond) // replication
	s.mu.Lock()
	s.objects[r.URL.Path] = etag
	s.mu.Unlock()
	w.Header().Set("ETag", etag)
}

func renderFrame(n int) Frame {
	f := Frame{Name: fmt.Sprintf("frame-%04d", n), W: 640, H: 360}
	f.Pixels = make([]byte, f.W*f.H)
	for y := 0; y < f.H; y++ {
		for x := 0; x < f.W; x++ {
			f.Pixels[y*f.W+x] = byte((x*x/64 + y*n + x*y/256) >> 2)
		}
	}
	return f
}

func shrink(f Frame, k int) Frame {
	out := Frame{Name: f.Name, W: f.W / k, H: f.H / k}
	out.Pixels = make([]byte, out.W*out.H)
	for y := 0; y < out.H; y++ {
		for x := 0; x < out.W; x++ {
			sum := 0
			for dy := 0; dy < k; dy++ {
				for dx := 0; dx < k; dx++ {
					sum += int(f.Pixels[(y*k+dy)*f.W+x*k+dx])
				}
			}
			out.Pixels[y*out.W+x] = byte(sum / (k * k))
		}
	}
	return out
}

func compress(f Frame) (Blob, error) {
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, 6)
	if err != nil {
		return Blob{}, err
	}
	if _, err := w.Write(f.Pixels); err != nil {
		return Blob{}, err
	}
	err = w.Close()
	return Blob{f.Name + ".bin", buf.Bytes()}, err
}

func upload(client *http.Client, base string, b Blob) (Receipt, error) {
	req, err := http.NewRequest("PUT", base+"/thumbs/"+b.Name, bytes.NewReader(b.Data))
	if err != nil {
		return Receipt{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return Receipt{}, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return Receipt{}, err
	}
	return Receipt{b.Name, resp.Header.Get("ETag"), len(b.Data)}, nil
}

func thumbStage(in <-chan int, out chan<- Frame) {
	for n := range in {
		out <- shrink(renderFrame(n), 4)
	}
}

func packStage(in <-chan Frame, out chan<- Blob) {
	for f := range in {
		b, err := compress(f)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mediaship:", err)
			continue
		}
		out <- b
	}
}

func uploadStage(client *http.Client, base string, in <-chan Blob, out chan<- Receipt) {
	for b := range in {
		r, err := upload(client, base, b)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mediaship:", err)
			continue
		}
		out <- r
	}
}

func stage(workers int, done func(), work func()) {
	var wg sync.WaitGroup
	for i := 0; i < workers; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work()
		}()
	}
	go func() {
		wg.Wait()
		done()
	}()
}

func run(base string, frames int) []Receipt {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	numbers := make(chan int)
	thumbs := make(chan Frame, 8)
	blobs := make(chan Blob, 8)
	receipts := make(chan Receipt, 8)
	stage(4, func() { close(thumbs) }, func() { thumbStage(numbers, thumbs) })
	stage(4, func() { close(blobs) }, func() { packStage(thumbs, blobs) })
	stage(1, func() { close(receipts) }, func() { uploadStage(client, base, blobs, receipts) })
	go func() {
		for i := 0; i < frames; i++ {
			numbers <- i
		}
		close(numbers)
	}()
	var out []Receipt
	for r := range receipts {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "mediaship:", err)
		os.Exit(1)
	}
	go http.Serve(l, &Store{objects: map[string]string{}})
	receipts := run("http://"+l.Addr().String(), 200)
	h := sha256.New()
	size := 0
	for _, r := range receipts {
		fmt.Fprintln(h, r.Name, r.Etag, r.Size)
		size += r.Size
	}
	fmt.Printf("%d uploads, %d bytes, manifest %x\n", len(receipts), size, h.Sum(nil)[:8])
}
