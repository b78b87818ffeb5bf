package gui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// realForm is a fixture's window in the background, while a person works beside it.
type realForm struct {
	*realWorld
	f    *linuxtest.Fixture
	app  string
	p    *person
	kind linuxtest.Kind
}

// on returns the arguments of a call on an element of the form.
func (w *realForm) on(query string) params { return params{"app": w.app, "query": query} }

// with adds an argument to those of on.
func (w *realForm) with(query, name string, value any) params {
	return params{"app": w.app, "query": query, name: value}
}

// is reports whether the form belongs to one of these toolkits.
func (w *realForm) is(kinds ...linuxtest.Kind) bool { return slices.Contains(kinds, w.kind) }

// realPart is one step of a test on a window.
type realPart struct {
	name string
	do   func(w *realForm)
}

// TestRealWindows operates windows of each toolkit with all tools. The window reports the result.
// Actions in the background leave the person's focus, pointer and keyboard alone.
func TestRealWindows(t *testing.T) {
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			onRealForm(t, kind, slices.Concat(realButtons(), realValues(), realLists(), realLooks()))
		})
	}
}

// onRealForm runs the parts on a window of the toolkit, in order.
func onRealForm(t *testing.T, kind linuxtest.Kind, parts []realPart) {
	t.Helper()
	world := newRealWorld(t)
	f, app := world.open(kind)
	p := world.somebody()
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) {
			part.do(&realForm{world.on(t), f, app, p, kind})
			p.undisturbed(t)
		})
	}
}

// realButtons returns tests of pressable elements, in the background.
func realButtons() []realPart {
	return []realPart{
		{"press", func(w *realForm) {
			a := w.done("ax_click", w.on("button Press"))
			w.says(a.Text, "Press", "Pressed 1 times")
			w.f.WaitState(w.T, "presses", 1)
		}},
		{"twins", realTwins},
		{"agree", realAgree},
		{"slow", func(w *realForm) { // the effect comes 150 ms later, and is in this reply or the next
			a := w.ok("ax_click", w.on("button Slow"))
			w.f.WaitState(w.T, "slow", 1)
			w.says(a.Text+w.ok("ax_find", w.on("button Slow")).Text, "Slow 1 times")
		}},
		{"dead", func(w *realForm) {
			before := w.f.State(w.T)
			a := w.ok("ax_click", w.on("button Dead"))
			w.says(a.Warning, "delivered", "nothing was seen to change")
			assert.Check(w, is.Equal(at(a.data, "delivered"), true), a.data)
			assert.Check(w, is.Equal(at(a.data, "verified"), false), a.data)
			w.same(before)
		}},
		{"disabled", func(w *realForm) {
			before := w.f.State(w.T)
			e := w.refused(aai.AutomationFailed, "ax_click", w.on("button Disabled"))
			w.says(e.Message, "Disabled", "is disabled")
			w.notDelivered(e)
			w.same(before)
		}},
		{"menu", realMenu},
		{"ghost", realGhost},
		{"dialog", realDialog},
	}
}

// same checks that the fixture's state is unchanged.
func (w *realForm) same(before map[string]any) {
	w.Helper()
	now := w.f.State(w.T)
	for key, was := range before {
		got, want := fmt.Sprint(now[key]), fmt.Sprint(was)
		assert.Check(w, is.Equal(got, want), key)
	}
}

func (w *realForm) notDelivered(e *aai.Error) {
	w.Helper()
	assert.Check(w, is.Equal(e.Delivery, aai.NotDelivered), e)
}

// notInBackground makes a call that the toolkit supports only in the mode "focus".
func (w *realForm) notInBackground(tool string, p params) {
	w.Helper()
	before := w.f.State(w.T)
	e := w.refused(aai.AutomationNotSupported, tool, p)
	w.notDelivered(e)
	w.says(e.Hint, `mode "focus"`)
	w.same(before)
}

// realTwins: of two buttons with one name, none is guessed.
func realTwins(w *realForm) {
	e := w.refused(aai.AmbiguousTarget, "ax_click", w.on("button Twin"))
	w.notDelivered(e)
	assert.Assert(w, is.Len(e.Candidates, 2))
	twin := w.f.State(w.T)["twin"]
	assert.Check(w, is.Equal(twin, 0.0), "twin %v was pressed", twin)
	w.ok("ax_click", w.with("button Twin", "nth", 2))
	w.f.WaitState(w.T, "twin", 2)
	ref, _, _ := strings.Cut(e.Candidates[0], " ")
	w.ok("ax_click", w.on(ref))
	w.f.WaitState(w.T, "twin", 1)
}

