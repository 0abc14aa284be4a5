// scrapehub exports the metrics of its targets and scrapes them, as a test of the two against each other.
package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

func loadTargets(path string) ([]*Registry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var regs []*Registry
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		fields := strings.Fields(sc.Text())
		switch {
		case len(fields) == 2 && fields[0] == "target":
			regs = append(regs, &Registry{Target: fields[1]})
		case len(fields) == 4 && len(regs) > 0:
			start, err := strconv.ParseFloat(fields[3], 64)
			if err != nil {
				return nil, err
			}
			var labels []string
			for _, l := range strings.Split(fields[2], ",") {
				name, value, _ := strings.Cut(l, "=")
				labels = append(labels, fmt.Sprintf("%s=%q", name, value))
			}
			err = regs[len(regs)-1].Register(&Series{Name: fields[1], Kind: fields[0], Labels: strings.Join(labels, ","), Start: start})
			if err != nil {
				return nil, err
			}
		}
	}
	return regs, sc.Err()
}

func scrapeAll(base string, regs []*Registry, rounds int) ([]string, error) {
	lines := make([]string, len(regs))
	errs := make([]error, len(regs))
	next := make(chan int)
	var wg sync.WaitGroup
	for w := 0; w < 2; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			scraper := newScraper(base)
			for i := range next {
				store := newStore()
				for round := 0; round < rounds && errs[i] == nil; round++ {
					regs[i].Tick(round)
					samples, err := scraper.Scrape(regs[i].Target)
					errs[i] = err
					store.Append(samples)
				}
				lines[i] = store.Report(regs[i].Target)
			}
		}()
	}
	for i := range regs {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return lines, nil
}

func run(rounds int) error {
	regs, err := loadTargets("data/targets.conf")
	if err != nil {
		return err
	}
	byName := map[string]*Registry{}
	for _, r := range regs {
		byName[r.Target] = r
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: HandlerFor(byName)}
	go server.Serve(listener)
	defer server.Close()
	lines, err := scrapeAll("http://"+listener.Addr().String(), regs, rounds)
	if err != nil {
		return err
	}
	for _, l := range lines {
		fmt.Println(l)
	}
	return nil
}

func main() {
	rounds := 110
	if len(os.Args) > 1 {
		rounds, _ = strconv.Atoi(os.Args[1])
	}
	if err := run(rounds); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
