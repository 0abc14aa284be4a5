package main

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
)

// Connections are given up after so many queries, so that they spread over the servers behind the address again.
const maxQueriesPerConn = 10

// Conn is a signed-in connection to one shard.
type Conn struct {
	shard   int
	queries int
	raw     net.Conn
	in      *bufio.Reader
	session string
}

// dial connects to a shard and signs in.
func dial(address string, shard int) (*Conn, error) {
	raw, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &Conn{shard: shard, raw: raw, in: bufio.NewReaderSize(raw, 16<<10)}
	if err := c.signIn(fmt.Sprintf("report%d", shard)); err != nil {
		raw.Close()
		return nil, err
	}
	return c, nil
}

func (c *Conn) signIn(user string) error {
	if _, err := fmt.Fprintf(c.raw, "auth %s\n", user); err != nil {
		return err
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(line, "welcome ") {
		return fmt.Errorf("shard %d: %s", c.shard, strings.TrimSpace(line))
	}
	c.session = strings.TrimSpace(line[8:])
	return nil
}

// Orders fetches the orders of a customer.
func (c *Conn) Orders(customer int) ([]Order, error) {
	c.queries++
	if _, err := fmt.Fprintf(c.raw, "orders %d %d\n", c.shard, customer); err != nil {
		return nil, err
	}
	head, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "rows ")))
	if err != nil {
		return nil, err
	}
	orders := make([]Order, 0, n)
	for i := 0; i < n; i++ {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		order, err := parseOrder(string(line[:len(line)-1]))
		if err != nil {
			return nil, err
		}
		orders = append(orders, order)
	}
	return orders, nil
}

// Pool keeps idle connections to the shards.
type Pool struct {
	address string

	mu     sync.Mutex
	idle   map[int][]*Conn
	opened int
	reused int
}

// NewPool returns a pool for the shards behind an address.
func NewPool(address string) *Pool {
	return &Pool{address: address, idle: make(map[int][]*Conn)}
}

// Acquire returns an idle connection to the shard, or opens one.
func (p *Pool) Acquire(shard int) (*Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if conns := p.idle[shard]; len(conns) > 0 {
		c := conns[len(conns)-1]
		p.idle[shard] = conns[:len(conns)-1]
		p.reused++
		return c, nil
	}
	c, err := dial(p.address, shard)
	if err != nil {
		return nil, err
	}
	p.opened++
	return c, nil
}

// Release gives a connection back.
func (p *Pool) Release(c *Conn) {
	if c.queries >= maxQueriesPerConn {
		c.raw.Close()
		return
	}
	p.mu.Lock()
	p.idle[c.shard] = append(p.idle[c.shard], c)
	p.mu.Unlock()
}

// Close closes the idle connections.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conns := range p.idle {
		for _, c := range conns {
			c.raw.Close()
		}
	}
	p.idle = nil
}
