// Reads records of 16 bytes. `slow` by binary.Read, which works by reflection, `fixed` field by field.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
)

type record struct {
	Number uint32
	Kind   uint16
	Flags  uint16
	Value  uint64
}

func next(from *bytes.Reader, fixed bool) record {
	var one record
	if fixed {
		var raw [16]byte
		from.Read(raw[:])
		one.Number = binary.LittleEndian.Uint32(raw[:])
		one.Kind = binary.LittleEndian.Uint16(raw[4:])
		one.Flags = binary.LittleEndian.Uint16(raw[6:])
		one.Value = binary.LittleEndian.Uint64(raw[8:])
	} else {
		binary.Read(from, binary.LittleEndian, &one)
	}
	return one
}

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "fixed"
	raw := make([]byte, 16*2000000)
	for i := range raw {
		raw[i] = byte(i * 7)
	}
	sum := crc32.ChecksumIEEE(raw)
	for from := bytes.NewReader(raw); from.Len() > 0; {
		one := next(from, fixed)
		sum = sum*31 + one.Number + uint32(one.Kind) + uint32(one.Value>>32)
	}
	fmt.Println(sum)
}
