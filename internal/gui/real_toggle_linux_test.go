package gui_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestRealHeardClicks: buttons with a state are clicked, not only set, since programs of Qt act on the click alone.
func TestRealHeardClicks(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "heard")
	app := w.python("heardclicks.py", "checkbox Signal", file)
	p := w.somebody()
	var want []string
	heard := func(line string) {
		t.Helper()
		want = append(want, line)
		w.eventually("the program acts: "+line, func() bool {
			b, err := os.ReadFile(file)
			return err == nil && slices.Equal(strings.Split(strings.TrimSpace(string(b)), "\n"), want)
		})
	}
	for tool, p := range map[string]params{"ax_click": {}, "ax_set_value": {"value": "true"}} {
		p["app"], p["query"] = app, "Compact"
		e := w.refused(aai.AutomationNotSupported, tool, p)
		w.says(e.Message, "without a click")
		w.says(e.Hint, `mode "focus"`)
	}
	for _, name := range []string{"Signal", "Bold", "Far"} {
		w.done("ax_click", params{"app": app, "query": name})
		heard(name + " True")
		w.done("ax_set_value", params{"app": app, "query": name, "value": "false"})
		heard(name + " False")
	}
	w.done("ax_set_value", params{"app": app, "query": "Night", "value": "true"})
	heard("Night True")
	p.undisturbed(t)
	w.done("ax_click", params{"app": app, "query": "Compact", "mode": "focus"})
	heard("Compact True")
}
