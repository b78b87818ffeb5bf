// Command mutants breaks the production code in one place at a time and reports which breaks no test notices.
//
//	go run ./bench/mutants -n 20 -seed 7 [-room internal/doctor] [-limit 5m]
//
// It draws the places with the seed, from each package in turn. A mutant lives in an overlay of the go command, so no
// source changes; a property test that fails leaves a file in testdata/rapid, which git ignores. First the tests of the
// mutant's package run, then those of the packages that import it, the smallest first, until one fails or the limit is
// over. A failure counts only if the same test passes without the mutant.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// goPackage is a package in the output of `go list -json`.
type goPackage struct {
	Dir, ImportPath           string
	GoFiles, Imports          []string
	TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports []string
}

// mutant is one changed place: the bytes from start to end of a file are replaced.
type mutant struct {
	file       string
	line       int
	start, end int
	old, new   string
	function   string
}

// run holds the values that all mutants share.
type run struct {
	packages []goPackage
	root     string
	skip     string
	limit    time.Duration
	work     string
}

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 20, "how many mutants")
	seed := flag.Uint64("seed", uint64(time.Now().Unix()), "draws the places")
	room := flag.String("room", "", "only packages whose path begins with this")
	limit := flag.Duration("limit", 5*time.Minute, "time for the tests of one mutant")
	flag.Parse()
	r, err := prepare(*limit)
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(r.work) //nolint:errcheck // a temporary folder
	fmt.Printf("seed %d\n", *seed)
	random := rand.New(rand.NewPCG(*seed, 0))
	counts := map[string]int{}
	for m := range r.draw(random, *room) {
		if counts["killed"]+counts["survived"] == *n {
			break
		}
		began := time.Now()
		verdict, reason := r.judge(m)
		counts[verdict]++
		if verdict == "not built" {
			continue
		}
		fmt.Printf("%-8s %4.0f s  %s:%d %s: %q -> %q  %s\n", verdict, time.Since(began).Seconds(), m.file, m.line, m.function, shorten(m.old), shorten(m.new), reason)
	}
	fmt.Printf("%d killed, %d survived, %d did not build\n", counts["killed"], counts["survived"], counts["not built"])
}

func prepare(limit time.Duration) (*run, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	list, err := exec.Command("go", "list", "-json", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	r := &run{root: root, limit: limit}
	for decoder := json.NewDecoder(bytes.NewReader(list)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		r.packages = append(r.packages, p)
	}
	skip, err := exec.Command("scripts/slow-tests").Output()
	if err != nil {
		return nil, fmt.Errorf("scripts/slow-tests: %w", err)
	}
	r.skip = string(skip)
	r.work, err = os.MkdirTemp("", "mutants")
	return r, err
}

// draw returns mutants without end: a place of one package, then of the next, in random order.
func (r *run) draw(random *rand.Rand, room string) func(func(mutant) bool) {
	var places [][]mutant
	for _, p := range r.packages {
		name, _ := filepath.Rel(r.root, p.Dir)
		if !strings.HasPrefix(name, room) || strings.HasPrefix(name, "internal/testkit") || strings.HasPrefix(name, "bench") {
			continue
		}
		var all []mutant
		for _, file := range p.GoFiles {
			all = append(all, placesIn(r.root, filepath.Join(p.Dir, file))...)
		}
		if len(all) > 0 {
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			places = append(places, all)
		}
	}
	random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	return func(yield func(mutant) bool) {
		for k := 0; ; k++ {
			left := false
			for _, all := range places {
				if k < len(all) {
					left = true
					if !yield(all[k]) {
						return
					}
				}
			}
			if !left {
				return
			}
		}
	}
}

// swaps returns the operators and their mutants.
func swaps() map[token.Token]string {
	return map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==", token.LAND: "||", token.LOR: "&&"}
}

// placesIn finds the places of one file: operators, calls without a result, true and false, negations, early returns.
func placesIn(root, path string) []mutant {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, source, 0)
	if err != nil {
		return nil
	}
	name, _ := filepath.Rel(root, path)
	var found []mutant
	for _, declaration := range parsed.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		add := func(from, to token.Pos, replacement string) {
			start, end := files.Position(from).Offset, files.Position(to).Offset
			found = append(found, mutant{name, files.Position(from).Line, start, end, string(source[start:end]), replacement, function.Name.Name})
		}
		ast.Inspect(function.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if swap := swaps()[n.Op]; swap != "" {
					add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), swap)
				}
			case *ast.ExprStmt:
				add(n.Pos(), n.End(), "_ = 0")
			case *ast.Ident:
				if swap := map[string]string{"true": "false", "false": "true"}[n.Name]; swap != "" {
					add(n.Pos(), n.End(), swap)
				}
			case *ast.UnaryExpr:
				if n.Op == token.NOT {
					add(n.OpPos, n.OpPos+1, "")
				}
			case *ast.IfStmt:
				if len(n.Body.List) != 1 || n.Else != nil {
					return true
				}
				if _, ok := n.Body.List[0].(*ast.ReturnStmt); ok {
					condition := string(source[files.Position(n.Cond.Pos()).Offset:files.Position(n.Cond.End()).Offset])
					add(n.Cond.Pos(), n.Cond.End(), "false && ("+condition+")")
				}
			}
			return true
		})
	}
	return found
}

