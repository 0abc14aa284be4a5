// Plans how the packages of a distribution are built: reads what each needs, refuses what would need itself, and says which packages
// can be built at the same time, step by step. Usage: program FILE
package main

import (
	"bufio"
	"errors"
	"fmt"
	"log"
	"os"
	"sort"
	"strings"

	"github.com/dominikbraun/graph"
)

type recipe struct {
	name  string
	needs []string
}

func read(path string) ([]recipe, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var recipes []recipe
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		name, needs, found := strings.Cut(line, ":")
		if found {
			recipes = append(recipes, recipe{strings.TrimSpace(name), strings.Fields(needs)})
		}
	}
	return recipes, lines.Err()
}

// steps says for each package when it can be built: after all that it needs.
func steps(needs map[string]map[string]graph.Edge[string]) map[string]int {
	step := map[string]int{}
	var find func(name string) int
	find = func(name string) int {
		if known, ok := step[name]; ok {
			return known
		}
		latest := 0
		for other := range needs[name] {
			latest = max(latest, find(other)+1)
		}
		step[name] = latest
		return latest
	}
	for name := range needs {
		find(name)
	}
	return step
}

func main() {
	recipes, err := read(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	packages := graph.New(graph.StringHash, graph.Directed(), graph.PreventCycles())
	for _, recipe := range recipes {
		if err := packages.AddVertex(recipe.name); err != nil {
			log.Fatalf("%s: %v", recipe.name, err)
		}
	}
	for _, recipe := range recipes {
		for _, other := range recipe.needs {
			err := packages.AddEdge(recipe.name, other)
			if errors.Is(err, graph.ErrEdgeCreatesCycle) {
				fmt.Printf("%s cannot need %s\n", recipe.name, other)
			} else if err != nil && !errors.Is(err, graph.ErrEdgeAlreadyExists) {
				log.Fatalf("%s: %v", recipe.name, err)
			}
		}
	}
	needs, err := packages.AdjacencyMap()
	if err != nil {
		log.Fatal(err)
	}
	plan := map[int][]string{}
	for name, step := range steps(needs) {
		plan[step] = append(plan[step], name)
	}
	for step := 0; step < len(plan); step++ {
		sort.Strings(plan[step])
		fmt.Printf("step %d: %d packages, from %s to %s\n", step+1, len(plan[step]), plan[step][0], plan[step][len(plan[step])-1])
	}
}
