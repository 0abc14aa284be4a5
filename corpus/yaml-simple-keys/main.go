// Reads every configuration file of a folder and says how many settings each holds and how deep they are nested.
package main

import (
	"fmt"
	"io/ioutil"
	"log"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v2"
)

func measure(value interface{}) (settings, depth int) {
	var children []interface{}
	switch value := value.(type) {
	case []interface{}:
		children = value
	case map[interface{}]interface{}:
		for _, child := range value {
			children = append(children, child)
		}
	default:
		return 1, 0
	}
	for _, child := range children {
		below, levels := measure(child)
		settings += below
		if levels > depth {
			depth = levels
		}
	}
	return settings, depth + 1
}

func main() {
	paths, err := filepath.Glob(filepath.Join(os.Args[1], "*.yaml"))
	if err != nil {
		log.Fatal(err)
	}
	for _, path := range paths {
		text, err := ioutil.ReadFile(path)
		if err != nil {
			log.Fatal(err)
		}
		var document interface{}
		if err := yaml.Unmarshal(text, &document); err != nil {
			log.Fatalf("%s: %v", path, err)
		}
		settings, depth := measure(document)
		fmt.Printf("%s: %d settings, depth %d\n", filepath.Base(path), settings, depth)
	}
}
