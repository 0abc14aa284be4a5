// A server that reads its price list for each request, and a client in the same process.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
)

var kept map[string]int

func prices(path string, fixed bool) map[string]int {
	if fixed && kept != nil {
		return kept
	}
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	found := map[string]int{}
	if err := json.Unmarshal(text, &found); err != nil {
		panic(err)
	}
	kept = found
	return found
}

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "fixed"
	file, _ := os.CreateTemp("", "prices")
	defer os.Remove(file.Name())
	list := map[string]int{}
	for i := 0; i < 20; i++ {
		list[fmt.Sprintf("item%d", i)] = i * 3
	}
	text, _ := json.Marshal(list)
	file.Write(text)
	file.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		fmt.Fprintf(w, "%s costs %d\n", name, prices(file.Name(), fixed)[name])
	}))
	defer server.Close()
	size := 0
	for i := 0; i < 3000; i++ {
		answer, err := http.Get(fmt.Sprintf("%s/item%d", server.URL, i%20))
		if err != nil {
			panic(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		size += len(text)
	}
	fmt.Println(size)
}
