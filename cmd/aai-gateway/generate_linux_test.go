package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestGeneratedSavedAndRun: a program on the bus is described, the draft is saved after
// reauthentication, and then its tools run like any others.
func TestGeneratedSavedAndRun(t *testing.T) {
	v := newVictim(t)
	assert.NilError(t, os.RemoveAll(filepath.Join(v.folder, ".aai", exampleApp)))
	code, said := v.run(nil, "--generate", exampleApp, "--format", "json")
	var shown struct {
		Seen string `json:"seen"`
		Path string `json:"path"`
		Diff string `json:"diff"`
	}
	err := json.Unmarshal([]byte(said), &shown)
	assert.Equal(t, code, 0, said)
	assert.NilError(t, err, said)
	assert.Assert(t, is.Contains(shown.Diff, `"name": "join"`), said)
	args := `{"app": "` + exampleApp + `", "seen": "` + shown.Seen + `"}`
	code, said = v.run(nil, "exec", "aai", "generate_save", args)
	assert.Check(t, is.Equal(code, 4), "nobody proved that they want it: %d, %s", code, said)
	_, err = os.Stat(shown.Path)
	assert.Assert(t, err != nil, "it was saved all the same")
	person := []string{"PERSON=yes", "STRICT="}
	code, said = v.run(person, "exec", "aai", "generate_save", args)
	assert.Equal(t, code, 0)
	assert.Assert(t, is.Contains(said, "Saved as "+shown.Path))
	code, said = v.run(person, "consent", "grant", exampleApp, "--all", "--caller", "cli:terminal", "--yes")
	assert.Equal(t, code, 0, said)
	code, said = v.run(person, "exec", exampleApp, "join", `{"to": "a", "subject_line": "b", "urgency": 3}`)
	assert.Check(t, is.Equal(code, 0), said)
	assert.Check(t, is.Equal(strings.TrimSpace(said), "to=a subject=b urgency=3"), said)
	code, said = v.run(person, "generate")
	assert.Check(t, is.Equal(code, 0))
	assert.Check(t, is.Contains(said, "current\t"+exampleApp))
	n := v.app.Calls("Join")
	assert.Check(t, is.Equal(n, 1), "join was called %d times", n)
}

// TestWordsOfAModelsCommand: the command gets the tools on its standard input once, and its words are shown and saved.
// A script stands for the program of a model.
func TestWordsOfAModelsCommand(t *testing.T) {
	v := newVictim(t)
	assert.NilError(t, os.RemoveAll(filepath.Join(v.folder, ".aai", exampleApp)))
	model, asked := filepath.Join(t.TempDir(), "model"), filepath.Join(t.TempDir(), "asked")
	answer := "#!/bin/sh\ncat >> " + asked + "\n" + `printf '%s\n' '` + "```json" + `' '{"tools": [{"name": "join", "title": "Join two words"}]}' '` + "```" + "'\n"
	assert.NilError(t, os.WriteFile(model, []byte(answer), 0o700))
	code, said := v.run([]string{"PERSON=yes", "STRICT="}, "generate", exampleApp, "--model", model+" -p", "--yes")
	assert.Equal(t, code, 0, said)
	assert.Check(t, is.Contains(said, "Join two words"), "the difference has no word of the model: %s", said)
	saved, err := os.ReadFile(filepath.Join(v.folder, ".aai", exampleApp, "aai.json"))
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(saved), `"title": "Join two words"`), saved)
	prompt, err := os.ReadFile(asked)
	assert.NilError(t, err)
	n := strings.Count(string(prompt), `"name":"join"`)
	assert.Check(t, is.Equal(n, 1), "the model was asked %d times about join", n)
	code, said = v.run(nil, "generate", exampleApp, "--model", "/bin/false", "--dry-run")
	assert.Check(t, code != 0, "%d", code)
	assert.Check(t, is.Contains(said, "/bin/false failed"), "%d", code)
	endless := filepath.Join(t.TempDir(), "endless")
	assert.NilError(t, os.WriteFile(endless, []byte("#!/bin/sh\nexec yes\n"), 0o700))
	code, said = v.run(nil, "generate", exampleApp, "--model", endless, "--dry-run")
	assert.Check(t, code != 0, "%d", code)
	assert.Check(t, is.Contains(said, "answered with more than"), "%d", code)
}
