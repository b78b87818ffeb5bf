package gui_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// walkedPage returns a page with four fields and a button, like the programs walked_*.py. The fault trap keeps the focus in
// the second field; order exchanges the third and the second, and leaves the fourth out.
func walkedPage(fault string) string {
	order, more := [5]string{}, ""
	switch fault {
	case "trap":
		more = `<script>document.querySelectorAll("input")[1].onkeydown = e => { if (e.key == "Tab") e.preventDefault() }</script>`
	case "order":
		order = [5]string{"tabindex=1", "tabindex=3", "tabindex=2", "tabindex=-1", "tabindex=4"}
	}
	return fmt.Sprintf(`<html lang=en><title>Walked</title><main><h1>Walked</h1><style>p{margin:30px}</style>
		<p><label>First <input %s></label><p><label>Second <input %s></label><p><label>Third <input %s></label><p><label>Fourth <input %s></label><p><button %s style="padding:8px">Ready</button></main>%s`, order[0], order[1], order[2], order[3], order[4], more)
}

// TestRealKeyboardWalk: a walk by tab finds a trap, a wrong order and an element without way to it, and nothing in the
// window without faults; then the element with the focus has it again.
func TestRealKeyboardWalk(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gtk3", "qt6", "page"} {
		for _, c := range []struct{ fault, want string }{
			{"", ""}, {"trap", "keyboard-trap Second"}, {"order", "keyboard-reach Fourth; focus-order Second"},
		} {
			t.Run(name+" "+c.fault, func(t *testing.T) {
				t.Parallel()
				w := newRealWorld(t)
				var app string
				if name == "page" {
					app = w.page(walkedPage(c.fault), "Ready")
				} else {
					app = w.python("walked_"+name+".py", "Ready", c.fault)
				}
				before := focusedNow(w, app)
				a := w.ok("ax_a11y_keyboard", params{"app": app})
				var found []string
				for _, i := range at(a.data, "issues").([]any) { //nolint:forcetypeassert // the schema says so
					issue, _ := i.(map[string]any)
					_, element, _ := strings.Cut(fmt.Sprint(issue["element"]), `"`)
					found = append(found, fmt.Sprint(issue["rule"], " ", strings.TrimSuffix(element, `"`)))
				}
				if got := strings.Join(found, "; "); got != c.want {
					t.Errorf("found %q, want %q\n%s\n%s", got, c.want, a.Text, a.Warning)
				}
				if c.fault == "trap" {
					return // nothing but a click leaves it
				}
				now := focusedNow(w, app)
				assert.Check(t, is.Equal(now, before), "the focus is at %s, and was at %s", now, before)
			})
		}
	}
}

// focusedNow returns the element with the focus of the program's window, as ax_get_state describes it.
func focusedNow(w *realWorld, app string) string {
	w.Helper()
	return fmt.Sprint(at(w.ok("ax_get_state", params{"app": app}).data, "focused_element"))
}
