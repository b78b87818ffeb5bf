package recording

import (
	"os"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway/internal/automation/recorded"
)

// TestReplacedStepLeavesTheFile checks that a replaced step, which may hold the beginning of a secret, is nowhere in the folder.
func TestReplacedStepLeavesTheFile(t *testing.T) {
	m := &Manager{Folder: t.TempDir()}
	f, err := m.createFile("editor")
	if err != nil {
		t.Fatal(err)
	}
	step := func(value string) *recorded.Step {
		return &recorded.Step{Tool: "ax_set_value", Args: map[string]any{"value": value}}
	}
	for _, w := range []struct {
		n int
		s *recorded.Step
	}{{1, step("SEC")}, {1, step("{{secret:code}}")}, {2, step("second")}, {3, step("third")}, {2, nil}} {
		if err := f.write(w.n, w.s); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(source), "SEC") {
		t.Errorf("%s", source)
	}
	_, steps, err := recorded.Read(source)
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 2 {
		t.Errorf("%+v", steps)
	}
	entries, err := os.ReadDir(m.Folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("%v", entries)
	}
}
