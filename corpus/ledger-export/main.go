// Says what is on the accounts of a ledger, and what was the greatest booking of each. Usage: program DATABASE
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"sort"
	"time"

	_ "github.com/mattn/go-sqlite3"
)

type account struct {
	name              string
	bookings          int
	balance, greatest int64
	first, last       int64
}

func export(ctx context.Context, db *sql.DB) ([]*account, error) {
	rows, err := db.QueryContext(ctx, "SELECT account, day, cents FROM booking ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	accounts := map[int64]*account{}
	for rows.Next() {
		var number, day, cents int64
		if err := rows.Scan(&number, &day, &cents); err != nil {
			return nil, err
		}
		entry := accounts[number]
		if entry == nil {
			entry = &account{name: fmt.Sprintf("%06d", number), first: day}
			accounts[number] = entry
		}
		entry.bookings++
		entry.balance += cents
		entry.greatest = max(entry.greatest, cents)
		entry.last = day
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	all := make([]*account, 0, len(accounts))
	for _, entry := range accounts {
		all = append(all, entry)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all, nil
}

func main() {
	db, err := sql.Open("sqlite3", "file:"+os.Args[1]+"?mode=ro")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	accounts, err := export(ctx, db)
	if err != nil {
		log.Fatal(err)
	}
	for _, entry := range accounts {
		fmt.Printf("%s: %d bookings from day %d to %d, %d, greatest %d\n", entry.name, entry.bookings, entry.first, entry.last, entry.balance, entry.greatest)
	}
}
