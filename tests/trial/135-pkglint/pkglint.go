// Command pkglint checks the packages of a tree: it parses their files, runs some checks over the syntax trees, resolves
// the files that findings and imports belong to, drops repeated findings and prints a report by package.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

type Issue struct {
	Check string
	File  string
	Line  int
	Text  string
}

type Package struct {
	Dir     string
	Files   []*ast.File
	Paths   []string
	Imports map[string]bool
}

type Linter struct {
	fset     *token.FileSet
	root     string
	packages map[string]*Package
	issues   []Issue
	resolved int
}

type check func(l *Linter, p *Package, path string, file *ast.File)

// ---- paths ----

// realPath returns the path of a file without symbolic links, so that a file that is reached in two ways is known as one.
func (l *Linter) realPath(path string) (string, error) {
	l.resolved++
	return filepath.EvalSymlinks(path)
}

func (l *Linter) shortPath(path string) string {
	real, err := l.realPath(path)
	if err != nil {
		return path
	}
	if relative, err := filepath.Rel(l.root, real); err == nil {
		return relative
	}
	return real
}

// ---- loading ----

func (l *Linter) load() error {
	return filepath.WalkDir(l.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(l.fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		dir, err := l.realPath(filepath.Dir(path))
		if err != nil {
			return err
		}
		p := l.packages[dir]
		if p == nil {
			p = &Package{Dir: dir, Imports: map[string]bool{}}
			l.packages[dir] = p
		}
		p.Files = append(p.Files, file)
		p.Paths = append(p.Paths, path)
		return nil
	})
}

func (l *Linter) resolveImports(p *Package) {
	for _, file := range p.Files {
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if dir, err := l.realPath(filepath.Join(l.root, name)); err == nil {
				p.Imports[dir] = l.packages[dir] != nil
			}
		}
	}
}

// ---- checks ----

func (l *Linter) report(check string, pos token.Pos, text string) {
	at := l.fset.Position(pos)
	l.issues = append(l.issues, Issue{check, at.Filename, at.Line, text})
}

func checkNames(l *Linter, p *Package, path string, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			for _, name := range f.Names {
				if strings.Contains(name.Name, "_") {
					l.report("names", name.Pos(), "underscore in "+name.Name)
				}
			}
		}
		return true
	})
}

func checkErrors(l *Linter, p *Package, path string, file *ast.File) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Type.Results == nil {
			continue
		}
		fails := false
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
				last, ok := r.Results[len(r.Results)-1].(*ast.Ident)
				fails = fails || !ok || last.Name != "nil"
			}
			return true
		})
		if !fails {
			l.report("errors", f.Pos(), f.Name.Name+" never fails")
		}
	}
}

func checkNumbers(l *Linter, p *Package, path string, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok && b.Op == token.MUL {
			if v, ok := b.Y.(*ast.BasicLit); ok && len(v.Value) > 1 {
				l.report("numbers", v.Pos(), "bare number "+v.Value)
			}
		}
		return true
	})
}

func checkUnusedImports(l *Linter, p *Package, path string, file *ast.File) {
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	for _, spec := range file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if !used[filepath.Base(name)] {
			l.report("imports", spec.Pos(), "unused "+name)
		}
	}
}

func (l *Linter) run() {
	dirs := make([]string, 0, len(l.packages))
	for dir := range l.packages {
		dirs = append(dirs, dir)
	}
	sort.Strings(dirs)
	for _, dir := range dirs {
		p := l.packages[dir]
		l.resolveImports(p)
		for i, file := range p.Files {
			for _, c := range []check{checkNames, checkErrors, checkNumbers, checkUnusedImports} {
				c(l, p, p.Paths[i], file)
			}
		}
	}
}

// ---- report ----

type reportKey struct {
	file, check, text string
	line              int
}

func (l *Linter) printReport() {
	seen := map[reportKey]bool{}
	counts := map[string]int{}
	digest := fnv.New64a()
	kept := 0
	for _, issue := range l.issues {
		short := l.shortPath(issue.File)
		key := reportKey{short, issue.Check, issue.Text, issue.Line}
		if seen[key] {
			continue
		}
		seen[key] = true
		kept++
		counts[issue.Check]++
		fmt.Fprintf(digest, "%s:%d: %s (%s)\n", short, issue.Line, issue.Text, issue.Check)
		if kept%4000 == 1 {
			fmt.Printf("%s:%d: %s (%s)\n", short, issue.Line, issue.Text, issue.Check)
		}
	}
	links := 0
	for _, p := range l.packages {
		for _, known := range p.Imports {
			if known {
				links++
			}
		}
	}
	fmt.Printf("packages %d, links %d, issues %d of %d, %v\n", len(l.packages), links, kept, len(l.issues), counts)
	fmt.Printf("digest %016x\n", digest.Sum64())
}

func main() {
	root, err := filepath.Abs("data/mod/src")
	if err != nil {
		fmt.Fprintln(os.Stderr, "pkglint:", err)
		os.Exit(1)
	}
	l := &Linter{fset: token.NewFileSet(), root: root, packages: map[string]*Package{}}
	if err := l.load(); err != nil {
		fmt.Fprintln(os.Stderr, "pkglint:", err)
		os.Exit(1)
	}
	l.run()
	l.printReport()
}
