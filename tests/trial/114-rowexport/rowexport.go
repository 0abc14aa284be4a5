// rowexport turns the raw result of a query (as the warehouse sends it) into typed rows in the session's time zone
// and writes the report: orders by weekday and hour, shipping delays by region.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

type column struct {
	name, kind string
}

type session struct {
	params map[string]string
}

type rows struct {
	sess *session
	cols []column
	in   *bufio.Scanner
	line int
}

var errNull = errors.New("null")

func currentLocation(s *session) (*time.Location, error) {
	name, ok := s.params["TIMEZONE"]
	if !ok {
		return time.UTC, nil
	}
	return time.LoadLocation(name)
}

func openRows(s *session, r io.Reader) (*rows, error) {
	rs := &rows{sess: s, in: bufio.NewScanner(r)}
	if !rs.in.Scan() {
		return nil, errors.New("no header")
	}
	for _, f := range strings.Split(rs.in.Text(), "\t") {
		name, kind, ok := strings.Cut(f, ":")
		if !ok {
			return nil, fmt.Errorf("column %q has no type", f)
		}
		rs.cols = append(rs.cols, column{name, kind})
	}
	return rs, nil
}

func parseTimestamp(s string, loc *time.Location) (time.Time, error) {
	sec, frac, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(sec, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	ms := int64(0)
	if frac != "" {
		if ms, err = strconv.ParseInt(frac, 10, 64); err != nil {
			return time.Time{}, err
		}
	}
	return time.Unix(n, ms*1e6).In(loc), nil
}

func (rs *rows) convert(c column, s string, loc *time.Location) (any, error) {
	if s == "" {
		return nil, errNull
	}
	switch c.kind {
	case "INT":
		return strconv.ParseInt(s, 10, 64)
	case "FIXED2":
		n, err := strconv.ParseInt(s, 10, 64)
		return float64(n) / 100, err
	case "TIMESTAMP_TZ":
		return parseTimestamp(s, loc)
	}
	return s, nil
}

func (rs *rows) next(dest []any) error {
	if !rs.in.Scan() {
		if err := rs.in.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	rs.line++
	loc, err := currentLocation(rs.sess)
	if err != nil {
		return err
	}
	fields := strings.Split(rs.in.Text(), "\t")
	if len(fields) != len(rs.cols) {
		return fmt.Errorf("row %d has %d fields", rs.line, len(fields))
	}
	for i, c := range rs.cols {
		v, err := rs.convert(c, fields[i], loc)
		if err == errNull {
			v = nil
		} else if err != nil {
			return fmt.Errorf("row %d, %s: %w", rs.line, c.name, err)
		}
		dest[i] = v
	}
	return nil
}

type delay struct {
	count int
	total time.Duration
	worst time.Duration
	late  int
}

type report struct {
	rows, open int
	amount     float64
	hours      [7][24]int
	delays     map[string]*delay
	digest     uint64
}

func (r *report) add(dest []any) error {
	placed, ok := dest[1].(time.Time)
	if !ok {
		return errors.New("order without a date")
	}
	r.rows++
	r.hours[placed.Weekday()][placed.Hour()]++
	r.amount += dest[3].(float64)
	region := dest[4].(string)
	d := r.delays[region]
	if d == nil {
		d = &delay{}
		r.delays[region] = d
	}
	shipped, ok := dest[2].(time.Time)
	if !ok {
		r.open++
		return nil
	}
	took := shipped.Sub(placed)
	d.count++
	d.total += took
	d.worst = max(d.worst, took)
	if shipped.YearDay() != placed.YearDay() && shipped.Hour() > 18 {
		d.late++
	}
	h := fnv.New64a()
	h.Write(placed.AppendFormat(nil, time.RFC3339Nano))
	h.Write(shipped.AppendFormat(nil, "Mon 2 Jan 15:04 MST"))
	r.digest ^= h.Sum64() * uint64(r.rows)
	return nil
}

func (r *report) print(w io.Writer) {
	for d := range 7 {
		busiest := 0
		sum := 0
		for h, n := range r.hours[d] {
			sum += n
			if n > r.hours[d][busiest] {
				busiest = h
			}
		}
		fmt.Fprintf(w, "%-9s %6d orders, busiest hour %02d\n", time.Weekday(d), sum, busiest)
	}
	var names []string
	for n := range r.delays {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		d := r.delays[n]
		fmt.Fprintf(w, "%-6s %6d shipped, mean %v, worst %v, late %d\n", n, d.count, (d.total / time.Duration(d.count)).Round(time.Second), d.worst, d.late)
	}
	fmt.Fprintf(w, "rows %d, open %d, amount %.2f, digest %016x\n", r.rows, r.open, r.amount, r.digest)
}

func run(zone string) error {
	f, err := os.Open("data/result.tsv")
	if err != nil {
		return err
	}
	defer f.Close()
	rs, err := openRows(&session{params: map[string]string{"TIMEZONE": zone, "DATE_FORMAT": "AUTO"}}, f)
	if err != nil {
		return err
	}
	rep := &report{delays: map[string]*delay{}}
	dest := make([]any, len(rs.cols))
	for {
		err := rs.next(dest)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = rep.add(dest)
		}
		if err != nil {
			return err
		}
	}
	fmt.Println(zone)
	rep.print(os.Stdout)
	return nil
}

func main() {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Sydney", "America/Sao_Paulo"} {
		if err := run(zone); err != nil {
			fmt.Fprintln(os.Stderr, "rowexport:", err)
			os.Exit(1)
		}
	}
}
