// keyvault opens a password store: it derives the master key from the pass phrase,
// then unseals each entry and prints a summary. The parameters are those of the
// store's header.
package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"sort"
)

type header struct {
	salt       []byte
	iterations int
	keyLen     int
}

type sealed struct {
	name  string
	nonce []byte
	data  []byte
}

type vault struct {
	head    header
	entries []sealed
}

// deriveKey is PBKDF2 with HMAC-SHA-256 (RFC 8018).
func deriveKey(pass []byte, h header) []byte {
	prf := hmac.New(sha256.New, pass)
	blocks := (h.keyLen + sha256.Size - 1) / sha256.Size
	out := make([]byte, 0, blocks*sha256.Size)
	for b := 1; b <= blocks; b++ {
		out = append(out, deriveBlock(prf, h, uint32(b))...)
	}
	return out[:h.keyLen]
}

func deriveBlock(prf hash.Hash, h header, index uint32) []byte {
	var num [4]byte
	binary.BigEndian.PutUint32(num[:], index)
	prf.Reset()
	prf.Write(h.salt)
	prf.Write(num[:])
	u := prf.Sum(nil)
	t := append([]byte(nil), u...)
	for i := 1; i < h.iterations; i++ {
		prf.Reset()
		prf.Write(u)
		u = prf.Sum(u[:0])
		for k := range t {
			t[k] ^= u[k]
		}
	}
	return t
}

func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func create(pass string, names []string) (*vault, error) {
	salt := sha256.Sum256([]byte("salt of " + pass))
	v := &vault{head: header{salt: salt[:16], iterations: 1800000, keyLen: 32}}
	key := deriveKey([]byte(pass), v.head)
	aead, err := gcm(key)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		nonce := sha256.Sum256(append([]byte(n), key...))
		secret := hex.EncodeToString(nonce[20:]) + "/" + n
		v.entries = append(v.entries, sealed{n, nonce[:12], aead.Seal(nil, nonce[:12], []byte(secret), []byte(n))})
	}
	return v, nil
}

func (v *vault) open(pass string) (map[string]string, error) {
	key := deriveKey([]byte(pass), v.head)
	aead, err := gcm(key)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, e := range v.entries {
		plain, err := aead.Open(nil, e.nonce, e.data, []byte(e.name))
		if err != nil {
			return nil, errors.New("wrong pass phrase")
		}
		out[e.name] = string(plain)
	}
	return out, nil
}

func audit(secrets map[string]string) (weak int, digest string) {
	var names []string
	for n, s := range secrets {
		names = append(names, n)
		classes := map[bool]int{}
		for _, c := range s {
			classes[c >= '0' && c <= '9']++
		}
		if classes[true] < 6 {
			weak++
		}
	}
	sort.Strings(names)
	h := sha256.New()
	for _, n := range names {
		fmt.Fprintln(h, n, secrets[n])
	}
	return weak, hex.EncodeToString(h.Sum(nil)[:8])
}

func main() {
	var names []string
	for i := 0; i < 400; i++ {
		names = append(names, fmt.Sprintf("site%03d.example", i))
	}
	v, err := create("correct horse battery staple", names)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var secrets map[string]string
	for try, pass := range []string{"correct horse", "battery staple", "correct horse battery staple"} {
		if secrets, err = v.open(pass); err == nil {
			break
		}
		fmt.Printf("try %d: %v\n", try+1, err)
	}
	if err != nil {
		os.Exit(1)
	}
	weak, digest := audit(secrets)
	fmt.Printf("%d entries, %d weak, digest %s\n", len(secrets), weak, digest)
}
