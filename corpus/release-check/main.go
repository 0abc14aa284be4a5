// Sets the version of each package of a repository, and checks after each that nothing else has changed. Usage: program REPOSITORY
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5"
)

func changed(tree *git.Worktree) ([]string, error) {
	status, err := tree.Status()
	if err != nil {
		return nil, err
	}
	var paths []string
	for path, state := range status {
		if state.Worktree != git.Unmodified || state.Staging != git.Unmodified {
			paths = append(paths, fmt.Sprintf("%c %s", state.Worktree, path))
		}
	}
	sort.Strings(paths)
	return paths, nil
}

func next(version string) (string, error) {
	var major, minor, patch int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d.%d.%d\n", major, minor+1, 0), nil
}

func release(folder string) error {
	repository, err := git.PlainOpen(folder)
	if err != nil {
		return err
	}
	tree, err := repository.Worktree()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*", "VERSION"))
	if err != nil {
		return err
	}
	for number, file := range files {
		old, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		version, err := next(string(old))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(file, []byte(version), 0o644); err != nil {
			return err
		}
		paths, err := changed(tree)
		if err != nil {
			return err
		}
		if len(paths) != number+1 {
			return fmt.Errorf("more has changed than versions: %s", strings.Join(paths, ", "))
		}
		fmt.Printf("%s: %s", filepath.Dir(file), version)
	}
	paths, err := changed(tree)
	fmt.Println(strings.Join(paths, "\n"))
	return err
}

func main() {
	if err := release(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