// judge runs tests over the mutant: "killed", "survived" or "not built", and the test that decided.
func (r *run) judge(m mutant) (verdict, reason string) {
	source, err := os.ReadFile(filepath.Join(r.root, m.file))
	if err != nil {
		return "not built", err.Error()
	}
	changed := slices.Concat(source[:m.start], []byte(m.new), source[m.end:])
	mutated, overlay := filepath.Join(r.work, "mutated.go"), filepath.Join(r.work, "overlay.json")
	replace, _ := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(r.root, m.file): mutated}})
	if err := errors.Join(os.WriteFile(mutated, changed, 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return "not built", err.Error()
	}
	own := filepath.Dir(filepath.Join(r.root, m.file))
	if _, err := r.command(time.Now().Add(r.limit), overlay, "build", "-o", os.DevNull, own); err != nil {
		return "not built", ""
	}
	deadline := time.Now().Add(r.limit)
	for _, dir := range r.testers(own) {
		left := time.Until(deadline)
		if left < time.Second {
			return "survived", "(the time was over)"
		}
		output, err := r.test(deadline, overlay, dir, "-failfast", "-skip", r.skip)
		if err == nil {
			continue
		}
		name := failed(output)
		if late := time.Now().After(deadline); late && name == "" || strings.Contains(output, "panic: test timed out") && !r.hung(output) {
			break
		}
		if name == "" || r.passesWithout(dir, name) {
			return "killed", strings.TrimPrefix(dir, r.root+"/") + " " + name
		}
	}
	if time.Until(deadline) < 0 {
		return "survived", "(the time was over)"
	}
	return "survived", ""
}

// testers lists the folders whose tests may notice a change of dir: dir, then its importers by the size of their tests.
func (r *run) testers(dir string) []string {
	own := r.packages[slices.IndexFunc(r.packages, func(p goPackage) bool { return p.Dir == dir })]
	tests := func(p goPackage) int { return len(p.TestGoFiles) + len(p.XTestGoFiles) }
	var importers []goPackage
	for _, p := range r.packages {
		if p.Dir != dir && tests(p) > 0 && slices.Contains(slices.Concat(p.Imports, p.TestImports, p.XTestImports), own.ImportPath) {
			importers = append(importers, p)
		}
	}
	slices.SortStableFunc(importers, func(a, b goPackage) int { return tests(a) - tests(b) })
	var dirs []string
	if tests(own) > 0 {
		dirs = append(dirs, dir)
	}
	for _, p := range importers {
		dirs = append(dirs, p.Dir)
	}
	return dirs
}

// failing returns a pattern for the line of a failed test, and of one that ran when the time was over, with how long it ran.
func failing() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^--- FAIL: (\w+)|^\s+(Test\w+)[/\w]* \((\S+)\)$`)
}

// hung reports whether the test that ran when the time was over took more than half of it.
func (r *run) hung(output string) bool {
	found := failing().FindStringSubmatch(output)
	if found == nil {
		return false
	}
	ran, err := time.ParseDuration(found[3])
	return err == nil && ran > r.limit/2
}

// failed is the name of the test that failed or hung, "" if the tests ended in another way.
func failed(output string) string {
	found := failing().FindStringSubmatch(output)
	if found == nil {
		return ""
	}
	return found[1] + found[2]
}

// passesWithout reports whether the test passes on the code as it is.
func (r *run) passesWithout(dir, name string) bool {
	_, err := r.test(time.Now().Add(r.limit), "", dir, "-run", "^"+name+"$", "-skip", r.skip)
	return err == nil
}

func (r *run) test(deadline time.Time, overlay, dir string, args ...string) (string, error) {
	args = append([]string{"test", "-vet=off", "-timeout", time.Until(deadline).Round(time.Second).String()}, args...)
	return r.command(deadline.Add(20*time.Second), overlay, append(args, dir)...)
}

func (r *run) command(deadline time.Time, overlay string, args ...string) (string, error) {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	command := exec.CommandContext(ctx, "go", args...)
	command.WaitDelay = time.Second
	command.Env = os.Environ()
	if overlay != "" {
		command.Env = append(command.Env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	}
	output, err := command.CombinedOutput()
	return string(output), err
}

func shorten(text string) string {
	if len(text) > 50 {
		return text[:50] + "…"
	}
	return text
}
