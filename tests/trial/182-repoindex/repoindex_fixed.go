// Command repoindex builds a word index over the blobs of a small object store.
//
//	repoindex                   index the generated repository
//	repoindex cat-file -s ID    print the size of an object
//	repoindex cat-file blob ID  print the content of an object
//	repoindex cat-file --batch  read ids from stdin, print header and content for each
package main

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

const maxIndexSize = 6000

type Repo struct {
	dir string
}

type TreeEntry struct {
	ID   string
	Path string
}

func (r *Repo) objectPath(id string) string { return filepath.Join(r.dir, "objects", id[:1], id[1:]) }

func (r *Repo) writeObject(content []byte) (string, error) {
	sum := sha1.Sum(append([]byte(fmt.Sprintf("blob %d\x00", len(content))), content...))
	id := hex.EncodeToString(sum[:])
	path := r.objectPath(id)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	var buf bytes.Buffer
	zw := zlib.NewWriter(&buf)
	zw.Write(content)
	zw.Close()
	return id, os.WriteFile(path, buf.Bytes(), 0o644)
}

func (r *Repo) readObject(id string) ([]byte, error) {
	raw, err := os.ReadFile(r.objectPath(id))
	if err != nil {
		return nil, err
	}
	zr, err := zlib.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	defer zr.Close()
	return io.ReadAll(zr)
}

func catFile(repo *Repo, args []string) error {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	if len(args) == 2 {
		data, err := repo.readObject(args[1])
		if err == nil && args[0] == "-s" {
			fmt.Fprintln(out, len(data))
		} else if err == nil {
			out.Write(data)
		}
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		data, err := repo.readObject(in.Text())
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s blob %d\n", in.Text(), len(data))
		out.Write(data)
		out.WriteString("\n")
		out.Flush()
	}
	return in.Err()
}

type Indexer struct {
	repo     *Repo
	postings map[string][]string
	skipped  int
	binary   int
}

func (ix *Indexer) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"cat-file"}, args...)...)
	cmd.Env = append(os.Environ(), "REPO_DIR="+ix.repo.dir)
	return cmd
}

type batchReader struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func (b *batchReader) read(id string) ([]byte, error) {
	if _, err := io.WriteString(b.in, id+"\n"); err != nil {
		return nil, err
	}
	header, err := b.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("cat-file --batch %s: %w", id, err)
	}
	size, err := strconv.Atoi(strings.TrimSpace(header[strings.LastIndexByte(header, ' ')+1:]))
	if err != nil {
		return nil, err
	}
	data := make([]byte, size+1)
	_, err = io.ReadFull(b.out, data)
	return data[:size], err
}

func (ix *Indexer) addUpdate(b *batchReader, e TreeEntry) error {
	content, err := b.read(e.ID)
	if err != nil {
		return err
	}
	if len(content) > maxIndexSize {
		ix.skipped++
		return nil
	}
	ix.addContent(e, content)
	return nil
}

func (ix *Indexer) addContent(e TreeEntry, content []byte) {
	if bytes.IndexByte(content, 0) >= 0 {
		ix.binary++
		return
	}
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(string(content), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if len(w) > 2 && !seen[w] {
			seen[w] = true
			ix.postings[w] = append(ix.postings[w], e.Path)
		}
	}
}

func (ix *Indexer) Index(entries []TreeEntry) error {
	cmd := ix.command("--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	b := &batchReader{in: in, out: bufio.NewReader(out)}
	for _, e := range entries {
		if err := ix.addUpdate(b, e); err != nil {
			return err
		}
	}
	in.Close()
	return cmd.Wait()
}

func populate(repo *Repo, files int) ([]TreeEntry, error) {
	words := strings.Fields("func return string error range append struct package import defer select channel buffer writer reader closer")
	var entries []TreeEntry
	state := uint32(7)
	for i := 0; i < files; i++ {
		var b bytes.Buffer
		for n := 40 + i*13%900; n > 0; n-- {
			state = state*1103515245 + 12345
			b.WriteString(words[(state>>16)%uint32(len(words))])
			b.WriteByte(" \n"[n%7/6])
		}
		if i%29 == 3 {
			b.WriteByte(0)
		}
		fmt.Fprintf(&b, "file%c", 'a'+i%26)
		id, err := repo.writeObject(b.Bytes())
		if err != nil {
			return nil, err
		}
		entries = append(entries, TreeEntry{id, fmt.Sprintf("src/pkg%d/file%d.go", i%17, i)})
	}
	return entries, nil
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "cat-file" {
		if err := catFile(&Repo{os.Getenv("REPO_DIR")}, os.Args[2:]); err != nil {
			log.Fatal(err)
		}
		return
	}
	dir, err := os.MkdirTemp("", "repoindex")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ix := &Indexer{repo: &Repo{dir}, postings: map[string][]string{}}
	entries, err := populate(ix.repo, 320)
	if err == nil {
		err = ix.Index(entries)
	}
	if err != nil {
		log.Print(err)
		return
	}
	var terms []string
	for w := range ix.postings {
		terms = append(terms, w)
	}
	sort.Strings(terms)
	fmt.Printf("%d blobs, %d terms, %d skipped, %d binary\n", len(entries), len(terms), ix.skipped, ix.binary)
	for _, w := range terms[:6] {
		fmt.Printf("%-10s %4d %s\n", w, len(ix.postings[w]), ix.postings[w][len(ix.postings[w])-1])
	}
}