// realAgree: a check box, which GTK 4 cannot change by accessibility.
func realAgree(w *realForm) {
	if w.is(linuxtest.GTK4) {
		w.notInBackground("ax_click", w.on("checkbox Agree"))
		w.notInBackground("ax_set_value", w.with("checkbox Agree", "value", "true"))
		return
	}
	a := w.done("ax_click", w.on("checkbox Agree"))
	w.says(a.Text, "checked")
	w.f.WaitState(w.T, "agree", true)
	w.done("ax_set_value", w.with("checkbox Agree", "value", "false"))
	w.f.WaitState(w.T, "agree", false)
	a = w.ok("ax_set_value", w.with("checkbox Agree", "value", "false"))
	assert.Check(w, is.Equal(at(a.data, "delivered"), false), a.data)
	assert.Check(w, is.Equal(at(a.data, "verified"), true), a.data)
	_ = w.refused(aai.InvalidParams, "ax_set_value", w.with("checkbox Agree", "value", "maybe"))
}

// realMenu: an item of a closed menu is chosen without opening it, which would grab the person's
// keyboard.
func realMenu(w *realForm) {
	if w.is(linuxtest.GTK4) { // its menus do not exist while they are closed
		w.notDelivered(w.refused(aai.ElementNotFound, "ax_click", w.on("menuitem New")))
		w.notInBackground("ax_click", w.on("menuitem File"))
		return
	}
	if w.is(linuxtest.Chromium) { // a page's own menu, which is empty
		a := w.done("ax_click", w.on("menuitem File"))
		w.says(a.Text, "New", "Quit-not")
		w.ok("ax_click", w.on("menuitem New"))
		w.f.WaitState(w.T, "menu", "New")
		w.p.works(w.T)
		return
	}
	e := w.refused(aai.AutomationNotSupported, "ax_click", w.on("menuitem File"))
	w.notDelivered(e)
	w.says(strings.Join(e.Candidates, " "), "New", "Quit-not")
	w.ok("ax_click", w.on("menuitem New"))
	w.f.WaitState(w.T, "menu", "New")
	w.p.works(w.T)
}

// realGhost: a hidden element is not pressed, by any name.
func realGhost(w *realForm) {
	ref := w.ref(w.app, "button Ghost")
	w.ok("ax_click", w.on(ref))
	w.f.WaitState(w.T, "ghost", 1)
	a := w.done("ax_click", w.on("button Hide"))
	w.says(a.Text, "Ghost")
	w.f.WaitState(w.T, "hidden", true)
	if w.is(linuxtest.GTK3, linuxtest.Qt6) { // it is still in the tree
		e := w.refused(aai.AutomationFailed, "ax_click", w.on(ref))
		w.notDelivered(e)
		w.says(e.Message, "Ghost", "is not showing")
		e = w.refused(aai.ElementNotFound, "ax_click", w.on("button Ghost"))
		w.says(e.Message, "there, but not showing")
	} else {
		w.notDelivered(w.refused(aai.StaleRef, "ax_click", w.on(ref)))
		w.notDelivered(w.refused(aai.ElementNotFound, "ax_click", w.on("button Ghost")))
	}
	n := w.f.State(w.T)["ghost"]
	assert.Check(w, is.Equal(n, 1.0), "Ghost was pressed %v times", n)
}

// realDialog: elements behind a modal dialog are refused until the dialog is answered.
func realDialog(w *realForm) {
	press := w.ref(w.app, "button Press")
	before := w.f.State(w.T)["presses"]
	a := w.done("ax_click", w.on(`button "Open dialog"`))
	w.says(a.Text, `dialog "Really?"`)
	w.f.WaitState(w.T, "dialog", "open")
	w.p.works(w.T)
	if w.is(linuxtest.Chromium) { // the page behind it is not in the tree
		w.notDelivered(w.refused(aai.StaleRef, "ax_click", w.on(press)))
		w.notDelivered(w.refused(aai.ElementNotFound, "ax_click", w.on("button Press")))
	} else {
		e := w.refused(aai.AutomationFailed, "ax_click", w.on(press))
		w.notDelivered(e)
		w.says(e.Message, "modal", "Really?")
	}
	a = w.done("ax_click", w.on("button Yes"))
	w.says(a.Text, "\n- ")
	w.f.WaitState(w.T, "dialog", "yes")
	presses := w.f.State(w.T)["presses"]
	assert.Check(w, is.Equal(presses, before), "Press was pressed: %v, and it was %v", presses, before)
	w.done("ax_click", w.on(press))
}

// unicode is a text that no keyboard layout can type directly.
const unicode = "Grüße 日本 🙂"

// realValues returns tests of elements with values, in the background.
func realValues() []realPart {
	return []realPart{
		{"name", realName},
		{"notes", func(w *realForm) {
			text := unicode + "\nzwei"
			w.done("ax_type", w.with("textbox Notes", "text", text))
			w.f.WaitState(w.T, "notes", text)
			got := w.value("textbox Notes")
			assert.Check(w, is.Equal(got, text), "it holds %q, want %q", got, text)
		}},
		{"password", realPassword},
		{"volume", func(w *realForm) { realNumber(w, "slider Volume", "volume", "70", 70) }},
		{"count", func(w *realForm) { realNumber(w, "spinbutton Count", "count", "42", 42) }},
		{"colour", realColour},
		{"assert", realAssert},
	}
}

