// Keeps the last page of each visitor of a site, and counts the sessions. Several workers share the cache of sessions; a
// session lives for an hour after the last visit. Usage: program FILE
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ReneKroon/ttlcache/v2"
)

const workers = 4

// visit keeps the visitor's last page, and the session alive.
func visit(sessions *ttlcache.Cache, line string) error {
	visitor, page, _ := strings.Cut(line, " ")
	return sessions.Set(visitor, page)
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	sessions := ttlcache.NewCache()
	defer sessions.Close()
	sessions.SetTTL(time.Hour)

	// A visitor is always served by the same worker.
	var queues [workers]chan []string
	var parts [workers][]string
	var done sync.WaitGroup
	for worker := range queues {
		queues[worker] = make(chan []string, 16)
		done.Add(1)
		go func() {
			defer done.Done()
			for part := range queues[worker] {
				for _, line := range part {
					if err := visit(sessions, line); err != nil {
						log.Fatal(err)
					}
				}
			}
		}()
	}
	visits := 0
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		visits++
		line := lines.Text()
		worker := int(line[strings.IndexByte(line, ' ')-1]) % workers
		parts[worker] = append(parts[worker], line)
		if len(parts[worker]) == 200 {
			queues[worker] <- parts[worker]
			parts[worker] = nil
		}
	}
	for worker := range queues {
		queues[worker] <- parts[worker]
		close(queues[worker])
	}
	done.Wait()
	fmt.Printf("%d visits, %d sessions are alive\n", visits, sessions.Count())
}
