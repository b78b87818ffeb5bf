package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneratedSavedAndRun: a program on the bus is described, the draft is saved after
// reauthentication, and then its tools run like any others.
func TestGeneratedSavedAndRun(t *testing.T) {
	v := newVictim(t)
	if err := os.RemoveAll(filepath.Join(v.folder, ".aai", exampleApp)); err != nil {
		t.Fatal(err)
	}
	code, said := v.run(nil, "--generate", exampleApp, "--format", "json")
	var shown struct {
		Seen string `json:"seen"`
		Path string `json:"path"`
		Diff string `json:"diff"`
	}
	if err := json.Unmarshal([]byte(said), &shown); code != 0 || err != nil || !strings.Contains(shown.Diff, `"name": "join"`) {
		t.Fatalf("%d, %v, %s", code, err, said)
	}
	args := `{"app": "` + exampleApp + `", "seen": "` + shown.Seen + `"}`
	if code, said := v.run(nil, "exec", "aai", "generate_save", args); code != 4 {
		t.Errorf("nobody proved that they want it: %d, %s", code, said)
	}
	if _, err := os.Stat(shown.Path); err == nil {
		t.Fatal("it was saved all the same")
	}
	person := []string{"PERSON=yes", "STRICT="}
	if code, said := v.run(person, "exec", "aai", "generate_save", args); code != 0 || !strings.Contains(said, "Saved as "+shown.Path) {
		t.Fatalf("%d, %s", code, said)
	}
	if code, said := v.run(person, "consent", "grant", exampleApp, "--all", "--caller", "cli:terminal", "--yes"); code != 0 {
		t.Fatalf("%d, %s", code, said)
	}
	if code, said := v.run(person, "exec", exampleApp, "join", `{"to": "a", "subject_line": "b", "urgency": 3}`); code != 0 || strings.TrimSpace(said) != "to=a subject=b urgency=3" {
		t.Errorf("%d, %s", code, said)
	}
	if code, said := v.run(person, "generate"); code != 0 || !strings.Contains(said, "current\t"+exampleApp) {
		t.Errorf("%d, %s", code, said)
	}
	if n := v.app.Calls("Join"); n != 1 {
		t.Errorf("join was called %d times", n)
	}
}

// TestWordsOfAModelsCommand: the command gets the tools on its standard input once, and its words are shown and saved.
// A script stands for the program of a model.
func TestWordsOfAModelsCommand(t *testing.T) {
	v := newVictim(t)
	if err := os.RemoveAll(filepath.Join(v.folder, ".aai", exampleApp)); err != nil {
		t.Fatal(err)
	}
	model, asked := filepath.Join(t.TempDir(), "model"), filepath.Join(t.TempDir(), "asked")
	answer := "#!/bin/sh\ncat >> " + asked + "\n" + `printf '%s\n' '` + "```json" + `' '{"tools": [{"name": "join", "title": "Join two words"}]}' '` + "```" + "'\n"
	if err := os.WriteFile(model, []byte(answer), 0o700); err != nil {
		t.Fatal(err)
	}
	code, said := v.run([]string{"PERSON=yes", "STRICT="}, "generate", exampleApp, "--model", model+" -p", "--yes")
	if code != 0 {
		t.Fatalf("%d, %s", code, said)
	}
	if !strings.Contains(said, "Join two words") {
		t.Errorf("the difference has no word of the model: %s", said)
	}
	saved, err := os.ReadFile(filepath.Join(v.folder, ".aai", exampleApp, "aai.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(saved), `"title": "Join two words"`) {
		t.Errorf("saved: %s", saved)
	}
	prompt, err := os.ReadFile(asked)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(prompt), `"name":"join"`); n != 1 {
		t.Errorf("the model was asked %d times about join", n)
	}
	if code, said := v.run(nil, "generate", exampleApp, "--model", "/bin/false", "--dry-run"); code == 0 || !strings.Contains(said, "/bin/false failed") {
		t.Errorf("%d, %s", code, said)
	}
	endless := filepath.Join(t.TempDir(), "endless")
	if err := os.WriteFile(endless, []byte("#!/bin/sh\nexec yes\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if code, said := v.run(nil, "generate", exampleApp, "--model", endless, "--dry-run"); code == 0 || !strings.Contains(said, "answered with more than") {
		t.Errorf("%d, %s", code, said)
	}
}