func (w *realForm) value(query string) string {
	w.Helper()
	text, _ := w.ok("ax_get_value", w.on(query)).data["value"].(string)
	return text
}

// realName: typing appends, and replaces on request.
func realName(w *realForm) {
	for _, step := range []struct {
		text  string
		clear bool
		want  string
	}{
		{unicode, false, unicode},
		{" more", false, unicode + " more"},
		{"Ann", true, "Ann"},
	} {
		w.done("ax_type", params{"app": w.app, "query": "textbox \"Full name\"", "text": step.text, "clear_first": step.clear})
		w.f.WaitState(w.T, "name", step.want)
		got := w.value("textbox \"Full name\"")
		assert.Check(w, is.Equal(got, step.want), "it holds %q, want %q", got, step.want)
	}
	w.done("ax_set_value", w.with("textbox \"Full name\"", "value", "Bob"))
	w.f.WaitState(w.T, "name", "Bob")
}

// realPassword: a password arrives, and is in no reply.
func realPassword(w *realForm) {
	const secret = "Geh3im-Wort"
	a := w.ok("ax_type", w.with("textbox Password", "text", secret))
	w.f.WaitState(w.T, "password", secret)
	texts := []string{a.Text, a.Warning, w.shown(w.app), w.record.text()}
	got := w.value("textbox Password")
	assert.Check(w, is.Equal(got, "****"), "ax_get_value says %q", got)
	for _, tool := range []string{"ax_find", "ax_get_attributes", "ax_get_value"} {
		b := w.ok(tool, w.on("textbox Password"))
		texts = append(texts, b.Text, jsonText(w.T, b.data))
	}
	texts = append(texts, jsonText(w.T, a.data), w.ok("ax_clipboard", params{"action": "read"}).Text)
	e := w.refused(aai.InvalidParams, "ax_assert", w.with("textbox Password", "assertions", map[string]any{"value": secret}))
	texts = append(texts, e.Message, e.Hint)
	for _, text := range texts {
		assert.Check(w, !strings.Contains(text, secret), "the password is told in %q", text)
	}
}

// realNumber: a number within bounds.
func realNumber(w *realForm, query, key, text string, number int) {
	w.done("ax_set_value", w.with(query, "value", text))
	w.f.WaitState(w.T, key, number)
	got := w.value(query)
	assert.Check(w, is.Equal(got, text), "it holds %q, want %q", got, text)
	for _, wrong := range []string{"101", "many"} {
		_ = w.refused(aai.InvalidParams, "ax_set_value", w.with(query, "value", wrong))
	}
	w.f.WaitState(w.T, key, number)
}

func realColour(w *realForm) {
	switch {
	case w.is(linuxtest.GTK4):
		w.notInBackground("ax_set_value", w.with("combobox Colour", "value", "Blue"))
		return
	default:
		w.done("ax_set_value", w.with("combobox Colour", "value", "Blue"))
		w.f.WaitState(w.T, "colour", "Blue")
	}
	e := w.refused(aai.ElementNotFound, "ax_set_value", w.with("combobox Colour", "value", "Purple"))
	w.notDelivered(e)
	w.says(strings.Join(e.Candidates, " "), "Red", "Green", "Blue")
}

// realAssert: assertions that hold, and others that do not.
func realAssert(w *realForm) {
	for _, c := range []struct {
		query   string
		holds   map[string]any
		differs map[string]any
	}{
		{"button Press", map[string]any{"exists": true, "enabled": true, "visible": true, "role": "button", "title": "Press"}, map[string]any{"title": "Release"}},
		{"button Disabled", map[string]any{"enabled": false}, map[string]any{"enabled": true}},
		{"textbox Notes", map[string]any{"contains_text": "zwei"}, map[string]any{"contains_text": "drei"}},
		{"slider Volume", map[string]any{"value": "70"}, map[string]any{"value": "71"}},
		{"checkbox Agree", map[string]any{"checked": false}, map[string]any{"checked": true}},
		{"button Nowhere", map[string]any{"exists": false}, map[string]any{"exists": true}},
	} {
		a := w.ok("ax_assert", w.with(c.query, "assertions", c.holds))
		assert.Check(w, is.Equal(at(a.data, "passed"), true), "%s %s", c.query, a.Text)
		a = w.ok("ax_assert", w.with(c.query, "assertions", c.differs))
		assert.Check(w, is.Equal(at(a.data, "passed"), false), "%s %v %s", c.query, c.differs, a.Text)
	}
}
