// Command chainverify extends a chain of hashes, in which each link needs the one before, and hands every link with its
// payload to a pool of workers that keep running figures of the payloads. The chain sets the pace: the workers wait.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
)

const (
	links   = 2900
	rounds  = 7000
	workers = 3
	payload = 8192
)

type link struct {
	number int
	digest [32]byte
}

type figures struct {
	links, bytes int
	sum          uint64
	bits         [8]int
	largest      uint32
}

// extend makes the next link of the chain; its cost is what makes the chain hard to forge.
func extend(previous [32]byte, number int) [32]byte {
	var block [40]byte
	digest := previous
	binary.LittleEndian.PutUint64(block[32:], uint64(number))
	for i := 0; i < rounds; i++ {
		copy(block[:], digest[:])
		digest = sha256.Sum256(block[:])
	}
	return digest
}

// expand derives the payload of a link from its digest.
func expand(l link, into []byte) {
	state := binary.LittleEndian.Uint64(l.digest[:])
	for i := 0; i+8 <= len(into); i += 8 {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		binary.LittleEndian.PutUint64(into[i:], state)
	}
}

func (f *figures) add(l link, data []byte) {
	f.links++
	f.bytes += len(data)
	for i := 0; i+4 <= len(data); i += 4 {
		v := binary.LittleEndian.Uint32(data[i:])
		f.sum += uint64(v) * uint64(l.number%16+1)
		f.bits[v>>29]++
		if v > f.largest {
			f.largest = v
		}
	}
}

func (f *figures) merge(o *figures) {
	f.links += o.links
	f.bytes += o.bytes
	f.sum += o.sum
	for i := range f.bits {
		f.bits[i] += o.bits[i]
	}
	if o.largest > f.largest {
		f.largest = o.largest
	}
}

func work(in <-chan link, result *figures, done *sync.WaitGroup) {
	defer done.Done()
	data := make([]byte, payload)
	for l := range in {
		expand(l, data)
		result.add(l, data)
	}
}

func produce(out chan<- link) [32]byte {
	digest := sha256.Sum256([]byte("genesis"))
	for i := 0; i < links; i++ {
		digest = extend(digest, i)
		out <- link{i, digest}
	}
	close(out)
	return digest
}

func main() {
	queue := make(chan link, 2*workers)
	results := make([]figures, workers)
	var done sync.WaitGroup
	for i := range results {
		done.Add(1)
		go work(queue, &results[i], &done)
	}
	last := produce(queue)
	done.Wait()
	var all figures
	for i := range results {
		all.merge(&results[i])
	}
	fmt.Printf("links %d, bytes %d, last %x\n", all.links, all.bytes, last[:8])
	fmt.Printf("sum %d, largest %d, bits %v\n", all.sum, all.largest, all.bits)
}
