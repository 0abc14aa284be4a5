// Start of a container engine: the layers of the images are verified, then
// every container gets its read-write layer, is started and stopped again.
package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"time"
)

type Layer struct {
	Name    string
	Digest  string
	Files   int
	Size    int64
	Execs   int
	Largest string
}

type ContainerConfig struct {
	Name    string            `json:"name"`
	Image   []string          `json:"image"`
	Env     map[string]string `json:"env"`
	Restart string            `json:"restart"`
}

type RWLayer struct {
	Name    string
	ChainID string
	Device  int
	refs    int
}

// ---- device events ----

// Udev tells when the node of a device which was created is there.
type Udev struct {
	mu      sync.Mutex
	waiters map[int]chan struct{}
	latency time.Duration
}

func NewUdev(latency time.Duration) *Udev {
	return &Udev{waiters: map[int]chan struct{}{}, latency: latency}
}

func (u *Udev) Announce(dev int) {
	ch := make(chan struct{})
	u.mu.Lock()
	u.waiters[dev] = ch
	u.mu.Unlock()
	time.AfterFunc(u.latency, func() { close(ch) })
}

func (u *Udev) Settle(dev int) {
	u.mu.Lock()
	ch := u.waiters[dev]
	delete(u.waiters, dev)
	u.mu.Unlock()
	if ch != nil {
		<-ch
	}
}

// ---- graph driver ----

type Driver struct {
	root    string
	udev    *Udev
	mu      sync.Mutex
	nextDev int
	devices map[string]int
}

func NewDriver(root string, udev *Udev) *Driver {
	return &Driver{root: root, udev: udev, nextDev: 1, devices: map[string]int{}}
}

func (d *Driver) allocate(id string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	dev := d.nextDev
	d.nextDev++
	d.devices[id] = dev
	return dev
}

// CreateReadWrite makes a snapshot device with the metadata of its parent.
func (d *Driver) CreateReadWrite(id, parent string) (int, error) {
	dir := filepath.Join(d.root, id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	dev := d.allocate(id)
	meta := fmt.Sprintf("{\"device_id\":%d,\"parent\":%q}\n", dev, parent)
	if err := os.WriteFile(filepath.Join(dir, "metadata"), []byte(meta), 0o644); err != nil {
		return 0, err
	}
	d.udev.Announce(dev)
	d.udev.Settle(dev)
	return dev, nil
}

func (d *Driver) Remove(id string) error {
	d.mu.Lock()
	_, ok := d.devices[id]
	delete(d.devices, id)
	d.mu.Unlock()
	if !ok {
		return fmt.Errorf("device of %s does not exist", id)
	}
	return os.RemoveAll(filepath.Join(d.root, id))
}

// ---- layer store ----

var ErrNameConflict = errors.New("mount name is in use")

type LayerStore struct {
	driver *Driver

	layerL sync.RWMutex
	layers map[string]*Layer

	mountL sync.Mutex
	mounts map[string]*RWLayer
}

func NewLayerStore(d *Driver) *LayerStore {
	return &LayerStore{driver: d, layers: map[string]*Layer{}, mounts: map[string]*RWLayer{}}
}

// Register reads a layer archive and adds it to the store.
func (ls *LayerStore) Register(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	l := &Layer{Name: filepath.Base(path)}
	h := sha256.New()
	t := tar.NewReader(io.TeeReader(z, h))
	var max int64
	for {
		hdr, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.Name, err)
		}
		l.Files++
		l.Size += hdr.Size
		if hdr.Mode&0o111 != 0 {
			l.Execs++
		}
		if hdr.Size > max {
			max, l.Largest = hdr.Size, hdr.Name
		}
	}
	l.Digest = hex.EncodeToString(h.Sum(nil))
	ls.layerL.Lock()
	ls.layers[l.Name] = l
	ls.layerL.Unlock()
	return nil
}

// ChainID identifies a stack of layers.
func (ls *LayerStore) ChainID(image []string) (string, error) {
	ls.layerL.RLock()
	defer ls.layerL.RUnlock()
	chain := ""
	for _, name := range image {
		l, ok := ls.layers[name]
		if !ok {
			return "", fmt.Errorf("layer %s does not exist", name)
		}
		sum := sha256.Sum256([]byte(chain + " " + l.Digest))
		chain = hex.EncodeToString(sum[:])
	}
	return chain, nil
}

