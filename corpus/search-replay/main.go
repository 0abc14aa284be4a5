// Replays a log of requests against the search of a flat agency. Usage: program LOG
package main

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
)

type flat struct {
	town                            string
	rooms, price, area, floor, year int
	features                        string
}

type filter struct {
	town                                   string
	roomsMin, roomsMax, priceMin, priceMax int
	areaMin, areaMax, floorMin, floorMax   int
	yearMin, page, perPage                 int
	features                               []string
	order                                  string
}

var towns = []string{"Köln", "Bonn", "Aachen", "Düsseldorf", "Essen", "Münster", "Bad Godesberg"}

func flats() map[string][]flat {
	all := map[string][]flat{}
	features := []string{"balcony", "garden", "lift", "cellar", "garage"}
	for number := 0; number < 280; number++ {
		one := flat{
			town: towns[number%7], rooms: 1 + number%6, price: 300 + number*37%2000, area: 20 + number*13%150, floor: number % 8,
			year: 1900 + number*17%124, features: features[number%5] + " " + features[number/5%5] + " " + features[number/25%5],
		}
		all[one.town] = append(all[one.town], one)
	}
	return all
}

func number(c *gin.Context, name string, other int) int {
	value, err := strconv.Atoi(c.DefaultQuery(name, strconv.Itoa(other)))
	if err != nil {
		return other
	}
	return value
}

func filterOf(c *gin.Context) filter {
	return filter{
		town:     c.Query("town"),
		roomsMin: number(c, "rooms_min", 0), roomsMax: number(c, "rooms_max", 99),
		priceMin: number(c, "price_min", 0), priceMax: number(c, "price_max", 99_999),
		areaMin: number(c, "area_min", 0), areaMax: number(c, "area_max", 9_999),
		floorMin: number(c, "floor_min", 0), floorMax: number(c, "floor_max", 99),
		yearMin: number(c, "year_min", 0), page: number(c, "page", 1), perPage: number(c, "per_page", 20),
		features: c.QueryArray("feature"), order: c.DefaultQuery("sort", "price"),
	}
}

func (f *filter) accepts(one *flat) bool {
	if one.rooms < f.roomsMin || one.rooms > f.roomsMax || one.price < f.priceMin || one.price > f.priceMax || one.area < f.areaMin ||
		one.area > f.areaMax || one.floor < f.floorMin || one.floor > f.floorMax || one.year < f.yearMin {
		return false
	}
	for _, feature := range f.features {
		if !strings.Contains(one.features, feature) {
			return false
		}
	}
	return true
}

func search(all map[string][]flat) gin.HandlerFunc {
	return func(c *gin.Context) {
		wanted := filterOf(c)
		var found []flat
		for _, one := range all[wanted.town] {
			if wanted.accepts(&one) {
				found = append(found, one)
			}
		}
		sort.Slice(found, func(i, j int) bool {
			if wanted.order == "area" {
				return found[i].area > found[j].area
			}
			return found[i].price < found[j].price
		})
		c.String(http.StatusOK, "%s %d", wanted.town, len(found))
	}
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer file.Close()
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.GET("/flats", search(flats()))
	requests, found := map[string]int{}, map[string]int{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		request, err := http.NewRequest("GET", lines.Text(), nil)
		if err != nil {
			continue
		}
		answer := httptest.NewRecorder()
		router.ServeHTTP(answer, request)
		text := answer.Body.String()
		space := strings.LastIndexByte(text, ' ')
		count, err := strconv.Atoi(text[space+1:])
		if answer.Code != http.StatusOK || err != nil {
			fmt.Fprintln(os.Stderr, lines.Text(), answer.Code)
			continue
		}
		requests[text[:space]]++
		found[text[:space]] += count
	}
	for _, town := range towns {
		fmt.Printf("%s: %d requests, %d flats\n", town, requests[town], found[town])
	}
}
