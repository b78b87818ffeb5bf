package gui_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gybob/aai-gateway"
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

// TestRealSelectMoreGTK4 is TestRealSelectMore in GTK 4.
func TestRealSelectMoreGTK4(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "rows")
	app := w.python("rows_gtk4.py", `"Row 7"`, file)
	w.selectsMore(app, func(want string) bool { text, _ := os.ReadFile(file); return string(text) == want })
}

// selectsMore selects a row, one more, and those between it and a third.
func (w *realWorld) selectsMore(app string, selected func(string) bool) {
	w.Helper()
	for _, c := range []struct{ row, how, want string }{{"1", "only", "1"}, {"3", "add", "1 3"}, {"6", "range", "1 3 4 5 6"}} {
		p := params{"app": app, "query": `"Row ` + c.row + `"`}
		if c.how != "only" {
			p["select"] = c.how
		}
		w.done("ax_click", p)
		w.eventually("selected is "+c.want, func() bool { return selected(c.want) })
	}
}

// TestRealSelectMorePage is TestRealSelectMore in a page's list. For a list built by the page, with
// a single selection in its browser, the reply does not claim more.
func TestRealSelectMorePage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
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
