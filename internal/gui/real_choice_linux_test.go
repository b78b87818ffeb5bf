package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealChoiceQt: an option of a Qt combo box is chosen in the background, across any options in
// between. The program sees only the options that the reply lists.
func TestRealChoiceQt(t *testing.T) {
	w := parallelWorld(t)
	file := filepath.Join(w.Home, "choices")
	app := w.python("choices.py", "combobox Fruit", file)
	p := w.somebody()
	heard := ""
	for _, c := range []struct{ query, value, way string }{
		{"combobox Fruit", "Cherry", "Banana Cherry"},
		{"combobox Fruit", "Fig", "Fig"},
		{"combobox Fruit", "Elder", "Elder"},
		{"combobox Fruit", "Apple", "Apple"},
		{"combobox Bars", "Third", "Third"},
	} {
		a := w.done("ax_set_value", params{"app": app, "query": c.query, "value": c.value})
		heard += strings.ReplaceAll(c.way, " ", "\n") + "\n"
		w.eventually("it heard of "+c.way, func() bool { text, _ := os.ReadFile(file); return string(text) == heard })
		assert.Check(t, is.Equal(strings.Contains(a.Text, `It passed "Banana" on the way`), strings.Contains(c.way, " ")), "%s: it says %q", c.value, a.Text)
	}
	e := w.refused(aai.ElementNotFound, "ax_click", params{"app": app, "query": "option Date"}) // an invisible list is not touched
	w.says(e.Hint, `It is in the combobox "Fruit"`, "ax_set_value")
	e = w.refused(aai.AutomationNotSupported, "ax_set_value", params{"app": app, "query": "combobox Twice", "value": "Two"})
	assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered))
	w.says(e.Message, "several options of this name")
	w.says(e.Hint, `mode "focus"`)
	e = w.refused(aai.AutomationFailed, "ax_set_value", params{"app": app, "query": "combobox Bars", "value": "Off"})
	w.says(e.Message, `past "Off"`, `is "Third" again`, `passed "First"`)
	heard += "First\nThird\n"
	assert.Check(t, is.Equal(e.Delivery, aai.Delivered))
	w.eventually("it heard of no more", func() bool { text, _ := os.ReadFile(file); return string(text) == heard })
	p.undisturbed(t)
}

// TestRealChoiceQtSlow: a busy program no longer shows its focus when it is read.
func TestRealChoiceQtSlow(t *testing.T) {
	w := parallelWorld(t)
	file := filepath.Join(w.Home, "choices")
	app := w.python("choices.py", "combobox Fruit", file, "slow")
	p := w.somebody()
	w.done("ax_set_value", params{"app": app, "query": "combobox Fruit", "value": "Cherry"})
	w.done("ax_set_value", params{"app": app, "query": "combobox Bars", "value": "Third"})
	w.eventually("it heard of the fruits and the bar", func() bool { text, _ := os.ReadFile(file); return string(text) == "Banana\nCherry\nThird\n" })
	p.undisturbed(t)
}

// TestRealSeveralChoices: choosing one of two selected options of a page's list leaves it as the
// only selected one.
func TestRealSeveralChoices(t *testing.T) {
	f := pageOf(t, `<select multiple id="some" aria-label="Some" onchange="out.value = [...some.selectedOptions].map(o => o.text).join(' ')"><option>Olives<option>Cheese<option>Ham</select><input id="out">`)
	f.done("ax_set_value", params{"app": f.app, "query": "Some", "value": "Cheese"})
	f.done("ax_click", params{"app": f.app, "query": "Ham", "select": "add"})
	f.comes("out", "Cheese Ham")
	f.done("ax_set_value", params{"app": f.app, "query": "Some", "value": "Cheese"})
	f.comes("out", "Cheese")
}

// TestRealCheckCells: text typed at a GTK list would start a search and check the found row. So
// nothing is typed; a click checks the row.
func TestRealCheckCells(t *testing.T) {
	w := parallelWorld(t)
	z := w.Launch(t, "zenity", "--list", "--checklist", "--column=Pick", "--column=Fruit", "FALSE", "Apple", "FALSE", "Pear", "TRUE", "Fig")
	app := w.process(z)
	w.awaitElement(app, "Fig")
	// zenity takes no key in the background, which is said.
	e := w.refused(aai.AutomationFailed, "ax_set_value", params{"app": app, "query": "role:cell", "nth": 1, "value": "true"})
	assert.Check(t, is.Equal(e.Delivery, aai.Delivered))
	w.done("ax_click", params{"app": app, "query": "role:cell", "nth": 1, "mode": "focus"})
	_, _ = w.do(w.Context(), "ax_click", params{"app": app, "query": "button OK"})
	_ = z.Wait(t)
	got := strings.TrimSpace(z.Output())
	assert.Check(t, is.Equal(got, "Apple|Fig"), "checked are %q", got)
}

