// A block parallel compressor: the input is cut into blocks which workers
// compress independently; a writer puts the members out in their order. The
// result is read back and compared.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

const (
	blockSize = 256 << 10
	queueLen  = 4
)

// job is one block on its way through the pipeline.
type job struct {
	index int
	data  []byte
	out   bytes.Buffer
	crc   uint32
	err   error
	done  chan struct{}
}

// pool hands out jobs with their buffers and limits how many are in use.
type pool struct {
	free chan *job
}

func newPool(n int) *pool {
	p := &pool{free: make(chan *job, n)}
	for range n {
		p.free <- &job{data: make([]byte, blockSize), done: make(chan struct{}, 1)}
	}
	return p
}

func (p *pool) get() *job { return <-p.free }

func (p *pool) put(j *job) {
	j.data = j.data[:blockSize]
	j.out.Reset()
	j.err = nil
	p.free <- j
}

type stats struct {
	blocks     int
	in, out    int64
	crc        uint32
	worstBlock int
	worstRatio float64
}

// worker compresses blocks; it keeps its compressor over all of them.
func worker(level int, work <-chan *job) {
	z, err := gzip.NewWriterLevel(io.Discard, level)
	for j := range work {
		if err != nil {
			j.err = err
		} else {
			j.err = compressBlock(z, j)
		}
		j.done <- struct{}{}
	}
}

func compressBlock(z *gzip.Writer, j *job) error {
	z.Reset(&j.out)
	if _, err := z.Write(j.data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	j.crc = crc32.ChecksumIEEE(j.data)
	return nil
}

// readBlocks fills jobs from the input and hands each to the workers and, in
// order, to the writer. It waits when all the buffers are in use.
func readBlocks(r io.Reader, p *pool, work, ordered chan<- *job) error {
	defer close(work)
	defer close(ordered)
	for index := 0; ; index++ {
		j := p.get()
		n, err := io.ReadFull(r, j.data)
		if n == 0 {
			p.put(j)
			if err == io.EOF {
				return nil
			}
			return err
		}
		j.index, j.data = index, j.data[:n]
		work <- j
		ordered <- j
		if err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// writeBlocks waits for each block in the order of the input.
func writeBlocks(w io.Writer, p *pool, ordered <-chan *job) (s stats, err error) {
	for j := range ordered {
		<-j.done
		if err == nil {
			err = j.err
		}
		if err == nil {
			_, err = w.Write(j.out.Bytes())
		}
		s.blocks++
		s.in += int64(len(j.data))
		s.out += int64(j.out.Len())
		s.crc = s.crc*31 + j.crc
		if r := float64(j.out.Len()) / float64(len(j.data)); r > s.worstRatio {
			s.worstRatio, s.worstBlock = r, j.index
		}
		p.put(j)
	}
	return s, err
}

func compress(w io.Writer, r io.Reader, level int) (stats, error) {
	workers := runtime.GOMAXPROCS(0)
	p := newPool(workers + queueLen)
	work := make(chan *job, queueLen)
	ordered := make(chan *job, workers+queueLen)
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			worker(level, work)
		}()
	}
	readErr := make(chan error, 1)
	go func() { readErr <- readBlocks(r, p, work, ordered) }()
	s, err := writeBlocks(w, p, ordered)
	wg.Wait()
	return s, errors.Join(err, <-readErr)
}

// verify unpacks all the members and compares them with the original.
func verify(packed io.Reader, original io.Reader) (int64, error) {
	z, err := gzip.NewReader(packed)
	if err != nil {
		return 0, err
	}
	a, b := make([]byte, blockSize), make([]byte, blockSize)
	var total int64
	for {
		n, err := io.ReadFull(z, a)
		m, err2 := io.ReadFull(original, b[:max(n, 1)])
		if n != m || !bytes.Equal(a[:n], b[:n]) {
			return total, fmt.Errorf("contents differ after %d bytes (%v)", total, err2)
		}
		total += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

func run() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	in, err := os.Open(filepath.Join(filepath.Dir(exe), "data", "input.log"))
	if err != nil {
		return err
	}
	defer in.Close()
	for _, level := range []int{gzip.BestSpeed, 6} {
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return err
		}
		var packed bytes.Buffer
		s, err := compress(&packed, in, level)
		if err != nil {
			return err
		}
		fmt.Printf("level %d: %d blocks, %d -> %d bytes (%.1f %%), crc %08x, worst block %d (%.3f)\n",
			level, s.blocks, s.in, s.out, 100*float64(s.out)/float64(s.in), s.crc, s.worstBlock, s.worstRatio)
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return err
		}
		n, err := verify(&packed, in)
		if err != nil {
			return err
		}
		fmt.Printf("level %d: %d bytes verified\n", level, n)
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
