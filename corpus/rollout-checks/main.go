// Checks after a rollout that all parts of a service become ready. Usage: program FILE
// A line of FILE has a part and after how many milliseconds it will be ready.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
)

// report takes what the assertions say.
type report struct {
	failures int
}

func (r *report) Errorf(format string, args ...interface{}) {
	r.failures++
	log.Printf(format, args...)
}

func serve(ready map[string]time.Time) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, known := ready[strings.TrimPrefix(r.URL.Path, "/ready/")]
		if !known || time.Now().Before(at) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	}))
}

func isReady(client *http.Client, url string) bool {
	answer, err := client.Get(url)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err == nil && answer.StatusCode == http.StatusOK
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	ready := map[string]time.Time{}
	var parts []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		part, after, _ := strings.Cut(lines.Text(), " ")
		milliseconds, err := strconv.Atoi(after)
		if err != nil {
			log.Fatal(err)
		}
		ready[part] = time.Now().Add(time.Duration(milliseconds) * time.Millisecond)
		parts = append(parts, part)
	}
	server := serve(ready)
	defer server.Close()
	said := &report{}
	for _, part := range parts {
		good := assert.Eventually(said, func() bool { return isReady(server.Client(), server.URL+"/ready/"+part) }, 10*time.Second, 100*time.Millisecond, part)
		fmt.Printf("%s: %v\n", part, good)
	}
	fmt.Printf("%d parts, %d failures\n", len(parts), said.failures)
}
