package gui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealHoverOutsidePages: a hover effect also appears in the background, and the next hover ends
// it.
func TestRealHoverOutsidePages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gtk3", "qt6"} {
		t.Run(name, func(t *testing.T) {
			w := newRealWorld(t) // not below a pointer that still hovers over another element
			p := w.somebody()
			app := w.python("hover_"+name+".py", "button Ready")
			p.back(t)
			for _, button := range []string{"More", "Ready", "More"} {
				a := w.done("ax_click", params{"app": app, "query": "button " + button, "click_type": "hover"})
				w.says(a.Text, "Moved the pointer to", "over "+button)
			}
			p.undisturbed(t)
		})
	}
}

// TestRealSelectMore: rows are added to the selection, one or all up to it.
func TestRealSelectMore(t *testing.T) {
	w := parallelWorld(t)
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.GTK4, linuxtest.Qt6} {
		t.Run(string(kind), func(t *testing.T) {
			w := w.on(t)
			file := filepath.Join(w.Home, string(kind)+".rows")
			app := w.python("rows_"+string(kind)+".py", `"Row 7"`, file)
			last := w.selectsMore(app, func(want string) bool { text, _ := os.ReadFile(file); return string(text) == want })
			assert.Check(t, strings.HasPrefix(last.Text, "Also selected"), last.Text)
			assert.Check(t, is.Contains(w.record.last(aai.Outcome).Element.Name, "Row 4"))
		})
	}
}

// selectsMore selects a row, one more, and those between it and a third. It returns the last reply.
func (w *realWorld) selectsMore(app string, selected func(string) bool) (last answer) {
	w.Helper()
	for _, c := range []struct{ row, how, want string }{{"1", "only", "1"}, {"3", "add", "1 3"}, {"6", "range", "1 3 4 5 6"}} {
		p := params{"app": app, "query": `"Row ` + c.row + `"`}
		if c.how != "only" {
			p["select"] = c.how
		}
		last = w.done("ax_click", p)
		w.eventually("selected is "+c.want, func() bool { return selected(c.want) })
	}
	return last
}

// TestRealSelectMorePage is TestRealSelectMore in a page's list. For a list built by the page, with
// a single selection in its browser, the reply does not claim more.
func TestRealSelectMorePage(t *testing.T) {
	w := parallelWorld(t)
	f := w.webForm(`<select aria-label="Rows" id="rows" multiple size="8" onchange="told.value = [...rows.selectedOptions].map(o => o.value).join(' ')"></select>
		<input type="hidden" id="told"><input type="hidden" id="towns"><ul role="listbox" aria-label="Towns" aria-multiselectable="true" tabindex="0"><li>Graz<li>Linz<li>Wels</ul><script>
		for (let n = 0; n < 8; n++) rows.add(new Option("Row " + n, n))
		const all = [...document.querySelectorAll("li")]
		for (const o of all) o.role = "option", o.ariaSelected = "false", o.onclick = e => {
			if (!e.ctrlKey) all.forEach(x => x.ariaSelected = "false")
			o.ariaSelected = "true"
			towns.value = all.filter(x => x.ariaSelected == "true").map(x => x.textContent).join(" ")
		}</script>`)
	w.selectsMore(f.app, func(want string) bool { return f.holds("told") == want })
	w.done("ax_click", f.on("option Graz"))
	f.comes("towns", "Graz")
	e := w.refused(aai.AutomationFailed, "ax_click", params{"app": f.app, "query": "option Wels", "select": "add"})
	w.says(e.Message, `option "Graz" is not selected: its list may allow one selection only`, "it has its former value again")
	f.comes("towns", "Graz")
}

// TestRealRowsDrawnAnew: after a page recreates its rows in another order, an old ref is stale, and
// does not refer to another row's button.
func TestRealRowsDrawnAnew(t *testing.T) {
	w := parallelWorld(t)
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
	f := pageOf(t, `<button onclick="list.append(list.firstElementChild)">Rotate</button><ul id="list"><li>One</li><li>Two</li><li>Three</li></ul>
		<button onclick="people.append(...[...people.rows].reverse())">Sort</button><table border=1><tbody id="people"><tr><td>Amy<td>1<tr><td>Bob<td>2<tr><td>Cat<td>3</table>`)
	for _, button := range []string{"Rotate", "Sort", "Rotate"} {
		f.says(f.done("ax_click", f.on("button "+button)).Text, "in another order")
	}
}

// TestRealPageEmptyBetween: a page that is empty between two states is reported when it has content again.
func TestRealPageEmptyBetween(t *testing.T) {
	f := pageOf(t, `<button onclick="redraw()">Redraw</button><ul id="list"><li>One</li><li>Two</li></ul>
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

// TestRealThousand: an item of a thousand is found and chosen with short replies, in view or not.
func TestRealThousand(t *testing.T) {
	t.Run("page", func(t *testing.T) {
		w := parallelWorld(t)
		var options strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&options, "<option>Item %d</option>", i+1)
		}
		f := w.webForm(`<label>Choice <select id="choice">` + options.String() + `</select></label>`)
		a := f.done("ax_set_value", f.set("combobox Choice", "Item 777"))
		f.comes("choice", "Item 777")
		inFew(t, a.Text)
	})
	t.Run("Qt 6", func(t *testing.T) { // its rows cannot be clicked out of view
		w := parallelWorld(t)
		f := w.Rows(t, linuxtest.Qt6, 1000)
		app := w.process(f.App)
		a := w.done("ax_set_value", params{"app": app, "query": "role:listbox", "value": "Row 777"})
		f.WaitState(t, "row", "Row 777")
		inFew(t, a.Text)
	})
	t.Run("GTK 3", func(t *testing.T) {
		w := parallelWorld(t)
		f := w.Rows(t, linuxtest.GTK3, 1000)
		app := w.process(f.App)
		found := w.ok("ax_find", params{"app": app, "query": `"Row 777"`})
		a := w.done("ax_click", params{"app": app, "query": found.data["element_ref"]})
		f.WaitState(t, "row", "Row 777")
		inFew(t, found.Text, a.Text)
	})
}

// inFew checks that the replies have few tokens, at four characters each.
func inFew(t *testing.T, answers ...string) {
	t.Helper()
	const most = 120
	got := len(strings.Join(answers, "")) / 4
	assert.Check(t, got <= most, "about %d tokens, expected at most %d: %q", got, most, answers)
}

// TestRealCheckTable: boxes in the rows of a table are ticked by the row's name and by their refs. A key without a
// target does not act on another row than the selected one.
func TestRealCheckTable(t *testing.T) {
	w := parallelWorld(t)
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
