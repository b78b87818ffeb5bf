package process_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/process"
)

// TestScript: the script is found behind options with values; an argument after code is no
// script.
func TestScript(t *testing.T) {
	text, err := os.ReadFile("testdata/scripts.txt")
	assert.NilError(t, err)
	for row := range strings.Lines(string(text)) {
		line, want, command := strings.Cut(strings.TrimSpace(row), "=>")
		if !command {
			continue // the comment
		}
		args := strings.Fields(line)
		_, path := process.FindScript(args[0], args)
		assert.Check(t, is.Equal(path, strings.TrimSpace(want)), line)
	}
}

// TestCodeInjections: options and variables that load other code are found, and mere settings are
// not.
func TestCodeInjections(t *testing.T) {
	text, err := os.ReadFile("testdata/injections.json")
	assert.NilError(t, err)
	var cases []struct {
		Interpreter, Line, Env string
		Want                   []string
	}
	assert.NilError(t, json.Unmarshal(text, &cases))
	for _, c := range cases {
		got := process.CodeInjections(c.Interpreter, strings.Fields(c.Line), strings.Fields(c.Env))
		assert.Check(t, slices.Equal(got, c.Want), "%s with %s has %q in it, expected %q", c.Line, c.Env, got, c.Want)
	}
}