// TestRealCalendar: a GTK 3 calendar reports no children. The error says so, and how to set it; the
// GTK 3 list beside it works without the keyboard.
func TestRealCalendar(t *testing.T) {
	w := parallelWorld(t)
	z := w.Launch(t, "zenity", "--forms", "--text=Fill", "--add-calendar=Day", "--forms-date-format=%Y-%m-%d", "--add-combo=Kind", "--combo-values=tea|milk|rum")
	app := w.process(z)
	w.awaitElement(app, "role:combobox")
	e := w.refused(aai.AutomationNotSupported, "ax_set_value", params{"app": app, "query": "role:grid", "value": "2026-03-04"})
	w.says(e.Message, "reports none of its content")
	w.says(e.Hint, "ax_key_press", `mode "focus"`, "ax_screenshot")
	assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered))
	p := w.somebody()
	w.done("ax_set_value", params{"app": app, "query": "role:combobox", "value": "rum"})
	p.undisturbed(t)

	// The remedy in the hint works.
	w.done("ax_set_value", params{"app": app, "query": "role:combobox", "value": "tea"})
	w.ok("ax_click", params{"app": app, "query": "role:grid", "mode": "focus"})
	press := func(key, with string) {
		k := params{"app": app, "key": key, "mode": "focus"}
		if with != "" {
			k["modifiers"] = []any{with}
		}
		w.ok("ax_key_press", k)
	}
	press("up", "ctrl")
	press("right", "")
	press("space", "")
	_, _ = w.do(w.Context(), "ax_click", params{"app": app, "query": "button OK"})
	_ = z.Wait(t)
	if day, kind, _ := strings.Cut(strings.TrimSpace(z.Output()), "|"); kind != "tea" || len(day) != 10 || strings.HasPrefix(day, time.Now().Format("2006")) {
		t.Errorf("it holds %q", z.Output())
	}
}

// TestRealOwnCombo: for a list built by the page, without options while closed, the error explains
// how to choose one, and that works in the background.
func TestRealOwnCombo(t *testing.T) {
	w := parallelWorld(t)
	f := w.webForm(`<input type="hidden" id="colour"><div role="combobox" tabindex="0" id="box" aria-label="Colour" aria-expanded="false" onclick="list.hidden = false">none</div>
		<div role="listbox" id="list" aria-label="Colours" hidden onclick="colour.value = box.textContent = event.target.textContent; list.hidden = true">
		<div role="option" aria-selected="false">Red</div><div role="option" aria-selected="false">Blue</div></div>`)
	p := w.somebody()
	e := f.refused(aai.AutomationNotSupported, "ax_set_value", f.set("combobox Colour", "Blue"))
	assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered))
	if f.says(e.Hint, "ax_click"); strings.Contains(e.Hint, "focus") {
		t.Errorf("the hint is %q", e.Hint)
	}
	f.ok("ax_click", f.on("combobox Colour"))
	f.ok("ax_click", f.on("option Blue"))
	f.comes("colour", "Blue")
	p.undisturbed(t)
}

// TestRealPassedItems: arrow keys make each item on their way current, so the gates judge these too.
func TestRealPassedItems(t *testing.T) {
	w := parallelWorld(t)
	file := filepath.Join(w.Home, "items")
	app := w.python("currentitems.py", "option Alpha", file)
	w.ok("ax_click", params{"app": app, "query": "Beta"})
	w.eventually("Beta is current", func() bool { said, _ := os.ReadFile(file); return string(said) == "Beta\n" })
	w.ok("ax_click", params{"app": app, "query": "Gamma"})
	w.eventually("Gamma is current", func() bool { said, _ := os.ReadFile(file); return string(said) == "Beta\nDelete all\nGamma\n" })
	on := w.record.last(aai.Outcome).Element
	assert.Check(t, is.Contains(on.Name, "Delete all"), "the record names %q", on.Name)
}

// TestRealActivatedBox: the option of an editable combo box is activated, and no other one on the way.
func TestRealActivatedBox(t *testing.T) {
	w := parallelWorld(t)
	file := filepath.Join(w.Home, "activated")
	app := w.python("activatedbox.py", "role:combobox", file)
	p := w.somebody()
	w.done("ax_set_value", params{"app": app, "query": "role:combobox", "value": "200 %"})
	w.eventually("the program acts", func() bool {
		b, err := os.ReadFile(file)
		return err == nil && string(b) == "200 %\n"
	})
	a := w.ok("ax_set_value", params{"app": app, "query": "role:combobox", "value": "137 %"})
	w.says(a.Warning, "only after return")
	p.undisturbed(t)
}
