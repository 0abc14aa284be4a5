// Command layerstore creates writable container layers through a storage plugin.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log"
	"net"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"time"
)

type ChainID string

type roLayer struct {
	chainID  ChainID
	depth    int
	refCount int
}

type mountedLayer struct {
	name    string
	mountID string
	parent  *roLayer
	path    string
	refs    int
}

type pluginRequest struct {
	ID     string
	Parent string
	Depth  int
}

type pluginResponse struct {
	Mountpoint string
}

type pluginDriver struct {
	conns chan net.Conn
}

func dialPlugin(socket string, n int) (*pluginDriver, error) {
	d := &pluginDriver{conns: make(chan net.Conn, n)}
	for i := 0; i < n; i++ {
		c, err := net.Dial("unix", socket)
		if err != nil {
			return nil, err
		}
		d.conns <- c
	}
	return d, nil
}

func (d *pluginDriver) call(req pluginRequest) (string, error) {
	c := <-d.conns
	defer func() { d.conns <- c }()
	if err := json.NewEncoder(c).Encode(req); err != nil {
		return "", err
	}
	var resp pluginResponse
	if err := json.NewDecoder(c).Decode(&resp); err != nil {
		return "", err
	}
	return resp.Mountpoint, nil
}

type layerStore struct {
	driver *pluginDriver

	layerL sync.Mutex
	layers map[ChainID]*roLayer

	mountL sync.Mutex
	mounts map[string]*mountedLayer
}

func (ls *layerStore) acquire(id ChainID) (*roLayer, error) {
	ls.layerL.Lock()
	defer ls.layerL.Unlock()
	l, ok := ls.layers[id]
	if !ok {
		return nil, fmt.Errorf("layer %s does not exist", id)
	}
	l.refCount++
	return l, nil
}

func mountID(name string, parent *roLayer) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s@%s", name, parent.chainID)
	return fmt.Sprintf("%016x", h.Sum64())
}

func (ls *layerStore) CreateRWLayer(name string, parent ChainID) (*mountedLayer, error) {
	ls.mountL.Lock()
	defer ls.mountL.Unlock()
	if m, ok := ls.mounts[name]; ok {
		m.refs++
		return m, nil
	}
	p, err := ls.acquire(parent)
	if err != nil {
		return nil, err
	}
	m := &mountedLayer{name: name, parent: p, mountID: mountID(name, p), refs: 1}
	m.path, err = ls.driver.call(pluginRequest{ID: m.mountID, Parent: string(p.chainID), Depth: p.depth})
	if err != nil {
		return nil, err
	}
	ls.mounts[name] = m
	return m, nil
}

func serveConn(c net.Conn, latency time.Duration) {
	defer c.Close()
	dec, enc := json.NewDecoder(bufio.NewReader(c)), json.NewEncoder(c)
	for {
		var req pluginRequest
		if dec.Decode(&req) != nil {
			return
		}
		<-time.After(latency + time.Duration(req.Depth)*200*time.Microsecond)
		enc.Encode(pluginResponse{filepath.Join("/var/lib/plugin", req.Parent[len(req.Parent)-6:], req.ID)})
	}
}

func startPlugin(socket string, latency time.Duration) (net.Listener, error) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveConn(c, latency)
		}
	}()
	return l, nil
}

func createAll(ls *layerStore, workers, total int, images []ChainID) error {
	var wg sync.WaitGroup
	jobs, errs := make(chan int), make(chan error, total)
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range jobs {
				name := fmt.Sprintf("container-%03d", i*7%(total*4/5))
				if _, err := ls.CreateRWLayer(name, images[len(name)*int(name[12]+name[11])%len(images)]); err != nil {
					errs <- err
				}
			}
		}()
	}
	for i := 0; i < total; i++ {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	close(errs)
	return <-errs
}

func main() {
	dir, err := os.MkdirTemp("", "layerstore")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "plugin.sock")
	l, err := startPlugin(socket, 4*time.Millisecond)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	driver, err := dialPlugin(socket, 16)
	if err != nil {
		log.Fatal(err)
	}
	ls := &layerStore{driver: driver, layers: map[ChainID]*roLayer{}, mounts: map[string]*mountedLayer{}}
	var images []ChainID
	for i := 0; i < 6; i++ {
		id := ChainID(fmt.Sprintf("sha256:%02d%08x", i, i*31337))
		ls.layers[id] = &roLayer{chainID: id, depth: 1 + i%4}
		images = append(images, id)
	}
	if err := createAll(ls, 12, 600, images); err != nil {
		log.Fatal(err)
	}
	names, refs := []string{}, 0
	for name, m := range ls.mounts {
		names = append(names, name)
		refs += m.refs
	}
	sort.Strings(names)
	h := fnv.New64a()
	for _, name := range names {
		h.Write([]byte(name + ls.mounts[name].path))
	}
	fmt.Printf("%d mounts, %d references, digest %016x\n", len(names), refs, h.Sum64())
	fmt.Println(names[0], ls.mounts[names[0]].path)
}
