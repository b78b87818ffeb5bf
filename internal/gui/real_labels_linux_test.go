package gui_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealPlacedLabels: a label beside or above a field names it, and an editable combo box takes a text
// that is none of its options.
func TestRealPlacedLabels(t *testing.T) {
	w := parallelWorld(t)
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
	w := parallelWorld(t)
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
	w := parallelWorld(t)
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

// nameless are clickable elements without text on a page, by id; each reports its click in the
// field "clicked".
const nameless = `<style>b, i, div.icon { display: inline-block; width: 20px; height: 20px; background: red }</style>
<img id="bin" class="trash" src="/img/trash-can.png" width="24" height="24">
<div id="row" class="icon delete-row"></div> <i id="edit" class="fa fa-edit"></i>
<button id="save"><img src="/icons/save.svg" width="16" height="16"></button> <button id="close" class="close-btn"></button>
<svg id="drawn" width="30" height="30" class="drawn"><circle cx="15" cy="15" r="10"/></svg>
<b id="odd"></b>
<div id="card"><h3>Two nights</h3><p>By the sea</p><span>42 €</span></div>
<p id="plain">Please read <a href="#terms">the terms</a>, and <a href="#policy">the policy</a> before <b style="all: unset">you</b> go on.</p>
<p>` + longWords + `</p>
<div tabindex="0">Can be come to</div><div contenteditable class="note"></div>
<p id="bare">Nothing to act on</p>
<input id="clicked" aria-label="Clicked"><script>
for (const id of ["bin", "row", "edit", "save", "close", "drawn", "odd", "card"])
  document.getElementById(id).addEventListener("click", e => { document.getElementById("clicked").value = id; });
</script>`

const longWords = `A text that goes on and on, longer than a line of an outline is, and longer than the longest that is told of any text at all,
which is three hundred bytes, so that its end, which is here to be read by those who ask for the whole of it by its ref, cannot be in what
is told of the page as a whole, however much room there may be for it: this is the last word.`

// TestRealNameless: an actionable element without role or name is in the tree with a ref, named by
// its attributes in the page, and the ref is right.
func TestRealNameless(t *testing.T) {
	f := pageOf(t, nameless)
	text := f.ok("ax_get_tree", params{"app": f.app}).Text
	for id, line := range map[string]string{
		"bin": `image trash-can.png .trash [R]`, "row": `generic .icon.delete-row [R]`, "edit": `generic .fa.fa-edit [R]`, "save": `button save.svg [R]`,
		"close": `button .close-btn [R]`, "drawn": `image .drawn [R]`, "odd": `generic <b> [R]`, "card": `generic "Two nights By the sea 42 €" [R]`,
	} {
		found := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(line), "R", `(e\d+)`)).FindStringSubmatch(text)
		if found == nil {
			t.Errorf("no %s in\n%s", line, text)
			continue
		}
		f.ok("ax_click", f.on(found[1]))
		f.comes("clicked", id)
	}
	f.says(text, `paragraph: "Please read", link "the terms" [`, `], ", and", link "the policy" [`, `], "before you go on."`,
		`: "Can be come to"`, `generic .note [`, `] editable`)
	assert.Check(t, regexp.MustCompile(`(?m)^ *"Nothing to act on"$`).MatchString(text), "a short text has a ref in\n%s", text)
	long := regexp.MustCompile(`(?m)^ *"A text .*…" \[(e\d+)\]`).FindStringSubmatch(text)
	assert.Assert(t, long != nil, "a text that is cut has no ref in\n%s", text)
	f.says(f.ok("ax_get_value", f.on(long[1])).Text, "this is the last word.")
	for query, says := range map[string]string{"trash-can.png .trash": "delete", ".icon.delete-row": "delete-row"} {
		call := f.record.lastRequest().Call
		call.Tool, call.Args = "ax_click", map[string]any{"app": f.app, "query": query}
		f.says(f.tools.Operator.ResolveTarget(f.Context(), call).AllText, says)
	}
}

