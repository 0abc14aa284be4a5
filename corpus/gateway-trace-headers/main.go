// Forwards recorded requests as a traced gateway does, without the network, and says what went to each service.
// Usage: program FILE. A line has a service, and its headers divided by tabs.
package main

import (
	"bufio"
	"context"
	"fmt"
	"hash/crc32"
	"log"
	"net/http"
	"os"
	"sort"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

type service struct {
	requests, sampled int
	checksum          uint32
}

func forward(propagator propagation.TextMapPropagator, incoming http.Header) (http.Header, bool) {
	ctx := propagator.Extract(context.Background(), propagation.HeaderCarrier(incoming))
	outgoing := http.Header{}
	propagator.Inject(ctx, propagation.HeaderCarrier(outgoing))
	return outgoing, trace.SpanContextFromContext(ctx).IsSampled()
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	services := map[string]*service{}
	propagator := propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		incoming := http.Header{}
		for _, field := range fields[1:] {
			name, value, _ := strings.Cut(field, ": ")
			incoming.Set(name, value)
		}
		outgoing, sampled := forward(propagator, incoming)
		to := services[fields[0]]
		if to == nil {
			to = &service{}
			services[fields[0]] = to
		}
		to.requests++
		if sampled {
			to.sampled++
		}
		// The members of the baggage go on in any order.
		for _, value := range strings.Split(outgoing.Get("baggage"), ",") {
			to.checksum += crc32.ChecksumIEEE([]byte(value))
		}
		to.checksum += crc32.ChecksumIEEE([]byte(outgoing.Get("traceparent") + outgoing.Get("tracestate")))
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	var names []string
	for name := range services {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Printf("%s: %d requests, %d sampled, headers %08x\n", name, services[name].requests, services[name].sampled, services[name].checksum)
	}
}
