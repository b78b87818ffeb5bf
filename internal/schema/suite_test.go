package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gotest.tools/v3/assert"
)

// suiteFolder holds the tests of https://github.com/json-schema-org/JSON-Schema-Test-Suite
// for draft-07. They are not part of this repository; they lie beside it.
const suiteFolder = "../../../shared/data/json-schema-draft7/tests/draft7"

// A suiteCase is one schema of the suite with values that are right or wrong.
type suiteCase struct {
	file, name  string // name is the file and the description
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

func suite(t *testing.T) []suiteCase {
	t.Helper()
	if _, err := os.Stat(suiteFolder); errors.Is(err, os.ErrNotExist) {
		t.Skipf("skipped: the official draft-07 test suite is not at %s", suiteFolder)
	}
	var all []suiteCase
	err := filepath.WalkDir(suiteFolder, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var cases []suiteCase
		if err := json.Unmarshal(source, &cases); err != nil {
			return err
		}
		relative, err := filepath.Rel(suiteFolder, file)
		for _, c := range cases {
			c.file = strings.TrimSuffix(filepath.ToSlash(relative), ".json")
			c.name = c.file + ": " + c.Description
			all = append(all, c)
		}
		return err
	})
	assert.NilError(t, err)
	assert.Assert(t, len(all) >= 200, "the suite has only %d schemas: is it whole?", len(all))
	return all
}

// parsed decodes JSON without losing digits.
func parsed(t interface {
	Helper()
	Fatal(args ...any)
}, source []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// notAsserted lists the files of the suite with keywords that are annotations. For them the test
// is that they reject nothing.
func notAsserted() []string {
	return []string{
		"optional/content",
		"optional/format/idn-email",
		"optional/format/idn-hostname",
		"optional/format/uri-template",
	}
}

// TestSuiteOfTheLibrary checks the library with our configuration against the suite. Its wrong
// results are listed with reasons in testdata/suite_exceptions.txt, and must stay wrong to stay
// listed.
func TestSuiteOfTheLibrary(t *testing.T) {
	cases := suite(t)
	exceptions := readExceptions(t)
	for _, c := range cases {
		compiler := newCompiler(jsonschema.Draft7)
		assert.NilError(t, compiler.AddResource(location, parsed(t, c.Schema)), c.name)
		compiled, refused := compiler.Compile(location)
		for _, test := range c.Tests {
			want := test.Valid || slices.Contains(notAsserted(), c.file)
			right := refused == nil && (compiled.Validate(parsed(t, test.Data)) == nil) == want
			name := c.name + ": " + test.Description
			_, listed := exceptions[name]
			delete(exceptions, name)
			switch {
			case right && listed:
				t.Errorf("listed as an exception but passes: %s", name)
			case !right && !listed:
				t.Errorf("expected valid=%v (compile: %v): %s", want, refused, name)
			}
		}
	}
	for name := range exceptions {
		t.Errorf("no test of the suite is called %s", name)
	}
}

// readExceptions returns the names of the tests that are known to fail.
func readExceptions(t *testing.T) map[string]bool {
	t.Helper()
	source, err := os.ReadFile("testdata/suite_exceptions.txt")
	assert.NilError(t, err)
	exceptions := map[string]bool{}
	reason := false
	for line := range strings.Lines(string(source)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			reason = false
		case strings.HasPrefix(line, "#"):
			reason = true
		case !reason:
			t.Errorf("the exception has no reason above it: %s", line)
		default:
			exceptions[line] = true
		}
	}
	return exceptions
}

// TestSuiteThroughParse holds the whole way, budget and all, against the suite.
// A schema passes the budget, and then every one of its tests has the result the
// suite asks for, or it is refused for one of the reasons that we chose.
func TestSuiteThroughParse(t *testing.T) {
	cases := suite(t)
	exceptions := readExceptions(t)
	count := map[string]int{}
	for _, c := range cases {
		s, err := Parse(c.Schema)
		if err == nil {
			err = Compile(s)
		}
		if err != nil {
			class := refusalClass(err)
			assert.Check(t, class != "", "%s: refused for a reason that is not listed: %v", c.name, err)
			count[class]++
			continue
		}
		count["accepted"]++
		for _, test := range c.Tests {
			want := test.Valid || slices.Contains(notAsserted(), c.file)
			_, err := s.Check(parsed(t, test.Data))
			name := c.name + ": " + test.Description
			assert.Check(t, (err == nil) == want || exceptions[name], "expected valid=%v, got %v: %s", want, err, name)
		}
	}
	t.Logf("schemas of the suite: %v", count)
	for class := range refusalClasses() {
		assert.Check(t, count[class] != 0, "no schema of the suite is refused because: %s", class)
	}
	assert.Check(t, count["accepted"] >= len(cases)*3/4, "only %d of %d schemas were accepted", count["accepted"], len(cases))
}

// TestSuiteThroughReadLenient: a schema of the suite never rejects a valid value, whatever it contains.
func TestSuiteThroughReadLenient(t *testing.T) {
	exceptions, refused := readExceptions(t), 0
	for _, c := range suite(t) {
		source := c.Schema
		if rest, is := bytes.CutPrefix(source, []byte("{")); is && !bytes.Contains(source, []byte(`"$schema"`)) && len(rest) > 1 {
			source = slices.Concat([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#",`), rest)
		}
		s := new(Reader).ReadLenient(source).Schema
		for _, test := range c.Tests {
			_, err := s.Check(parsed(t, test.Data))
			name := c.name + ": " + test.Description
			assert.Check(t, err == nil || !test.Valid || exceptions[name], "refused: %s: %v", name, err)
			if err != nil && !test.Valid {
				refused++
			}
		}
	}
	assert.Check(t, refused >= 350, "only %d invalid values were refused", refused)
}

// refusalClasses are the reasons for which we refuse schemas that draft-07
// allows, with words of the message.
func refusalClasses() map[string]string {
	return map[string]string{
		"refers to another document":         "leaves the schema",
		"refers by name":                     "is a reference by name",
		"is recursive":                       "recursive schemas are not supported",
		"changes the base of references":     `an "$id" below the root`,
		"has a pattern that RE2 has not":     "the pattern ",
		"has a default of which it is false": "the default does not satisfy its own schema",
	}
}

func refusalClass(err error) string {
	for class, words := range refusalClasses() {
		if strings.Contains(err.Error(), words) {
			return class
		}
	}
	return ""
}
