package aai_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// A testName is the name of a test in docs/security.md: its package and its function.
type testName struct{ pkg, function string }

// testsNamed finds the tests that a page names.
func testsNamed(page string) []testName {
	var named []testName
	for _, m := range regexp.MustCompile("`([a-z0-9/-]+)\\.((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(page, -1) {
		named = append(named, testName{m[1], m[2]})
	}
	return named
}

// missingTests returns the tests that are in no file of their package.
func missingTests(t *testing.T, tree fs.FS, named []testName) []string {
	t.Helper()
	var missing []string
	for _, n := range named {
		folder := n.pkg
		if folder == "aai" {
			folder = "."
		}
		files, err := fs.Glob(tree, path.Join(folder, "*_test.go"))
		assert.NilError(t, err)
		found := slices.ContainsFunc(files, func(file string) bool {
			source, err := fs.ReadFile(tree, file)
			return err == nil && regexp.MustCompile(`(?m)^func `+n.function+`\(`).Match(source)
		})
		if !found {
			missing = append(missing, fmt.Sprintf("%s.%s", n.pkg, n.function))
		}
	}
	return missing
}

// rowsWithout returns the rows that name no test, of tables that promise some.
func rowsWithout(page string) []string {
	var rows []string
	promised, inTable := false, false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		isRow := strings.HasPrefix(line, "|")
		switch {
		case isRow && !inTable:
			promised = strings.HasSuffix(line, "| shown by |")
		case isRow && promised && !strings.HasPrefix(line, "| ---"):
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			if len(testsNamed(cells[len(cells)-1])) == 0 {
				rows = append(rows, line)
			}
		}
		inTable = isRow
	}
	return rows
}

// TestSecurityPage: a defence that no test shows is a claim, and a test that is
// gone shows nothing.
func TestSecurityPage(t *testing.T) {
	page, err := os.ReadFile("docs/security.md")
	assert.NilError(t, err)
	named := testsNamed(string(page))
	assert.Check(t, len(named) >= 50, "the page names %d tests", len(named))
	for _, missing := range missingTests(t, os.DirFS("."), named) {
		t.Errorf("docs/security.md names %s, which does not exist", missing)
	}
	for _, row := range rowsWithout(string(page)) {
		t.Errorf("no test shows this row: %s", row)
	}
	for word := range strings.FieldsSeq(string(page)) {
		assert.Check(t, !strings.Contains(word, ".Test") || len(testsNamed(word)) != 0, "%s is no name of a test that could be looked for", word)
	}
}

// TestSecurityPageBites: an unknown name is found, even if another package has it.
func TestSecurityPageBites(t *testing.T) {
	named := testsNamed("`aai.TestSecurityPage` and `internal/policy.TestSecurityPage`, `aai.TestSecurity`, `cellar.FuzzX`")
	got := missingTests(t, os.DirFS("."), named)
	want := []string{"internal/policy.TestSecurityPage", "aai.TestSecurity", "cellar.FuzzX"}
	assert.Check(t, slices.Equal(got, want), "missing %q, want %q", got, want)
	rows := rowsWithout("| a | b |\n| --- | --- |\n| x | y |\n\n| a | shown by |\n| --- | --- |\n| x | `aai.TestX` |\n| y `aai.TestY` | us |\n")
	want = []string{"| y `aai.TestY` | us |"}
	assert.Check(t, slices.Equal(rows, want), "rows %q, want %q", rows, want)
}
