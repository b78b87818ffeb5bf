package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// TestRealRowsDrawnAnew: after a page recreates its rows in another order, an old ref is stale, and
// does not refer to another row's button.
func TestRealRowsDrawnAnew(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<input id="picked" aria-label="Picked"><button onclick="names.reverse(); draw()">Turn</button><button onclick="draw()">Again</button><div id="rows"></div>
		<script>const names = ["Amy", "Bob", "Cat"]
		function draw() { rows.innerHTML = names.map(n => "<div>" + n + " <button onclick='picked.value = \"" + n + "\"'>Pick</button></div>").join("") }
		draw()</script>`)
	first, last := w.refBeside(f.app, "Amy", "Pick"), w.refBeside(f.app, "Cat", "Pick")
	f.ok("ax_click", f.on("button Again"))
	f.ok("ax_click", f.on(first))
	f.comes("picked", "Amy")
	f.ok("ax_click", f.on("button Turn"))
	for _, ref := range []string{first, last} {
		f.says(f.refused(aai.StaleRef, "ax_click", f.on(ref)).Message, `button "Pick"`, "is gone")
	}
	f.comes("picked", "Amy")
	f.ok("ax_click", f.on(w.refBeside(f.app, "Cat", "Pick")))
	f.comes("picked", "Cat")
}

// TestRealRowsInAnotherOrder: a new order of a page's rows is an effect of the click.
func TestRealRowsInAnotherOrder(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<button onclick="list.append(list.firstElementChild)">Rotate</button><ul id="list"><li>One</li><li>Two</li><li>Three</li></ul>
		<button onclick="people.append(...[...people.rows].reverse())">Sort</button><table border=1><tbody id="people"><tr><td>Amy<td>1<tr><td>Bob<td>2<tr><td>Cat<td>3</table>`)
	for _, button := range []string{"Rotate", "Sort", "Rotate"} {
		f.says(f.done("ax_click", f.on("button "+button)).Text, "in another order")
	}
}

// TestRealPageEmptyBetween: a page that is empty between two states is reported when it has content again.
func TestRealPageEmptyBetween(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<button onclick="redraw()">Redraw</button><ul id="list"><li>One</li><li>Two</li></ul>
		<script>function redraw() { const all = [...document.body.childNodes]; document.body.replaceChildren()
		setTimeout(() => { document.body.append(...all); list.append(list.firstElementChild) }, 900) }</script>`)
	reply := f.done("ax_click", f.on("button Redraw")).Text
	f.says(reply, `"One" → "Two"`)
	assert.Check(t, !strings.Contains(reply, "- in document"), "the reply names a part of the page as gone: %v", reply)
}

// refBeside returns the ref of the first button with the name that the tree lists after a text.
func (w *realWorld) refBeside(app, text, button string) string {
	w.Helper()
	tree := w.ok("ax_get_tree", params{"app": app}).Text
	_, after, _ := strings.Cut(tree, `"`+text+`"`)
	_, after, found := strings.Cut(after, `button "`+button+`" [`)
	ref, _, _ := strings.Cut(after, "]")
	assert.Assert(w, found, "no %s after %s in\n%s", button, text, tree)
	return ref
}
