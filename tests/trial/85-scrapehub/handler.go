package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

var bufPool = sync.Pool{New: func() any { return &bytes.Buffer{} }}

func getBuf() *bytes.Buffer {
	b := bufPool.Get().(*bytes.Buffer)
	b.Reset()
	return b
}

// decorateWriter wraps the writer if the client takes compressed answers.
func decorateWriter(req *http.Request, w io.Writer) (io.Writer, string) {
	for _, part := range strings.Split(req.Header.Get("Accept-Encoding"), ",") {
		part = strings.TrimSpace(part)
		if part == "gzip" || strings.HasPrefix(part, "gzip;") {
			return gzip.NewWriter(w), "gzip"
		}
	}
	return w, ""
}

// HandlerFor serves the metrics of the registries by target.
func HandlerFor(registries map[string]*Registry) http.Handler {
	return http.HandlerFunc(func(rsp http.ResponseWriter, req *http.Request) {
		reg := registries[strings.TrimPrefix(req.URL.Path, "/metrics/")]
		if reg == nil {
			http.NotFound(rsp, req)
			return
		}
		buf := getBuf()
		defer bufPool.Put(buf)
		writer, encoding := decorateWriter(req, buf)
		reg.Gather(func(line string) {
			io.WriteString(writer, line)
			io.WriteString(writer, "\n")
		})
		if closer, ok := writer.(io.Closer); ok {
			closer.Close()
		}
		header := rsp.Header()
		header.Set("Content-Type", "text/plain; version=0.0.4")
		header.Set("Content-Length", strconv.Itoa(buf.Len()))
		if encoding != "" {
			header.Set("Content-Encoding", encoding)
		}
		rsp.Write(buf.Bytes())
	})
}
