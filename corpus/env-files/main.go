// Checks the environment files of all services before they are rolled out: what is set to a secret of the test system, what two
// services set to different values, and which service has the most settings. Usage: program FOLDER
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/joho/godotenv"
)

type use struct {
	service, value string
}

func main() {
	paths, err := filepath.Glob(filepath.Join(os.Args[1], "*.env"))
	if err != nil {
		log.Fatal(err)
	}
	uses := map[string][]use{}
	most, largest := 0, ""
	for _, path := range paths {
		service := strings.TrimSuffix(filepath.Base(path), ".env")
		settings, err := godotenv.Read(path)
		if err != nil {
			log.Fatalf("%s: %v", path, err)
		}
		for name, value := range settings {
			uses[name] = append(uses[name], use{service, value})
			if strings.HasSuffix(name, "_KEY") && strings.HasPrefix(value, "test-") {
				uses["secrets of the test system"] = append(uses["secrets of the test system"], use{service, name})
			}
		}
		if len(settings) > most {
			most, largest = len(settings), service
		}
	}
	var names []string
	for name := range uses {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		values := map[string]bool{}
		for _, use := range uses[name] {
			values[use.value] = true
		}
		if len(values) > 1 {
			fmt.Printf("%s: %d services, %d values\n", name, len(uses[name]), len(values))
		}
	}
	fmt.Printf("%d services, most settings in %s: %d\n", len(paths), largest, most)
}
