package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// keptPage has fields that rewrite their text, a date, a list of which only some items exist, and buttons out of view.
const keptPage = `
<label>Upper <input id=upper oninput="this.value = this.value.toUpperCase()"></label>
<label>Trim <input id=trim onchange="this.value = this.value.trim()"></label>
<label>Price <input id=price onchange="this.value = Number(this.value).toFixed(2)"></label>
<label>Day <input id=day type=date></label>
<table><tr><th>A</th><th>B</th><th>C</th></tr><tr><td>1</td><td></td><td>3</td></tr><tr><td>x</td><td></td><td></td></tr></table>
<div role=listbox aria-label=Rows><div role=option aria-posinset=1 aria-setsize=1000>Row 1</div><div role=option aria-posinset=2 aria-setsize=1000>Row 2</div></div>
<button>Same</button>
<div style="height: 3000px"></div>
<button>Same</button> <button>Same</button>
<script>for (let n = 0; n < 10; n++) document.body.append(Object.assign(document.createElement("button"), {textContent: "Far"}));</script>`

// TestRealKeptValues: a field that rewrites its text keeps it so, and the reply says the kept text. A date is accepted
// only if the page takes it.
func TestRealKeptValues(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(keptPage)
	text := w.ok("ax_fill", params{"app": f.app, "fields": fields("Upper", "abc", "Trim", " q ", "Price", "2.2")}).Text
	w.says(text, "Filled 3 of 3", "The program changed the text in", `"ABC"`, `"q"`)
	f.comes("upper", "ABC")
	f.comes("trim", "q")

	for _, wrong := range []string{"02/31/2026", "2026-02-31", "31/12/2026", "soon"} {
		w.says(w.refused(aai.InvalidParams, "ax_type", params{"app": f.app, "query": "textbox Day", "text": wrong}).Message, "text: expected a")
	}
	w.done("ax_type", params{"app": f.app, "query": "textbox Day", "text": "12/25/2026"})
	f.comes("day", "2026-12-25")

	w.says(w.ok("ax_get_tree", params{"app": f.app}).Text, `row: "1", "", "3"`, "row: \"x\"\n")
	w.says(w.refused(aai.ElementNotFound, "ax_find", params{"app": f.app, "query": "Row 500"}).Hint, `998 in listbox "Rows"`)
	text = w.ok("ax_find", params{"app": f.app, "query": "Same"}).Text
	assert.Check(t, !strings.Contains(text, "out of view"), "not the one in view: %s", text)
	w.says(w.ok("ax_find", params{"app": f.app, "query": "Same", "nth": 3}).Text, "out of view")
	w.says(w.ok("ax_click", params{"app": f.app, "query": "Same", "nth": 3}).Text, "scrolled into it first")
	e := w.refused(aai.AmbiguousTarget, "ax_find", params{"app": f.app, "query": "Far"})
	w.says(e.Message, "10 elements match", "; 2 more are not listed")
	assert.Check(t, is.Len(e.Candidates, 8))
}
