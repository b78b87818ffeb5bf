package gui_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealShuffled: a list is recreated between the read and the click. The ref refers to its row,
// or is stale.
func TestRealShuffled(t *testing.T) {
	w := parallelWorld(t)
	happen := func() {}
	w.backend.Actor = beforeActing{w.backend.Actor, func() { happen() }}
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			w := w.on(t)
			f, app := w.open(kind)
			shuffles := 0
			shuffle := func() {
				shuffles++
				f.Press(t, "Shuffle")
				f.WaitState(t, "shuffled", shuffles)
			}
			third := w.ref(app, `option "Fruit 3"`)
			shuffle()
			if _, e := w.by(within, "ax_click", params{"app": app, "query": third}); e == nil { // it is far down by now
				f.WaitState(t, "fruit", "Fruit 3")
			} else {
				_ = w.refused(aai.StaleRef, "ax_click", params{"app": app, "query": third})
			}
			shuffle()
			w.ok("ax_click", params{"app": app, "query": third}) // it is back at its place
			f.WaitState(t, "fruit", "Fruit 3")

			fifth := w.ref(app, `option "Fruit 5"`)
			happen = func() {
				happen = func() {}
				shuffle()
			}
			e := w.refusesRow(f, app, fifth)
			assert.Check(t, is.Equal(e.Code, aai.StaleRef), "a row that went after it was looked at: %v, want %s", e, aai.StaleRef)
			w.ok("ax_click", press(app))
		})
	}
}

// refusesRow clicks a row that has moved: no row is selected, and the error says that the row is
// gone or not visible.
func (w *realWorld) refusesRow(f *linuxtest.Fixture, app, ref string) *aai.Error {
	w.Helper()
	result, e := w.by(within, "ax_click", params{"app": app, "query": ref})
	if e == nil {
		w.Fatalf("it was clicked: %s; %v is selected", result.Text, f.State(w.T)["fruit"])
	}
	unseen := e.Code == aai.AutomationFailed && strings.Contains(e.Message, "is not showing")
	if e.Code != aai.StaleRef && !unseen || e.Delivery != aai.NotDelivered {
		w.Errorf("%v, delivery %q", e, e.Delivery)
	}
	w.ok("ax_wait_idle", params{"app": app})
	row := f.State(w.T)["fruit"]
	assert.Check(w, is.Equal(row, ""), "%v is selected after %v", row, e)
	return e
}

// TestRealScrolledAway: toolkits reuse the row objects of long lists for other rows when the list
// scrolls. The ref refers to its original row. Chromium has an object for each.
func TestRealScrolledAway(t *testing.T) {
	w := parallelWorld(t)
	happen := func() {}
	w.backend.Actor = beforeActing{w.backend.Actor, func() { happen() }}
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.GTK4, linuxtest.Qt6} {
		t.Run(string(kind), func(t *testing.T) {
			w := w.on(t)
			f := w.Rows(t, kind, 10_000)
			app := w.process(f.App)
			w.awaitElement(app, rowNamed(kind, "Row 5"))
			scroll := func() {
				before := f.State(t)["scroll"]
				x, y := f.WindowRect(t).Centre()
				const wheelDown = 5
				for range 12 {
					w.Click(t, x, y, wheelDown)
				}
				f.WaitFor(t, "it is scrolled", func(state map[string]any) bool { return state["scroll"] != before })
			}
			click := func(row, ref string) *aai.Error {
				result, e := w.by(within, "ax_click", params{"app": app, "query": ref})
				w.ok("ax_wait_idle", params{"app": app})
				selected, _ := f.State(t)["row"].(string)
				switch {
				case e == nil && selected != row, e != nil && selected == row:
					t.Errorf("the click of %s: %v %v, and %q is selected", row, result, e, selected)
				case e != nil && (selected != "" || !e.RetrySafe()):
					t.Errorf("the click of %s: %v, delivery %q, and %q is selected", row, e, e.Delivery, selected)
				}
				t.Logf("%s: %v", row, e)
				return e
			}
			ref := w.ref(app, rowNamed(kind, "Row 5"))
			scroll()
			e := click("Row 5", ref)
			assert.Assert(t, e != nil, "a row that is far up: %v", e)
			assert.Assert(t, e.Code == aai.StaleRef || strings.Contains(e.Message, "is not showing"), "a row that is far up: %v", e)

			seen := rowNames.FindAllString(w.ok("ax_get_tree", params{"app": app}).Text, -1)
			row := strings.Trim(seen[min(2, len(seen)-1)], `"`)
			ref = w.ref(app, rowNamed(kind, row))
			happen = func() {
				happen = func() {}
				scroll()
			}
			_ = click(row, ref)
		})
	}
}

// rowNamed returns a query for the row with exactly that name.
func rowNamed(kind linuxtest.Kind, name string) string {
	role := "option"
	if kind == linuxtest.GTK3 {
		role = "cell"
	}
	return fmt.Sprintf("//%s[@name='%s']", role, name)
}

// rowNames matches the names of rows in a page.
var rowNames = regexp.MustCompile(`"Row \d+"`)
