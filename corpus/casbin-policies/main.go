// Grants what a list of grants asks for, one after the other, and answers requests with the rules then in force.
// Usage: program MODEL GRANTS REQUESTS
package main

import (
	"encoding/csv"
	"fmt"
	"log"
	"os"

	"github.com/casbin/casbin/v2"
)

func lines(path string) [][]string {
	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	return rows
}

func main() {
	enforcer, err := casbin.NewEnforcer(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	granted, known := 0, 0
	for _, grant := range lines(os.Args[2]) {
		added, err := enforcer.AddPolicy(grant[0], grant[1], grant[2])
		if err != nil {
			log.Fatal(err)
		}
		if added {
			granted++
		} else {
			known++
		}
	}
	fmt.Printf("%d grants, %d were known\n", granted, known)
	for _, request := range lines(os.Args[3]) {
		allowed, err := enforcer.Enforce(request[0], request[1], request[2])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(request, allowed)
	}
}
