package gui_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRealActivatedBox: the option of an editable combo box is activated, and no other one on the way.
func TestRealActivatedBox(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "activated")
	app := w.python("activatedbox.py", "role:combobox", file)
	p := w.somebody()
	w.done("ax_set_value", params{"app": app, "query": "role:combobox", "value": "200 %"})
	w.eventually("the program acts", func() bool {
		b, err := os.ReadFile(file)
		return err == nil && string(b) == "200 %\n"
	})
	a := w.ok("ax_set_value", params{"app": app, "query": "role:combobox", "value": "137 %"})
	w.says(a.Warning, "only after return")
	p.undisturbed(t)
}
