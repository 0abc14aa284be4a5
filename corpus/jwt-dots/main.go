// Checks the bearer tokens of a request log and says how many are good.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

const longest = 4 << 20

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, longest), longest)
	key := func(*jwt.Token) (interface{}, error) { return []byte("the key of the service"), nil }
	var good, malformed, wrong int
	for lines.Scan() {
		_, err := jwt.Parse(strings.TrimPrefix(lines.Text(), "Authorization: Bearer "), key)
		switch {
		case err == nil:
			good++
		case errors.Is(err, jwt.ErrTokenMalformed):
			malformed++
		default:
			wrong++
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d good, %d malformed, %d with a wrong signature\n", good, malformed, wrong)
}