// TestRealReads: values of page fields and texts are reported as people read them.
func TestRealReads(t *testing.T) {
	f := pageOf(t, `<input role="combobox" readonly aria-expanded="false" aria-label="City" value="Bergen">
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
	w := parallelWorld(t)
	app := w.python("labels.py", "Ready")
	told := w.shown(app)
	w.says(told, `GtkPress`, `GtkButton`, `textbox "VteField"`, `textbox "" [`, `: "plain"`)
	for _, query := range []string{"button GtkPress", "button GtkButton"} {
		w.ref(app, query)
	}
}

// TestRealIconInField: a field with an icon in it is shown with its value.
func TestRealIconInField(t *testing.T) {
	w := parallelWorld(t)
	w.says(w.shown(w.python("icon.py", "edit-clear")), `= "held": image "edit-clear"`)
}

// unseenPage has boxes that are hidden in several ways, with labels, and fields with words beside them.
const unseenPage = `<style>.clear input { position: absolute; opacity: 0; pointer-events: none } .clip { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
	.zero input { position: absolute; width: 0; height: 0; opacity: 0 } .away { position: absolute; left: -9999px } .above { display: flex; flex-direction: column; align-items: flex-start }
	i { display: inline-block; width: 20px; height: 12px; border: 1px solid } :checked + i { background: green }</style>
<p><label class="clear"><input type="checkbox" id="clear"><i></i> Clear</label> <label><input class="clip" type="checkbox" role="switch" id="clipped"><i></i> Clipped</label>
<label class="zero"><input type="checkbox" id="zero"><i></i> Zero</label> <label><input class="away" type="checkbox" id="away"><i></i> Away</label></p>
<p><input class="clip" type="checkbox" id="beside"><label for="beside">Beside</label> <label><input class="clip" type="radio" name="r" id="radio"><i></i> Radio</label></p>
<p><input class="clip" type="checkbox" id="alone" aria-label="Alone"></p>
<p><span>Harbour</span> <input id="harbour"></p><div>Plain words <input id="plain"></div><div class="above"><span>Overhead</span><input id="overhead"></div>
<div>First <input id="first"> Second <input id="second"></div><div><input id="after"> Afterwards</div>
<table><tr><td>Celled<td><input type="number" id="celled"></table><fieldset><legend>Caption</legend><input id="captioned"></fieldset>
<fieldset><legend>Title</legend><div class="above"><span>Window</span><input id="window"></div></fieldset>`

// TestRealUnseenBoxes: boxes that show only by their labels are ticked by name, and fields are filled
// by the words beside them. The title of a group is no field's label.
func TestRealUnseenBoxes(t *testing.T) {
	t.Parallel()
	for browser, open := range map[string]func(*realWorld) *webForm{
		"chromium": func(w *realWorld) *webForm { return w.webForm(unseenPage) },
		"firefox":  func(w *realWorld) *webForm { return w.firefoxForm(unseenPage, "button Ready") },
	} {
		t.Run(browser, func(t *testing.T) {
			t.Parallel()
			f := open(newRealWorld(t))
			for id, name := range map[string]string{"clear": "Clear", "clipped": "Clipped", "zero": "Zero", "away": "Away", "beside": "Beside", "radio": "Radio"} {
				f.done("ax_click", f.on(name))
				f.comes(id, "true")
			}
			f.done("ax_set_value", f.set("Clipped", "false"))
			f.comes("clipped", "false")
			for id, name := range map[string]string{"harbour": "Harbour", "plain": "Plain words", "overhead": "Overhead", "first": "First", "second": "Second", "window": "Window"} {
				f.done("ax_set_value", f.set(name, "in "+id))
				f.comes(id, "in "+id)
			}
			f.done("ax_set_value", f.set("Celled", "7"))
			f.comes("celled", "7")
			for _, name := range []string{"Caption", "Title", "Afterwards"} {
				_, err := f.do(f.Context(), "ax_set_value", f.set(name, "no"))
				assert.Assert(t, err != nil, "%s was taken for a field's label: %v", name, err)
				assert.Equal(t, err.Delivery, aai.NotDelivered, "%s %v", name, err)
			}
			for _, id := range []string{"after", "captioned", "alone"} {
				got := f.holds(id)
				assert.Check(t, got == "" || got == "false", "%s holds %q", id, got)
			}
		})
	}
}

// TestRealIconOfAnEntry: pressing the icon in a GTK 3 field by accessibility would end some
// programs, so it fails. The error says so and names the alternative, which works.
func TestRealIconOfAnEntry(t *testing.T) {
	w := parallelWorld(t)
	file := filepath.Join(t.TempDir(), "pressed")
	app := w.process(w.script("iconentry.py", file))
	const icon = "role:image and name:edit-clear"
	e := w.refused(aai.AutomationNotSupported, "ax_click", params{"app": app, "query": icon})
	w.says(e.Message, "cannot be pressed by asking: the program may end of it")
	w.says(e.Hint, `mode "focus"`)
	if _, err := os.Stat(file); err == nil || !e.RetrySafe() {
		t.Errorf("it was pressed all the same; delivery %q", e.Delivery)
	}
	w.ok("ax_click", params{"app": app, "query": icon, "mode": "focus"})
	w.eventually("it is pressed by the pointer", func() bool { _, err := os.Stat(file); return err == nil })
}
