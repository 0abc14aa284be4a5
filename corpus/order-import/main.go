// Imports the orders of shops: reads their positions, one a line, checks them, and says what each shop sold. Usage: program FILE
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
)

type address struct {
	Name, Street, Town, Country string
}

// position is one line of an order.
type position struct {
	Order    int
	Shop     string
	Customer address
	Article  string
	Count    int
	Price    int
}

func parse(line string) (*position, error) {
	fields := strings.Split(line, ";")
	if len(fields) != 9 {
		return nil, errors.New("not a position: " + line)
	}
	position := &position{Shop: fields[1], Customer: address{fields[2], fields[3], fields[4], fields[5]}, Article: fields[6]}
	for at, number := range map[int]*int{0: &position.Order, 7: &position.Count, 8: &position.Price} {
		value, err := strconv.Atoi(fields[at])
		if err != nil {
			return nil, err
		}
		*number = value
	}
	return position, nil
}

type sales struct {
	positions, items, amount int
	countries                map[string]int
}

type importer struct {
	log   *logrus.Entry
	shops map[string]*sales
}

func (importer *importer) add(position *position) error {
	importer.log.Debugf("read %+v", *position)
	shop := importer.shops[position.Shop]
	if shop == nil {
		shop = &sales{countries: map[string]int{}}
		importer.shops[position.Shop] = shop
		importer.log.WithField("shop", position.Shop).Info("new shop")
	}
	if position.Count <= 0 {
		return fmt.Errorf("%d times %s", position.Count, position.Article)
	}
	shop.positions++
	shop.items += position.Count
	shop.amount += position.Count * position.Price
	shop.countries[position.Customer.Country]++
	importer.log.Debugf("%s of order %d is taken from the stock, sales of %s are now %+v", position.Article, position.Order, position.Shop, *shop)
	return nil
}

func run(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	importer := importer{logrus.WithField("file", path), map[string]*sales{}}
	lines := bufio.NewScanner(file)
	refused := 0
	for lines.Scan() {
		position, err := parse(lines.Text())
		if err != nil {
			return err
		}
		if err := importer.add(position); err != nil {
			refused++
			importer.log.WithError(err).Debug("position is refused")
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	var names []string
	for name := range importer.shops {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		shop := importer.shops[name]
		fmt.Printf("%s: %d positions to %d countries, %d items, %d.%02d\n", name, shop.positions, len(shop.countries), shop.items, shop.amount/100, shop.amount%100)
	}
	fmt.Printf("%d positions are refused\n", refused)
	return nil
}

func main() {
	logrus.SetOutput(os.Stderr)
	logrus.SetLevel(logrus.WarnLevel)
	if err := run(os.Args[1]); err != nil {
		logrus.Fatal(err)
	}
}
