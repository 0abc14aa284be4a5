// Billing of electricity meters: readings carry local times without an offset;
// they are converted with the time zone of the site and summed per tariff.
package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata"
)

type Site struct {
	ID       string
	Zone     string
	Tariff   string
	DayFrom  int
	DayUntil int
}

type Metric struct {
	Name   string
	Tags   map[string]string
	Fields map[string]float64
	Time   time.Time
}

// ---- csv parser ----

type ParserConfig struct {
	Measurement     string
	TimestampColumn string
	TimestampFormat string
	TagColumns      []string
	SkipValues      []string
}

type Parser struct {
	cfg    ParserConfig
	zoneOf func(tags map[string]string) string
	header []string
}

func NewParser(cfg ParserConfig, zoneOf func(map[string]string) string) *Parser {
	return &Parser{cfg: cfg, zoneOf: zoneOf}
}

func (p *Parser) SetHeader(h []string) { p.header = append([]string(nil), h...) }

func (p *Parser) isTag(col string) bool {
	for _, t := range p.cfg.TagColumns {
		if t == col {
			return true
		}
	}
	return false
}

func (p *Parser) skipped(v string) bool {
	for _, s := range p.cfg.SkipValues {
		if s == v {
			return true
		}
	}
	return false
}

func (p *Parser) ParseRecord(rec []string) (*Metric, error) {
	if len(rec) != len(p.header) {
		return nil, errors.New("wrong number of columns")
	}
	m := &Metric{
		Name:   p.cfg.Measurement,
		Tags:   make(map[string]string, len(p.cfg.TagColumns)),
		Fields: make(map[string]float64, len(rec)),
	}
	ts := ""
	for i, col := range p.header {
		v := strings.TrimSpace(rec[i])
		switch {
		case col == p.cfg.TimestampColumn:
			ts = v
		case p.skipped(v):
		case p.isTag(col):
			m.Tags[col] = v
		default:
			f, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return nil, fmt.Errorf("column %s: %w", col, err)
			}
			m.Fields[col] = f
		}
	}
	t, err := p.parseTimestamp(ts, p.zoneOf(m.Tags))
	if err != nil {
		return nil, err
	}
	m.Time = t
	return m, nil
}

// parseTimestamp understands the unix formats and Go layouts.
func (p *Parser) parseTimestamp(s, zone string) (time.Time, error) {
	switch p.cfg.TimestampFormat {
	case "unix", "unix_ms":
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return time.Time{}, err
		}
		if p.cfg.TimestampFormat == "unix" {
			return time.Unix(n, 0).UTC(), nil
		}
		return time.UnixMilli(n).UTC(), nil
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return time.Time{}, err
	}
	return time.ParseInLocation(p.cfg.TimestampFormat, s, loc)
}

// ---- billing ----

type Account struct {
	Day, Night float64
	Readings   int
	Estimated  int
	Peak       float64
	PeakAt     time.Time
	volts      []float64
}

type Billing struct {
	sites    map[string]*Site
	accounts map[string]*Account
	daily    map[string]map[string]float64
	rejected map[string]int
	utcHours [24]int
}

func NewBilling(sites map[string]*Site) *Billing {
	return &Billing{
		sites:    sites,
		accounts: map[string]*Account{},
		daily:    map[string]map[string]float64{},
		rejected: map[string]int{},
	}
}

func (b *Billing) Add(m *Metric) {
	site := b.sites[m.Tags["site"]]
	if m.Tags["quality"] == "bad" {
		b.rejected[site.ID]++
		return
	}
	key := site.ID + "/" + m.Tags["meter"]
	a := b.accounts[key]
	if a == nil {
		a = &Account{}
		b.accounts[key] = a
	}
	kwh := m.Fields["kwh"]
	if h := m.Time.Hour(); h >= site.DayFrom && h < site.DayUntil && m.Time.Weekday() != time.Sunday {
		a.Day += kwh
	} else {
		a.Night += kwh
	}
	if kwh > a.Peak {
		a.Peak, a.PeakAt = kwh, m.Time
	}
	if m.Tags["quality"] == "est" {
		a.Estimated++
	}
	a.Readings++
	a.volts = append(a.volts, m.Fields["volt"])
	b.utcHours[m.Time.UTC().Hour()]++
	day := m.Time.Format(time.DateOnly)
	if b.daily[site.Tariff] == nil {
		b.daily[site.Tariff] = map[string]float64{}
	}
	b.daily[site.Tariff][day] += kwh
}

func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return v[int(float64(len(v)-1)*q)]
}

func (b *Billing) Report(w io.Writer) {
	keys := make([]string, 0, len(b.accounts))
	for k := range b.accounts {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for i, k := range keys {
		a := b.accounts[k]
		sort.Float64s(a.volts)
		if i%15 != 0 {
			continue
		}
		fmt.Fprintf(w, "%s: day %.2f night %.2f (%d readings, %d estimated) peak %.3f at %s, volts %.1f..%.1f\n",
			k, a.Day, a.Night, a.Readings, a.Estimated, a.Peak, a.PeakAt.Format(time.RFC3339),
			quantile(a.volts, 0.05), quantile(a.volts, 0.95))
	}
	for _, t := range []string{"A", "B", "C"} {
		days := make([]string, 0, len(b.daily[t]))
		for d := range b.daily[t] {
			days = append(days, d)
		}
		sort.Slice(days, func(i, j int) bool {
			x, y := b.daily[t][days[i]], b.daily[t][days[j]]
			return x > y || x == y && days[i] < days[j]
		})
		fmt.Fprintf(w, "tariff %s: %d days, most on %s (%.2f)\n", t, len(days), days[0], b.daily[t][days[0]])
	}
	bad := 0
	for _, n := range b.rejected {
		bad += n
	}
	fmt.Fprintf(w, "rejected %d, readings by hour (UTC) %v\n", bad, b.utcHours)
}

func readCSV(path string, fn func(i int, rec []string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	for i := 0; ; i++ {
		rec, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := fn(i, rec); err != nil {
			return fmt.Errorf("%s, row %d: %w", filepath.Base(path), i+1, err)
		}
	}
}

func readSites(path string) (map[string]*Site, error) {
	sites := map[string]*Site{}
	err := readCSV(path, func(i int, rec []string) error {
		if i == 0 {
			return nil
		}
		from, err1 := strconv.Atoi(rec[3])
		until, err2 := strconv.Atoi(rec[4])
		sites[rec[0]] = &Site{ID: rec[0], Zone: rec[1], Tariff: rec[2], DayFrom: from, DayUntil: until}
		return errors.Join(err1, err2)
	})
	return sites, err
}

func run() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	dir := filepath.Join(filepath.Dir(exe), "data")
	sites, err := readSites(filepath.Join(dir, "sites.csv"))
	if err != nil {
		return err
	}
	p := NewParser(ParserConfig{
		Measurement:     "power",
		TimestampColumn: "time",
		TimestampFormat: time.DateTime,
		TagColumns:      []string{"site", "meter", "quality"},
		SkipValues:      []string{"", "NaN"},
	}, func(tags map[string]string) string { return sites[tags["site"]].Zone })
	b := NewBilling(sites)
	err = readCSV(filepath.Join(dir, "readings.csv"), func(i int, rec []string) error {
		if i == 0 {
			p.SetHeader(rec)
			return nil
		}
		m, err := p.ParseRecord(rec)
		if err != nil {
			return err
		}
		b.Add(m)
		return nil
	})
	if err != nil {
		return err
	}
	b.Report(os.Stdout)
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
