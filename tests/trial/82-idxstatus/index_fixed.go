package main

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"os"
	"time"
)

var (
	errSignature = errors.New("index: bad signature")
	errVersion   = errors.New("index: unsupported version")
	errChecksum  = errors.New("index: bad checksum")
)

// Entry is one file of the index.
type Entry struct {
	CreatedAt, ModifiedAt time.Time
	Dev, Inode, Mode      uint32
	UID, GID, Size        uint32
	Hash                  [20]byte
	Stage                 int
	Name                  string
}

// Index is a decoded index file.
type Index struct {
	Version uint32
	Entries []*Entry
}

// Decoder reads an index and checks its hash on the way.
type Decoder struct {
	r         io.Reader
	hash      hash.Hash
	lastEntry *Entry
}

// NewDecoder returns a decoder that reads from r.
func NewDecoder(r io.Reader) *Decoder {
	h := sha1.New()
	return &Decoder{r: io.TeeReader(r, h), hash: h}
}

func (d *Decoder) readUint32() (uint32, error) {
	var b [4]byte
	if _, err := io.ReadFull(d.r, b[:]); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b[:]), nil
}

func (d *Decoder) readUint16() (uint16, error) {
	var b [2]byte
	if _, err := io.ReadFull(d.r, b[:]); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint16(b[:]), nil
}

func (d *Decoder) readByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(d.r, b[:])
	return b[0], err
}

// readVariableWidthInt reads an offset-encoded number.
func (d *Decoder) readVariableWidthInt() (int64, error) {
	c, err := d.readByte()
	if err != nil {
		return 0, err
	}
	v := int64(c & 127)
	for c&128 != 0 {
		v++
		if c, err = d.readByte(); err != nil {
			return 0, err
		}
		v = v<<7 + int64(c&127)
	}
	return v, nil
}

// readUntil reads up to the delimiter, which it drops.
func (d *Decoder) readUntil(delim byte) ([]byte, error) {
	var out []byte
	for {
		c, err := d.readByte()
		if err != nil {
			return nil, err
		}
		if c == delim {
			return out, nil
		}
		out = append(out, c)
	}
}

func (d *Decoder) readHeader() (version, count uint32, err error) {
	sig := make([]byte, 4)
	if _, err = io.ReadFull(d.r, sig); err != nil {
		return
	}
	if !bytes.Equal(sig, []byte("DIRC")) {
		return 0, 0, errSignature
	}
	if version, err = d.readUint32(); err != nil {
		return
	}
	if version != 4 {
		return 0, 0, errVersion
	}
	count, err = d.readUint32()
	return
}

func (d *Decoder) readEntry() (*Entry, error) {
	e := &Entry{}
	var sec, nsec, msec, mnsec uint32
	for _, field := range []*uint32{&sec, &nsec, &msec, &mnsec, &e.Dev, &e.Inode, &e.Mode, &e.UID, &e.GID, &e.Size} {
		v, err := d.readUint32()
		if err != nil {
			return nil, err
		}
		*field = v
	}
	if _, err := io.ReadFull(d.r, e.Hash[:]); err != nil {
		return nil, err
	}
	e.CreatedAt = time.Unix(int64(sec), int64(nsec))
	e.ModifiedAt = time.Unix(int64(msec), int64(mnsec))
	flags, err := d.readUint16()
	if err != nil {
		return nil, err
	}
	e.Stage = int(flags>>12) & 3
	return e, d.readEntryName(e)
}

func (d *Decoder) readEntryName(e *Entry) error {
	strip, err := d.readVariableWidthInt()
	if err != nil {
		return err
	}
	var base string
	if d.lastEntry != nil {
		base = d.lastEntry.Name[:len(d.lastEntry.Name)-int(strip)]
	}
	name, err := d.readUntil('\x00')
	if err != nil {
		return err
	}
	e.Name = base + string(name)
	return nil
}

// Decode reads the whole index.
func (d *Decoder) Decode(idx *Index) error {
	version, count, err := d.readHeader()
	if err != nil {
		return err
	}
	idx.Version = version
	for i := uint32(0); i < count; i++ {
		e, err := d.readEntry()
		if err != nil {
			return err
		}
		d.lastEntry = e
		idx.Entries = append(idx.Entries, e)
	}
	want := d.hash.Sum(nil)
	got := make([]byte, 20)
	if _, err := io.ReadFull(d.r, got); err != nil {
		return err
	}
	if !bytes.Equal(want, got) {
		return errChecksum
	}
	return nil
}

// OpenIndex decodes the index in a file.
func OpenIndex(path string) (*Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	idx := &Index{}
	return idx, NewDecoder(bufio.NewReader(f)).Decode(idx)
}
