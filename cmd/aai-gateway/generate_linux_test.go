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
