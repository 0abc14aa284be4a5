// Expect: what the argument says. A goroutine that waits leaves its thread to others: no system call of a thread shows these.
//
//	lock    lock-contention in main.(*directory).name: the lock is held while the store answers
//	asks    round-trip-per-operation in main.priceOf: one HTTP request at a time
//	polls   waiting in main.await: sleeps until a file is there
//	beside  nothing: eight clients, each with its own connection, beside each other
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "waiting_go:", err)
		os.Exit(1)
	}
}

// A store that takes its time for each answer.
func serve(listener net.Listener, takes time.Duration) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer connection.Close()
			lines := bufio.NewReader(connection)
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					return
				}
				time.Sleep(takes)
				fmt.Fprintf(connection, "name of %s", line)
			}
		}()
	}
}

type store struct {
	connection net.Conn
	lines      *bufio.Reader
}

func open(listener net.Listener) store {
	connection, err := net.Dial("tcp", listener.Addr().String())
	check(err)
	return store{connection, bufio.NewReader(connection)}
}

func (s store) ask(number int) string {
	fmt.Fprintln(s.connection, number)
	line, err := s.lines.ReadString('\n')
	check(err)
	return line
}

type directory struct {
	mutex sync.Mutex
	known map[int]string
}

func (d *directory) name(s store, number int) string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if name, ok := d.known[number]; ok {
		return name
	}
	name := s.ask(number)
	d.known[number] = name
	return name
}

func listen(takes time.Duration) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serve(listener, takes)
	return listener
}

// Runs work in eight goroutines.
func eight(work func(first int)) {
	var group sync.WaitGroup
	for first := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			work(first)
		}()
	}
	group.Wait()
}

func lock() {
	listener := listen(4 * time.Millisecond)
	names := directory{known: map[int]string{}}
	eight(func(first int) {
		store := open(listener)
		for number := first; number < 240; number += 8 {
			names.name(store, number)
		}
	})
	fmt.Println(len(names.known))
}

func beside() {
	listener := listen(2 * time.Millisecond)
	eight(func(first int) {
		store := open(listener)
		for number := first; number < 3200; number += 8 {
			store.ask(number)
		}
	})
}

func priceOf(address string, number int) int {
	answer, err := http.Get(fmt.Sprintf("http://%s/price?of=%d", address, number))
	check(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	check(err)
	return len(text)
}

func asks() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	http.HandleFunc("/price", func(answer http.ResponseWriter, question *http.Request) {
		time.Sleep(3 * time.Millisecond)
		fmt.Fprintln(answer, question.FormValue("of"))
	})
	go http.Serve(listener, nil)
	sum := 0
	for number := range 300 {
		sum += priceOf(listener.Addr().String(), number)
	}
	fmt.Println(sum)
}

func await(path string) {
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func polls() {
	folder, err := os.MkdirTemp("", "waiting")
	check(err)
	defer os.RemoveAll(folder)
	for number := range 20 {
		path := filepath.Join(folder, fmt.Sprint(number))
		go func() {
			time.Sleep(5 * time.Millisecond)
			check(os.WriteFile(path, nil, 0o600))
		}()
		await(path)
	}
}

func main() {
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	switch mode {
	case "lock":
		lock()
	case "asks":
		asks()
	case "polls":
		polls()
	case "beside":
		beside()
	default:
		fmt.Fprintln(os.Stderr, "waiting_go: lock, asks, polls or beside")
		os.Exit(2)
	}
}
