package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Sample is a value of a series.
type Sample struct {
	Series string
	Value  float64
}

// Scraper fetches the metrics of targets one after the other.
type Scraper struct {
	base   string
	client *http.Client
	body   bytes.Buffer
	plain  bytes.Buffer
	unzip  *gzip.Reader
}

func newScraper(base string) *Scraper {
	return &Scraper{base: base, client: &http.Client{Transport: &http.Transport{DisableCompression: true}}}
}

func (s *Scraper) fetch(target string) ([]byte, error) {
	req, err := http.NewRequest("GET", s.base+"/metrics/"+target, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "gzip")
	rsp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer rsp.Body.Close()
	if rsp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", target, rsp.Status)
	}
	s.body.Reset()
	if _, err := s.body.ReadFrom(rsp.Body); err != nil {
		return nil, err
	}
	if rsp.Header.Get("Content-Encoding") != "gzip" {
		return s.body.Bytes(), nil
	}
	if s.unzip == nil {
		s.unzip, err = gzip.NewReader(&s.body)
	} else {
		err = s.unzip.Reset(&s.body)
	}
	if err != nil {
		return nil, err
	}
	s.plain.Reset()
	_, err = io.Copy(&s.plain, s.unzip)
	return s.plain.Bytes(), err
}

func parseSamples(text []byte) ([]Sample, error) {
	var out []Sample
	sc := bufio.NewScanner(bytes.NewReader(text))
	for sc.Scan() {
		line := sc.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		i := strings.LastIndexByte(line, ' ')
		if i < 0 {
			return nil, fmt.Errorf("no value: %s", line)
		}
		v, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			return nil, err
		}
		out = append(out, Sample{line[:i], v})
	}
	return out, sc.Err()
}

// Scrape returns the samples of a target.
func (s *Scraper) Scrape(target string) ([]Sample, error) {
	text, err := s.fetch(target)
	if err != nil {
		return nil, err
	}
	return parseSamples(text)
}
