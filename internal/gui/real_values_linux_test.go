package gui_test

import (
	"strings"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

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
