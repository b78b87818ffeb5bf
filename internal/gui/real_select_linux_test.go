package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestRealSelectMore: rows are added to the selection, one or all up to it.
func TestRealSelectMore(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	for _, name := range []string{"gtk3", "qt6"} {
		t.Run(name, func(t *testing.T) {
			w := w.on(t)
			file := filepath.Join(w.Home, name+".rows")
			app := w.python("rows_"+name+".py", `"Row 7"`, file)
			selected := func(want string) {
				w.Helper()
				w.eventually("selected is "+want, func() bool { text, _ := os.ReadFile(file); return string(text) == want })
			}
			row := func(n, how string) params {
				p := params{"app": app, "query": `"Row ` + n + `"`}
				if how != "" {
					p["select"] = how
				}
				return p
			}
			w.done("ax_click", row("1", ""))
			selected("1")
			w.done("ax_click", row("3", "add"))
			selected("1 3")
			a := w.done("ax_click", row("6", "range"))
			selected("1 3 4 5 6")
			if !strings.HasPrefix(a.Text, "Also selected") || !strings.Contains(w.record.last(aai.Outcome).Element.Name, "Row 4") {
				t.Errorf("it says %q, on record is %+v", a.Text, w.record.last(aai.Outcome).Element)
			}
		})
	}
}
