// relnotes collects the issues and pull requests of a milestone from a tracker's
// REST interface and writes release notes grouped by label.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

type Issue struct {
	Number int      `json:"number"`
	Title  string   `json:"title"`
	Body   string   `json:"body"`
	Labels []string `json:"labels"`
	Author string   `json:"author"`
}

type Comment struct {
	Author string `json:"author"`
	Text   string `json:"text"`
}

// ---- the tracker -----------------------------------------------------------

type tracker struct {
	issues []Issue
}

func newTracker(n int) *tracker {
	words := strings.Fields("crash when opening the settings window after upgrade from older release on wayland with two screens")
	labels := []string{"bug", "feature", "docs", "ui", "network"}
	t := &tracker{}
	seed := uint32(7)
	rnd := func(k int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % k
	}
	for i := 1; i <= n; i++ {
		is := Issue{Number: i, Author: fmt.Sprintf("user%d", rnd(40))}
		var title []string
		for k := 0; k < 4+rnd(5); k++ {
			title = append(title, words[rnd(len(words))])
		}
		is.Title = strings.Join(title, " ")
		is.Body = strings.Repeat(is.Title+". ", 1+rnd(20))
		is.Labels = append(is.Labels, labels[rnd(len(labels))])
		t.issues = append(t.issues, is)
	}
	return t
}

func (t *tracker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	w.Header().Set("Content-Type", "application/json")
	enc := json.NewEncoder(w)
	switch {
	case len(parts) == 1 && parts[0] == "issues":
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		lo := (page - 1) * 50
		hi := min(lo+50, len(t.issues))
		if lo >= hi {
			enc.Encode([]int{})
			return
		}
		var nums []int
		for _, is := range t.issues[lo:hi] {
			nums = append(nums, is.Number)
		}
		enc.Encode(nums)
	case len(parts) == 2:
		n, _ := strconv.Atoi(parts[1])
		enc.Encode(t.issues[n-1])
	case len(parts) == 3:
		n, _ := strconv.Atoi(parts[1])
		var cs []Comment
		for k := 0; k < n%5; k++ {
			cs = append(cs, Comment{Author: t.issues[(n*7+k)%len(t.issues)].Author, Text: t.issues[(n+k)%len(t.issues)].Body})
		}
		enc.Encode(cs)
	}
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// ---- the client ------------------------------------------------------------

type Client struct {
	base *string
	http *http.Client
}

func (c *Client) newRequest(ctx context.Context, path string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, *c.base+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "relnotes/1.4")
	return req, nil
}

func checkResponse(resp *http.Response) error {
	if resp.StatusCode/100 == 2 {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 512))
	return fmt.Errorf("%s: %s", resp.Status, text)
}

// Do sends the request and decodes the answer into v.
func (c *Client) Do(req *http.Request, v any) error {
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := checkResponse(resp); err != nil {
		return err
	}
	return json.NewDecoder(resp.Body).Decode(v)
}

func (c *Client) get(ctx context.Context, path string, v any) error {
	req, err := c.newRequest(ctx, path)
	if err != nil {
		return err
	}
	return c.Do(req, v)
}

func (c *Client) listIssues(ctx context.Context) ([]int, error) {
	var all []int
	for page := 1; ; page++ {
		var nums []int
		if err := c.get(ctx, fmt.Sprintf("/issues?page=%d", page), &nums); err != nil {
			return nil, err
		}
		if len(nums) == 0 {
			return all, nil
		}
		all = append(all, nums...)
	}
}

// ---- the notes ---------------------------------------------------------------

type notes struct {
	sections map[string][]string
	thanks   map[string]int
	length   int
}

func (n *notes) add(is Issue, cs []Comment) {
	for _, l := range is.Labels {
		n.sections[l] = append(n.sections[l], fmt.Sprintf("#%d %s (@%s)", is.Number, is.Title, is.Author))
	}
	n.thanks[is.Author]++
	n.length += len(is.Body)
	for _, c := range cs {
		n.thanks[c.Author]++
		n.length += len(c.Text)
	}
}

func (n *notes) write(w io.Writer) {
	var names []string
	for s := range n.sections {
		names = append(names, s)
	}
	sort.Strings(names)
	for _, s := range names {
		h := fnv.New32a()
		for _, line := range n.sections[s] {
			io.WriteString(h, line)
		}
		fmt.Fprintf(w, "%s: %d entries, %08x\n", s, len(n.sections[s]), h.Sum32())
		fmt.Fprintf(w, "  %s\n", n.sections[s][0])
	}
	fmt.Fprintf(w, "%d contributors, %d characters read\n", len(n.thanks), n.length)
}

func main() {
	srv := httptest.NewUnstartedServer(newTracker(420))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	c := &Client{base: &srv.URL, http: srv.Client()}
	c.http.Timeout = 20 * time.Second
	ctx := context.Background()
	nums, err := c.listIssues(ctx)
	if err != nil {
		log.Fatal(err)
	}
	n := &notes{sections: map[string][]string{}, thanks: map[string]int{}}
	for _, num := range nums {
		var is Issue
		var cs []Comment
		if err := c.get(ctx, fmt.Sprintf("/issues/%d", num), &is); err != nil {
			log.Fatal(err)
		}
		if err := c.get(ctx, fmt.Sprintf("/issues/%d/comments", num), &cs); err != nil {
			log.Fatal(err)
		}
		n.add(is, cs)
	}
	n.write(os.Stdout)
}
