// Package proof records which features of the gateway ran on which system, as tests showed it, and makes docs/platforms.md from the record.
//
// features.txt names the tests of each feature. "go run ./bench/platforms" runs tests and writes the ones that passed into ran/SYSTEM.txt.
// The record is part of the program, so that the program says on a system how far it was tried there.
package proof

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed features.txt page.md ran/*.txt
var files embed.FS

// A Test is a test function of a package, such as "internal/audit TestAppend".
type Test struct {
	Name string
	// OwnProgram reports whether the test uses a program that was written for it in the place of a real one.
	OwnProgram bool
}

// A Feature is a row of the table.
type Feature struct {
	Name string
	// Tests holds the tests by the system that they are for. A system without tests and without IsBuilt lacks the feature.
	Tests map[string][]Test
	// IsBuilt reports, by system, that the feature is part of the program there, also without a test.
	IsBuilt map[string]bool
}

// Systems are the operating systems of the table, by their names in Go, in the table's order.
func Systems() []string { return []string{"linux", "windows", "darwin"} }

// Features returns the features with their tests. Each paragraph of features.txt is a feature: its name, then lines such as
// "windows: internal/drivers/com TestCases", "windows: own internal/… TestX" for a test with a program of its own, and "darwin: built".
func Features() ([]Feature, error) {
	text, err := files.ReadFile("features.txt")
	if err != nil {
		return nil, err
	}
	return parseFeatures(string(text))
}

func parseFeatures(text string) ([]Feature, error) {
	var features []Feature
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		system, test, isTest := strings.Cut(line, ": ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !isTest || !slices.Contains(Systems(), system):
			features = append(features, Feature{Name: line, Tests: map[string][]Test{}, IsBuilt: map[string]bool{}})
		case len(features) == 0:
			return nil, fmt.Errorf("features.txt, line %d: a test stands before the first feature", n+1)
		case test == "built":
			features[len(features)-1].IsBuilt[system] = true
		default:
			name, own := strings.CutPrefix(test, "own ")
			if len(strings.Fields(name)) != 2 {
				return nil, fmt.Errorf("features.txt, line %d: %q, expected a package and a test", n+1, name)
			}
			tests := features[len(features)-1].Tests
			tests[system] = append(tests[system], Test{Name: name, OwnProgram: own})
		}
	}
	return features, nil
}

// Passed returns the tests that are recorded for a place: "linux", "windows", "darwin", or "wine".
func Passed(place string) map[string]bool {
	text, err := files.ReadFile("ran/" + place + ".txt")
	if err != nil {
		return nil // nothing ran there
	}
	passed := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		passed[strings.TrimSpace(line)] = true
	}
	return passed
}

// cell describes how far a feature was tried on a system.
func (f *Feature) cell(system string, passed map[string]map[string]bool) string {
	tests := f.Tests[system]
	switch {
	case len(tests) == 0 && f.IsBuilt[system]:
		return "built only"
	case len(tests) == 0:
		return "-"
	}
	for _, place := range []struct{ name, words string }{{system, "ran"}, {"wine", "ran on Wine"}} {
		n, own := 0, 0
		for _, t := range tests {
			if (place.name == system || system == "windows") && passed[place.name][t.Name] {
				n++
				if t.OwnProgram {
					own++
				}
			}
		}
		if n == 0 {
			continue
		}
		words := place.words
		if n < len(tests) {
			words += " in part"
		}
		if own == n {
			words += ", with programs of the tests"
		}
		return words
	}
	return "built only"
}

// records returns the recorded tests of all places.
func records() map[string]map[string]bool {
	passed := map[string]map[string]bool{"wine": Passed("wine")}
	for _, system := range Systems() {
		passed[system] = Passed(system)
	}
	return passed
}

// Page returns docs/platforms.md.
func Page() (string, error) {
	features, err := Features()
	if err != nil {
		return "", err
	}
	template, err := files.ReadFile("page.md")
	if err != nil {
		return "", err
	}
	passed := records()
	var table strings.Builder
	table.WriteString("| feature | Linux | Windows | macOS |\n| --- | --- | --- | --- |\n")
	for _, f := range features {
		fmt.Fprintf(&table, "| %s |", f.Name)
		for _, system := range Systems() {
			fmt.Fprintf(&table, " %s |", f.cell(system, passed))
		}
		table.WriteString("\n")
	}
	var sentences []string
	for _, system := range Systems()[1:] {
		sentences = append(sentences, Sentence(system))
	}
	return strings.NewReplacer("{{table}}\n", table.String(), "{{sentences}}", strings.Join(sentences, " ")).Replace(string(template)), nil
}

// Sentence says how far the program was tried on a system, by the record; "" for Linux, where it is tested as a whole.
func Sentence(system string) string {
	switch {
	case system == "linux":
		return ""
	case len(Passed(system)) > 0:
		return fmt.Sprintf("On %s the tests of its parts ran.", title(system))
	case system == "windows" && len(Passed("wine")) > 0:
		return "On Windows the program never ran yet: its tests ran on Wine, which stands in for Windows."
	}
	return fmt.Sprintf("On %s the program never ran: it was only built.", title(system))
}

func title(system string) string {
	return map[string]string{"linux": "Linux", "windows": "Windows", "darwin": "macOS"}[system]
}

// Names returns the names of the tests for a system, sorted.
func Names(system string) ([]string, error) {
	features, err := Features()
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, f := range features {
		for _, t := range f.Tests[system] {
			names[t.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}
