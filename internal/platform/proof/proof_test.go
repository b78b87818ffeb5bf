package proof

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestPage compares docs/platforms.md with the record.
func TestPage(t *testing.T) {
	want, err := Page()
	assert.NilError(t, err)
	got, err := os.ReadFile("../../../docs/platforms.md")
	assert.NilError(t, err)
	assert.Equal(t, string(got), want, "run: go run ./bench/platforms page")
}

// TestReadme checks that the README says the same as the record.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../../README.md")
	assert.NilError(t, err)
	readme := strings.Join(strings.Fields(string(text)), " ")
	for _, system := range Systems() {
		assert.Check(t, strings.Contains(readme, Sentence(system)), "README.md lacks: %s", Sentence(system))
	}
}

// TestNamedTestsExist checks that each named test is a test of its package for the system.
func TestNamedTestsExist(t *testing.T) {
	for _, system := range Systems() {
		names, err := Names(system)
		assert.NilError(t, err)
		for _, name := range names {
			folder, test, _ := strings.Cut(name, " ")
			test, _, _ = strings.Cut(test, "/")
			assert.Check(t, hasTest(t, folder, test), name)
		}
	}
}

func hasTest(t *testing.T, folder, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../..", folder, "*_test.go"))
	assert.NilError(t, err)
	declared := regexp.MustCompile(`(?m)^func ` + test + `\(`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		if declared.Match(text) {
			return true
		}
	}
	return false
}

// TestRecordHasOnlyNamedTests checks that no record claims a test that the table does not name.
func TestRecordHasOnlyNamedTests(t *testing.T) {
	for place, system := range map[string]string{"linux": "linux", "wine": "windows", "windows": "windows", "darwin": "darwin"} {
		names, err := Names(system)
		assert.NilError(t, err)
		for name := range Passed(place) {
			assert.Check(t, is.Contains(names, name), place)
		}
	}
}

func TestCell(t *testing.T) {
	features, err := parseFeatures("COM\n\twindows: a TestA\n\twindows: own a TestB\n\tdarwin: built\n")
	assert.NilError(t, err)
	for _, c := range []struct {
		system, place string
		passed        []string
		want          string
	}{
		{"windows", "windows", []string{"a TestA", "a TestB"}, "ran"},
		{"windows", "wine", []string{"a TestA", "a TestB"}, "ran on Wine"},
		{"windows", "wine", []string{"a TestA"}, "ran on Wine in part"},
		{"windows", "wine", []string{"a TestB"}, "ran on Wine in part, with programs of the tests"},
		{"windows", "linux", []string{"a TestA"}, "built only"},
		{"darwin", "wine", []string{"a TestA"}, "built only"},
		{"linux", "wine", []string{"a TestA"}, "-"},
	} {
		passed := map[string]map[string]bool{c.place: {}}
		for _, name := range c.passed {
			passed[c.place][name] = true
		}
		assert.Check(t, is.Equal(features[0].cell(c.system, passed), c.want))
	}
}

func TestFeaturesNameTheLine(t *testing.T) {
	_, err := parseFeatures("COM\n\twindows: TestA\n")
	assert.Check(t, is.ErrorContains(err, "line 2"))
	_, err = parseFeatures("windows: a TestA\n")
	assert.Check(t, is.ErrorContains(err, "line 1"))
}
