package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealReads: values of page fields and texts are reported as people read them.
func TestRealReads(t *testing.T) {
	t.Parallel()
	f := newRealWorld(t).webForm(`<input role="combobox" readonly aria-expanded="false" aria-label="City" value="Bergen">
		<input id="depth" role="spinbutton" aria-label="Depth" aria-valuenow="-5" value="-5"> <input id="ran" aria-label="Ran" readonly>
		<p>Move <em>not</em> before <del>Monday</del> and <strong>never</strong> more than <mark>61</mark> <code>x</code> <a href="#">by</a> <time>Friday</time></p>
		<textarea id="keys" aria-label="Keys" style="width: 8px; height: 18px; padding: 0; border: 0; resize: none" onkeydown="this.value = ''; ran.value += event.key"></textarea>`)
	value := func(query string) string {
		text, _ := f.ok("ax_get_value", params{"app": f.app, "query": query}).data["value"].(string)
		return text
	}
	got := value("combobox City")
	assert.Check(t, is.Equal(got, "Bergen"), "the read-only combo box holds %q", got)
	got, want := value("role:paragraph"), "Move not before Monday and never more than 61 x by Friday"
	assert.Check(t, is.Equal(got, want), "the paragraph holds %q", got)
	f.ok("ax_set_value", params{"app": f.app, "query": "spinbutton Depth", "value": "-12"})
	f.eventually("the number is set", func() bool { return f.holds("depth") == "-12" })
	got = value("spinbutton Depth")
	assert.Check(t, is.Equal(got, "-12"), "the spin button holds %q", got)
	f.ok("ax_type", params{"app": f.app, "query": "textbox Keys", "text": "ls"})
	f.eventually("the page has taken the keys", func() bool { return f.holds("ran") == "ls" })
	got = value("textbox Keys")
	assert.Check(t, is.Equal(got, ""), "the field that relays keys holds %q", got)
}

// TestRealLabels: a label that begins like a GTK class is a name, and the class of a field without
// a label is none.
func TestRealLabels(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	app := w.python("labels.py", "Ready")
	told := w.shown(app)
	w.says(told, `GtkPress`, `GtkButton`, `textbox "VteField"`, `textbox "" [`, `: "plain"`)
	for _, query := range []string{"button GtkPress", "button GtkButton"} {
		w.ref(app, query)
	}
}

// TestRealIconInField: a field with an icon in it is shown with its value.
func TestRealIconInField(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	w.says(w.shown(w.python("icon.py", "edit-clear")), `= "held": image "edit-clear"`)
}
