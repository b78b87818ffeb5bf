package gui_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRealKeysQt: a Qt element with a key gets its window's focus, and no other change: a spin box
// is not incremented, and a text beside it that keeps tabs is no obstacle.
func TestRealKeysQt(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "told")
	app := w.python("keys.py", "spinbutton Count", file)
	p := w.somebody()
	told := ""
	for _, c := range []struct{ query, key, tells string }{
		{"spinbutton Count", "down", "count 49\n"},
		{"checkbox Agree", "space", "agree True\n"},
		{"spinbutton Count", "up", "count 50\n"},
		{"button Apply", "space", "apply\n"},
		{"textbox Notes", "a", ""},
		{"spinbutton Count", "down", "count 49\n"},
	} {
		w.ok("ax_key_press", params{"app": app, "query": c.query, "key": c.key})
		told += c.tells
		w.eventually(c.key+" in "+c.query, func() bool { text, _ := os.ReadFile(file); return string(text) == told })
	}
	w.ok("ax_click", params{"app": app, "query": "spinbutton Count"})
	w.ok("ax_key_press", params{"app": app, "query": "spinbutton Count", "key": "down"})
	told += "count 48\n"
	w.eventually("one less after a click", func() bool { text, _ := os.ReadFile(file); return string(text) == told })
	p.undisturbed(t)
}
