package gui_test

import (
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

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
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(nameless)
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
