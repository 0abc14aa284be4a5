// Writes a plan of rooms as a spreadsheet. Each line of the plan becomes a row, each room a merged pair of cells.
package main

import (
	"encoding/csv"
	"fmt"
	"log"
	"os"

	"github.com/xuri/excelize/v2"
)

const sheet = "Sheet1"

func write(book *excelize.File, rows [][]string) (cells int, err error) {
	for row, names := range rows {
		for column, name := range names {
			from, err := excelize.CoordinatesToCellName(2*column+1, row+1)
			if err != nil {
				return cells, err
			}
			to, err := excelize.CoordinatesToCellName(2*column+2, row+1)
			if err != nil {
				return cells, err
			}
			if err := book.MergeCell(sheet, from, to); err != nil {
				return cells, err
			}
			if err := book.SetCellValue(sheet, from, name); err != nil {
				return cells, err
			}
			cells++
		}
	}
	return cells, nil
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	book := excelize.NewFile()
	cells, err := write(book, rows)
	if err != nil {
		log.Fatal(err)
	}
	if err := book.SaveAs(os.Args[2]); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows, %d rooms\n", len(rows), cells)
}
