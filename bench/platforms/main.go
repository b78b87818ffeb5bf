// Command platforms records which tests pass on a system, for the table of docs/platforms.md.
//
//	go test -json ./... | go run ./bench/platforms record windows
//	go run ./bench/platforms run linux
//	go test -json -run COM ./... | go run ./bench/platforms print
//
// record reads the events of "go test -json", prints them as go test does without -v, and writes the named tests of features.txt that passed
// into internal/platform/proof/ran/SYSTEM.txt. run starts the tests of the system itself. Both then write the page anew. "wine" stands for
// the tests of Windows on Wine. print writes nothing. The status is 1 if a test failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/platform/proof"
)

const module = "github.com/gybob/aai-gateway/"

func main() {
	log.SetFlags(0)
	if len(os.Args) == 2 && os.Args[1] == "page" {
		writePage()
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "print" {
		if _, failed := read(os.Stdin); failed {
			os.Exit(1)
		}
		return
	}
	if len(os.Args) != 3 || os.Args[1] != "record" && os.Args[1] != "run" {
		log.Fatal("usage: platforms record|run linux|wine|windows|darwin, or platforms page|print")
	}
	place := os.Args[2]
	named, err := proof.Names(strings.Replace(place, "wine", "windows", 1))
	if err != nil {
		log.Fatal(err)
	}
	events, wait := io.Reader(os.Stdin), func() error { return nil }
	if os.Args[1] == "run" {
		events, wait = start(named)
	}
	passed, failed := read(events)
	if err := wait(); err != nil {
		log.Print(err)
		failed = true
	}
	kept := slices.DeleteFunc(named, func(name string) bool { return !passed[name] })
	file := filepath.Join("internal", "platform", "proof", "ran", place+".txt")
	if err := os.WriteFile(file, []byte(strings.Join(append(kept, ""), "\n")), 0o644); err != nil {
		log.Fatal(err)
	}
	out, err := exec.Command("go", "run", "./bench/platforms", "page").CombinedOutput() // anew, since the record is built in
	if err != nil {
		log.Fatalf("%v: %s", err, out)
	}
	fmt.Printf("%d of the tests that the table names passed; it is written anew\n", len(kept))
	if failed {
		os.Exit(1)
	}
}

func writePage() {
	page, err := proof.Page()
	if err == nil {
		err = os.WriteFile(filepath.Join("docs", "platforms.md"), []byte(page), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// start runs the named tests and returns their events.
func start(named []string) (io.Reader, func() error) {
	var packages, names []string
	for _, name := range named {
		folder, test, _ := strings.Cut(name, " ")
		test, _, _ = strings.Cut(test, "/")
		packages, names = append(packages, "./"+folder), append(names, "^"+test+"$")
	}
	slices.Sort(packages)
	args := []string{"test", "-json", "-count=1", "-timeout", "60m", "-run", strings.Join(names, "|")}
	cmd := exec.Command("go", append(args, slices.Compact(packages)...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		log.Fatal(err)
	}
	return out, func() error { _ = cmd.Wait(); return nil } // a failed test is an event
}

// event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

// read prints the results of packages and the output of failed tests, and returns the tests that passed.
func read(events io.Reader) (passed map[string]bool, failed bool) {
	passed = map[string]bool{}
	output := map[string][]string{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Println(lines.Text()) // the compiler's
			continue
		}
		name := strings.TrimPrefix(e.Package, module) + " " + e.Test
		switch e.Action {
		case "output":
			output[name] = append(output[name], e.Output)
		case "pass":
			passed[name] = e.Test != ""
		case "fail":
			failed = true
		}
		if e.Test == "" && e.Action == "output" && (strings.HasPrefix(e.Output, "ok") || strings.HasPrefix(e.Output, "FAIL") || strings.HasPrefix(e.Output, "panic")) ||
			e.Action == "build-output" {
			fmt.Print(e.Output)
		}
		if e.Action == "fail" {
			fmt.Print(strings.Join(output[name], ""))
		}
		if e.Action == "pass" || e.Action == "fail" {
			delete(output, name)
		}
	}
	if err := lines.Err(); err != nil {
		log.Print(err)
		failed = true
	}
	return passed, failed
}
