package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealPlacedLabels: a label beside or above a field names it, and an editable combo box takes a text
// that is none of its options.
func TestRealPlacedLabels(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(t.TempDir(), "values")
	app := w.process(w.script("placed.py", file))
	for _, field := range []struct{ label, key string }{{"Summary", "summary"}, {"Owner of it", "owner"}, {"Notes", "notes"}, {"Kind", "kind"}} {
		w.ok("ax_set_value", params{"app": app, "query": field.label, "value": "for " + field.key})
		w.eventually(field.label+" has its value", func() bool {
			b, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(b), field.key+"=for "+field.key+"\n")
		})
	}
	w.ok("ax_type", params{"app": app, "query": "Kind", "text": "other", "clear_first": true})
	w.eventually("Kind has the typed text", func() bool {
		b, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(b), "kind=other\n")
	})
}

// TestRealOtherLabels: labels that may belong to several controls name none, and lead to them as candidates.
// A placeholder names a field, also beside a label.
func TestRealOtherLabels(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(t.TempDir(), "values")
	app := w.process(w.script("otherlabels.py", file))
	for label, candidate := range map[string]string{"Send copy to": "checkbox", "Night": "button", "After it": "textbox"} {
		_, e := w.do(w.Context(), "ax_set_value", params{"app": app, "query": label, "value": "x"})
		assert.Assert(t, e != nil, "%q was set", label)
		assert.Check(t, is.Contains(strings.Join(e.Candidates, "\n"), candidate), "%q %q", label, e.Candidates)
	}
	w.ok("ax_type", params{"app": app, "query": "Where to", "text": "there"})
	w.ok("ax_set_value", params{"app": app, "query": "Anything", "value": "some"})
	tree := w.ok("ax_get_tree", params{"app": app})
	for _, part := range []string{`textbox "Note" [`, `placed: "some"`, `textbox "Where to" [`} {
		assert.Check(t, is.Contains(tree.Text, part), "the outline lacks %s:\n%s", part, tree.Text)
	}
	w.eventually("the fields have their values", func() bool {
		b, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(b), "held=there\nnote=some\n") && strings.Contains(string(b), "copy=\nafter=\n")
	})
}

// TestRealPlacedOutOfView: a label names the field beside it also where both are out of view, and the ref of
// a field lasts while it is scrolled away.
func TestRealPlacedOutOfView(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(t.TempDir(), "values")
	app := w.process(w.script("longform.py", file))
	has := func(want string) {
		w.eventually("the file has "+want, func() bool {
			b, err := os.ReadFile(file)
			return err == nil && string(b) == want+"\n"
		})
	}
	first := w.ok("ax_find", params{"app": app, "query": "textbox Line 1"})
	ref, _, _ := strings.Cut(first.Text[strings.Index(first.Text, "[")+1:], "]")
	w.ok("ax_set_value", params{"app": app, "query": "Line 35", "value": "far"})
	has("35=far")
	w.ok("ax_set_value", params{"app": app, "query": ref, "value": "near"})
	has("1=near")
}
