// issuesync mirrors the issues of a tracker: it walks the pages of each repository, fetches the comments of the
// issues that changed, and prints a summary. The tracker is a TLS server in the same program.
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

type issue struct {
	Number   int      `json:"number"`
	Title    string   `json:"title"`
	State    string   `json:"state"`
	Labels   []string `json:"labels"`
	Comments int      `json:"comments"`
}

type comment struct {
	Author string `json:"author"`
	Body   string `json:"body"`
}

// ---- the tracker ----

type tracker struct {
	issues map[string][]issue
}

const perPage = 12

func newTracker() *tracker {
	words := strings.Fields("panic timeout leak docs flaky build cache proxy parser retry metrics upgrade")
	labels := []string{"bug", "docs", "help wanted", "performance"}
	t := &tracker{issues: map[string][]issue{}}
	seed := uint32(5)
	rnd := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>9) % n
	}
	for _, repo := range []string{"gateway", "agent", "console", "storage"} {
		for i := range 440 {
			is := issue{Number: i + 1, State: []string{"open", "closed", "closed"}[rnd(3)], Comments: rnd(4)}
			is.Title = words[rnd(len(words))] + " in " + words[rnd(len(words))]
			for range rnd(3) {
				is.Labels = append(is.Labels, labels[rnd(4)])
			}
			t.issues[repo] = append(t.issues[repo], is)
		}
	}
	return t
}

func (t *tracker) reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	enc := json.NewEncoder(w)
	enc.Encode(v)
	w.(http.Flusher).Flush()
}

func (t *tracker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	list, ok := t.issues[parts[min(1, len(parts)-1)]]
	switch {
	case !ok:
		http.NotFound(w, r)
	case len(parts) == 3:
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		lo := min(page*perPage, len(list))
		t.reply(w, list[lo:min(lo+perPage, len(list))])
	case len(parts) == 5:
		n, err := strconv.Atoi(parts[3])
		if err != nil || n < 1 || n > len(list) {
			http.NotFound(w, r)
			return
		}
		var all []comment
		for c := range list[n-1].Comments {
			all = append(all, comment{fmt.Sprintf("user%d", (n*7+c)%40), strings.Repeat(list[n-1].Title+". ", 1+(n+c)%6)})
		}
		t.reply(w, all)
	default:
		http.Error(w, "bad path", http.StatusBadRequest)
	}
}

// ---- the client ----

type client struct {
	base     string
	http     *http.Client
	requests int
}

func (c *client) do(req *http.Request, out any) error {
	c.requests++
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() {
		io.CopyN(io.Discard, resp.Body, 512)
		resp.Body.Close()
	}()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", req.URL.Path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

func (c *client) get(path string, out any) error {
	req, err := http.NewRequest("GET", c.base+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "issuesync/0.3")
	return c.do(req, out)
}

func (c *client) fetchPage(repo string, page int) ([]issue, error) {
	var list []issue
	err := c.get(fmt.Sprintf("/repos/%s/issues?page=%d", repo, page), &list)
	return list, err
}

func (c *client) fetchComments(repo string, number int) ([]comment, error) {
	var list []comment
	err := c.get(fmt.Sprintf("/repos/%s/issues/%d/comments", repo, number), &list)
	return list, err
}

// ---- the mirror ----

type summary struct {
	issues, open, comments, words int
	labels                        map[string]int
	authors                       map[string]int
	digest                        uint64
}

func (s *summary) addIssue(repo string, is issue) {
	s.issues++
	if is.State == "open" {
		s.open++
	}
	for _, l := range is.Labels {
		s.labels[l]++
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s#%d %s %s %v", repo, is.Number, is.State, is.Title, is.Labels)
	s.digest = s.digest*31 + h.Sum64()
}

func (s *summary) addComment(cm comment) {
	s.comments++
	s.words += len(strings.Fields(cm.Body))
	s.authors[cm.Author]++
}

func (c *client) syncRepo(repo string, s *summary) error {
	for page := 0; ; page++ {
		list, err := c.fetchPage(repo, page)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return nil
		}
		for _, is := range list {
			s.addIssue(repo, is)
			if is.Comments == 0 {
				continue
			}
			comments, err := c.fetchComments(repo, is.Number)
			if err != nil {
				return err
			}
			for _, cm := range comments {
				s.addComment(cm)
			}
		}
	}
}

func (s *summary) print(requests int) {
	var names []string
	for n := range s.labels {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Printf("%-12s %d\n", n, s.labels[n])
	}
	busiest := ""
	for a, n := range s.authors {
		if busiest == "" || n > s.authors[busiest] || n == s.authors[busiest] && a < busiest {
			busiest = a
		}
	}
	fmt.Printf("issues %d (%d open), comments %d, words %d, busiest %s, requests %d, digest %016x\n", s.issues, s.open, s.comments, s.words, busiest, requests, s.digest)
}

func main() {
	srv := httptest.NewUnstartedServer(newTracker())
	srv.Config.ErrorLog = nil
	srv.StartTLS()
	c := &client{base: srv.URL, http: srv.Client()}
	c.http.Timeout = 10 * time.Second
	s := &summary{labels: map[string]int{}, authors: map[string]int{}}
	for _, repo := range []string{"gateway", "agent", "console", "storage"} {
		if err := c.syncRepo(repo, s); err != nil {
			fmt.Fprintln(os.Stderr, "issuesync:", err)
			os.Exit(1)
		}
	}
	s.print(c.requests)
}
