// layerowners: applies the layers of an image one over the other in memory, finds the owner of each file by the image's own accounts,
// and prints a manifest.
package main

import (
	"archive/tar"
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"
)

var errNoUser = errors.New("no such user")
var errNoGroup = errors.New("no such group")

type User struct {
	Name     string
	UID, GID int
	Home     string
}

type Group struct {
	Name    string
	GID     int
	Members []string
}

// eachRecord calls f with the fields of each line of an account file.
func eachRecord(r io.Reader, fields int, f func([]string) error) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(line, ":")
		if len(parts) < fields {
			return fmt.Errorf("short line: %q", line)
		}
		if err := f(parts); err != nil {
			return err
		}
	}
	return lines.Err()
}

func parsePasswd(r io.Reader) ([]User, error) {
	var users []User
	err := eachRecord(r, 7, func(p []string) error {
		uid, err := strconv.Atoi(p[2])
		if err != nil {
			return err
		}
		gid, err := strconv.Atoi(p[3])
		if err != nil {
			return err
		}
		users = append(users, User{Name: p[0], UID: uid, GID: gid, Home: p[5]})
		return nil
	})
	return users, err
}

func parseGroup(r io.Reader) ([]Group, error) {
	var groups []Group
	err := eachRecord(r, 4, func(p []string) error {
		gid, err := strconv.Atoi(p[2])
		if err != nil {
			return err
		}
		group := Group{Name: p[0], GID: gid}
		if p[3] != "" {
			group.Members = strings.Split(p[3], ",")
		}
		groups = append(groups, group)
		return nil
	})
	return groups, err
}

// Accounts are the users and groups of an image.
type Accounts struct {
	users  map[string]User
	byUID  map[int]User
	groups map[string]Group
}

func NewAccounts(root string) (*Accounts, error) {
	a := &Accounts{users: map[string]User{}, byUID: map[int]User{}, groups: map[string]Group{}}
	f, err := os.Open(path.Join(root, "passwd"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	users, err := parsePasswd(f)
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		if _, known := a.users[u.Name]; !known {
			a.users[u.Name] = u
		}
		if _, known := a.byUID[u.UID]; !known {
			a.byUID[u.UID] = u
		}
	}
	g, err := os.Open(path.Join(root, "group"))
	if err != nil {
		return nil, err
	}
	defer g.Close()
	groups, err := parseGroup(g)
	for _, one := range groups {
		if _, known := a.groups[one.Name]; !known {
			a.groups[one.Name] = one
		}
	}
	return a, err
}

// User finds a user by name, or by number if there is none of that name.
func (a *Accounts) User(name string) (User, error) {
	if u, ok := a.users[name]; ok {
		return u, nil
	}
	uid, err := strconv.Atoi(name)
	if err != nil {
		return User{}, errNoUser
	}
	if u, ok := a.byUID[uid]; ok {
		return u, nil
	}
	return User{Name: name, UID: uid}, nil
}

func (a *Accounts) Group(name string) (Group, error) {
	if g, ok := a.groups[name]; ok {
		return g, nil
	}
	return Group{}, errNoGroup
}

type File struct {
	Path     string
	Mode     int64
	Size     int64
	UID, GID int
	Digest   [sha256.Size]byte
	Layer    int
}

type Image struct {
	accounts *Accounts
	files    map[string]File
	replaced int
}

func (im *Image) owner(h *tar.Header) (int, int, error) {
	user, err := im.accounts.User(h.Uname)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %q: %w", h.Name, h.Uname, err)
	}
	if h.Gname == "" {
		return user.UID, user.GID, nil
	}
	group, err := im.accounts.Group(h.Gname)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %q: %w", h.Name, h.Gname, err)
	}
	return user.UID, group.GID, nil
}

func (im *Image) Apply(name string, layer int) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	entries := tar.NewReader(bufio.NewReaderSize(f, 1<<16))
	for {
		h, err := entries.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		file := File{Path: path.Clean("/" + h.Name), Mode: h.Mode, Layer: layer}
		digest := sha256.New()
		if file.Size, err = io.Copy(digest, entries); err != nil {
			return err
		}
		digest.Sum(file.Digest[:0])
		if file.UID, file.GID, err = im.owner(h); err != nil {
			return err
		}
		if _, old := im.files[file.Path]; old {
			im.replaced++
		}
		im.files[file.Path] = file
	}
}

func (im *Image) Manifest(w io.Writer) {
	paths := make([]string, 0, len(im.files))
	for p := range im.files {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	perLayer, perOwner := map[int]int{}, map[int]int64{}
	var size int64
	setuid := 0
	sum := crc32.NewIEEE()
	for _, p := range paths {
		f := im.files[p]
		fmt.Fprintf(sum, "%s %o %d:%d %d %x\n", f.Path, f.Mode, f.UID, f.GID, f.Size, f.Digest)
		size += f.Size
		perLayer[f.Layer]++
		perOwner[f.UID] += f.Size
		if f.Mode&0o4000 != 0 && f.UID == 0 {
			setuid++
		}
	}
	fmt.Fprintf(w, "%d files, %d bytes, %d replaced, %d setuid root, checksum %08x\n", len(paths), size, im.replaced, setuid, sum.Sum32())
	for layer := 0; layer < len(perLayer); layer++ {
		fmt.Fprintf(w, "layer %d: %d files\n", layer, perLayer[layer])
	}
	owners := make([]int, 0, len(perOwner))
	for uid := range perOwner {
		owners = append(owners, uid)
	}
	sort.Slice(owners, func(i, j int) bool {
		a, b := owners[i], owners[j]
		return perOwner[a] > perOwner[b] || perOwner[a] == perOwner[b] && a < b
	})
	for _, uid := range owners[:5] {
		fmt.Fprintf(w, "uid %d: %d bytes\n", uid, perOwner[uid])
	}
}

func run() error {
	accounts, err := NewAccounts("data")
	if err != nil {
		return err
	}
	image := &Image{accounts: accounts, files: map[string]File{}}
	for layer := 0; layer < 3; layer++ {
		if err := image.Apply(fmt.Sprintf("data/layer%d.tar", layer), layer); err != nil {
			return err
		}
	}
	image.Manifest(os.Stdout)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "layerowners:", err)
		os.Exit(1)
	}
}
