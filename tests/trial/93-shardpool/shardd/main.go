// Command shardd answers for the twelve shards of an order database. Signing in takes what it takes from another data centre: several
// round trips and a slow password hash.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand"
	"net"
	"os"
	"strings"
	"time"
)

const signInTime = 14 * time.Millisecond

func hashPassword(user, salt string) string {
	sum := sha256.Sum256([]byte(user + salt))
	for i := 0; i < 50; i++ {
		sum = sha256.Sum256(sum[:])
	}
	return hex.EncodeToString(sum[:8])
}

func orders(shard, customer int, out *bufio.Writer) {
	rng := rand.New(rand.NewSource(int64(shard*1000003 + customer)))
	rows := 60 + rng.Intn(120)
	fmt.Fprintf(out, "rows %d\n", rows)
	for i := 0; i < rows; i++ {
		fmt.Fprintf(out, "%d,%d,%d.%02d,%s,2024-%02d-%02d\n", customer*1000+i, rng.Intn(900), rng.Intn(400), rng.Intn(100),
			[]string{"paid", "open", "refunded", "shipped"}[rng.Intn(4)], 1+rng.Intn(12), 1+rng.Intn(28))
	}
}

func serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	out := bufio.NewWriter(conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		words := strings.Fields(line)
		switch words[0] {
		case "auth":
			time.Sleep(signInTime)
			fmt.Fprintf(out, "welcome %s\n", hashPassword(words[1], "s1"))
		case "orders":
			var shard, customer int
			fmt.Sscan(words[1], &shard)
			fmt.Sscan(words[2], &customer)
			orders(shard, customer, out)
		default:
			fmt.Fprintln(out, "error")
		}
		if out.Flush() != nil {
			return
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	os.Stdout.Close()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go serve(conn)
	}
}
