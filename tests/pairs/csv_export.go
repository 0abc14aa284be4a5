// Exports rows to a file: each field is written by a call of its own, or through a buffer.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

func export(out io.Writer, rows int) {
	for row := 0; row < rows; row++ {
		for column := 0; column < 4; column++ {
			fmt.Fprintf(out, "%d;", row*column)
		}
		fmt.Fprintln(out)
	}
}

func main() {
	file, err := os.CreateTemp("", "export")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	if len(os.Args) > 1 && os.Args[1] == "fixed" {
		buffered := bufio.NewWriter(file)
		export(buffered, 60000)
		buffered.Flush()
	} else {
		export(file, 60000)
	}
	size, _ := file.Seek(0, io.SeekEnd)
	fmt.Println(size)
}
