package main

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"sort"
)

// Store keeps the samples of a target, each as the change of its bits since the last.
type Store struct {
	last  map[string]uint64
	bytes map[string][]byte
}

func newStore() *Store {
	return &Store{last: map[string]uint64{}, bytes: map[string][]byte{}}
}

// Append adds the samples of one scrape.
func (s *Store) Append(samples []Sample) {
	for _, sample := range samples {
		bits := math.Float64bits(sample.Value)
		s.bytes[sample.Series] = binary.AppendUvarint(s.bytes[sample.Series], bits^s.last[sample.Series])
		s.last[sample.Series] = bits
	}
}

// Report is a line with the number of series, their size, a hash and the sum of the last values.
func (s *Store) Report(target string) string {
	names := make([]string, 0, len(s.bytes))
	for name := range s.bytes {
		names = append(names, name)
	}
	sort.Strings(names)
	h := fnv.New64a()
	size, sum := 0, 0.0
	for _, name := range names {
		h.Write([]byte(name))
		h.Write(s.bytes[name])
		size += len(s.bytes[name])
		sum += math.Float64frombits(s.last[name])
	}
	return fmt.Sprintf("%s: %d series, %d bytes, last values %g, %016x", target, len(names), size, sum, h.Sum64())
}
