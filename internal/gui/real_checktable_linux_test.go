package gui_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealCheckTable: boxes in the rows of a table are ticked by the row's name and by their refs. A key without a
// target does not act on another row than the selected one.
func TestRealCheckTable(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "ticked")
	app := w.python("checktable.py", "Delta", file)
	p := w.somebody()
	var want []string
	ticked := func(line string) {
		t.Helper()
		want = append(want, line)
		w.eventually("ticked: "+line, func() bool {
			b, err := os.ReadFile(file)
			return err == nil && slices.Equal(strings.Split(strings.TrimSpace(string(b)), "\n"), want)
		})
	}
	if tree := w.ok("ax_get_tree", params{"app": app}).Text; strings.Count(tree, " unchecked") != 4 {
		t.Errorf("the outline does not tell of 4 empty boxes:\n%s", tree)
	}
	w.done("ax_set_value", params{"app": app, "query": "Beta", "value": "true"})
	ticked("Beta True")
	w.says(w.ok("ax_set_value", params{"app": app, "query": "Beta", "value": "true"}).Text, "already")
	w.done("ax_click", params{"app": app, "query": "Delta"})
	e := w.refused(aai.AutomationFailed, "ax_key_press", params{"app": app, "key": "space"})
	w.says(e.Message, "Delta")
	w.says(e.Hint, "ax_set_value")
	w.done("ax_set_value", params{"app": app, "query": "Delta", "value": "true"})
	ticked("Delta True")
	tree := w.ok("ax_get_tree", params{"app": app}).Text
	assert.Check(t, is.Equal(strings.Count(tree, " checked"), 2), "the outline does not tell of 2 ticked boxes:\n%s", tree)
	box := regexp.MustCompile(`\[(e\d+)\] "" checked`).FindStringSubmatch(tree)
	w.done("ax_click", params{"app": app, "query": box[1]})
	ticked("Beta False")
	p.undisturbed(t)
}