func (ls *LayerStore) CreateRWLayer(name, chainID string) (*RWLayer, error) {
	ls.mountL.Lock()
	defer ls.mountL.Unlock()
	if _, ok := ls.mounts[name]; ok {
		return nil, ErrNameConflict
	}

	dev, err := ls.driver.CreateReadWrite(name, chainID)
	if err != nil {
		return nil, err
	}
	m := &RWLayer{Name: name, ChainID: chainID, Device: dev, refs: 1}

	ls.mounts[name] = m
	return m, nil
}

func (ls *LayerStore) GetRWLayer(name string) (*RWLayer, bool) {
	ls.mountL.Lock()
	defer ls.mountL.Unlock()
	m, ok := ls.mounts[name]
	if ok {
		m.refs++
	}
	return m, ok
}

func (ls *LayerStore) ReleaseRWLayer(name string) error {
	ls.mountL.Lock()
	defer ls.mountL.Unlock()
	m, ok := ls.mounts[name]
	if !ok {
		return fmt.Errorf("mount %s does not exist", name)
	}
	if m.refs--; m.refs > 0 {
		return nil
	}
	delete(ls.mounts, name)
	return ls.driver.Remove(name)
}

// ---- daemon ----

type Daemon struct {
	store *LayerStore
	mu    sync.Mutex
	state map[string]string
}

func (d *Daemon) setState(name, s string) {
	d.mu.Lock()
	d.state[name] = s
	d.mu.Unlock()
}

func (d *Daemon) startContainer(c ContainerConfig) error {
	chain, err := d.store.ChainID(c.Image)
	if err != nil {
		return err
	}
	if _, err := d.store.CreateRWLayer(c.Name, chain); err != nil {
		return fmt.Errorf("container %s: %w", c.Name, err)
	}
	if _, ok := d.store.GetRWLayer(c.Name); !ok {
		return fmt.Errorf("container %s: layer is gone", c.Name)
	}
	spec, err := json.Marshal(map[string]any{"root": chain, "env": c.Env, "restart": c.Restart})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(spec)
	d.setState(c.Name, fmt.Sprintf("running %s spec %x", chain[:12], sum[:6]))
	return d.store.ReleaseRWLayer(c.Name)
}

// parallel runs fn for every item with a number of workers.
func parallel[T any](workers int, items []T, fn func(T) error) error {
	var wg sync.WaitGroup
	queue := make(chan T)
	errs := make([]error, workers)
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for it := range queue {
				errs[w] = errors.Join(errs[w], fn(it))
			}
		}()
	}
	for _, it := range items {
		queue <- it
	}
	close(queue)
	wg.Wait()
	return errors.Join(errs...)
}

func run() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	base := filepath.Dir(exe)
	root, err := os.MkdirTemp(base, "run-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	archives, err := filepath.Glob(filepath.Join(base, "data", "layers", "*.tar.gz"))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(base, "data", "containers.json"))
	if err != nil {
		return err
	}
	var configs []ContainerConfig
	if err := json.Unmarshal(text, &configs); err != nil {
		return err
	}

	store := NewLayerStore(NewDriver(root, NewUdev(21*time.Millisecond)))
	if err := parallel(2, archives, store.Register); err != nil {
		return err
	}
	names := make([]string, 0, len(store.layers))
	for n := range store.layers {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		l := store.layers[n]
		fmt.Printf("%s %s %d files %d bytes %d executable, largest %s\n", n, l.Digest[:16], l.Files, l.Size, l.Execs, l.Largest)
	}

	d := &Daemon{store: store, state: map[string]string{}}
	if err := parallel(12, configs, d.startContainer); err != nil {
		return err
	}
	sort.Slice(configs, func(i, j int) bool { return configs[i].Name < configs[j].Name })
	for _, c := range configs {
		fmt.Println(c.Name, d.state[c.Name])
		if err := store.ReleaseRWLayer(c.Name); err != nil {
			return err
		}
	}
	fmt.Printf("%d containers, %d mounts left\n", len(configs), len(store.mounts))
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
