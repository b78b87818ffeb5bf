package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealEditor: in a page's editor, with one element per line and no-break spaces for double
// ones, a multiline text is set and read unchanged.
func TestRealEditor(t *testing.T) {
	f := pageOf(t, `<p><div contenteditable role="textbox" aria-multiline="true" aria-label="Note" oninput="edit.value = innerText">old</div><input type="hidden" id="edit">
		<div contenteditable role="textbox" aria-multiline="true" aria-label="Letter"><p>One <b>bold</b> and <a href="#">linked</a> word</p><p>Two</p>three<br>four</div>`)
	for _, text := range []string{"one\ntwo", "two  spaces", "first\n\nlast", "\nsecond", "one"} {
		f.done("ax_set_value", f.set("textbox Note", text))
		f.says(f.ok("ax_set_value", f.set("textbox Note", text)).Text, "has this value already")
		if text == "one\ntwo" {
			f.comes("edit", text)
		}
	}
	f.done("ax_type", params{"app": f.app, "query": "textbox Note", "text": "\nmore\nlines"})
	for query, want := range map[string]string{"textbox Note": "one\nmore\nlines", "textbox Letter": "One bold and linked word\nTwo\nthree\nfour"} {
		assert.Check(t, is.Equal(f.ok("ax_get_value", f.on(query)).data["value"], want), query)
	}
}

// TestRealLongText: a text typed by keys arrives completely, however slow the page is; a text that
// is too long for that is rejected.
func TestRealLongText(t *testing.T) {
	for name, field := range map[string]string{
		"area":     `<textarea aria-label="Note"></textarea>`,
		"editable": `<div contenteditable role="textbox" aria-multiline="true" aria-label="Note" style="height: 200px; overflow: auto; white-space: pre-wrap"></div>`,
	} {
		t.Run(name, func(t *testing.T) {
			w := parallelWorld(t)
			f := w.webForm(`<p>` + field)
			note := func(text string) params { return params{"app": f.app, "query": "textbox Note", "text": text} }
			text := strings.Repeat("All work and no play. ", 60)
			if a, e := f.do(f.Context(), "ax_type", note(text)); e != nil || at(asJSON(t, a.Data), "verified") != true {
				t.Errorf("%+v %+v", a, e)
			}
			_, e := f.do(f.Context(), "ax_type", note(strings.Repeat(text, 10)))
			assert.Assert(t, e != nil, "%+v", e)
			assert.Equal(t, e.Code, aai.InvalidParams, "%+v", e)
			assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
			got := f.ok("ax_get_value", f.on("textbox Note")).data["value"]
			assert.Check(t, is.Equal(got, text), "it holds %q", got)
		})
	}
}

// TestRealTypeIntoDrawing: text goes by keys into a widget that reports no text, and stops when the widget gives the
// keyboard away.
func TestRealTypeIntoDrawing(t *testing.T) {
	w := parallelWorld(t)
	file := filepath.Join(w.Home, "keys")
	app := w.python("drawn.py", `"Sheet"`, file)
	typed := func(want string) {
		w.Helper()
		w.eventually("the widget has "+want, func() bool { text, _ := os.ReadFile(file); return string(text) == want })
	}
	w.done("ax_type", params{"app": app, "query": "Sheet", "text": "ab 1"})
	typed("ab 1;")
	w.says(w.refused(aai.InvalidParams, "ax_type", params{"app": app, "query": "Sheet", "text": "x", "clear_first": true}).Message, "reports no text")
	e := w.refused(aai.AutomationFailed, "ax_type", params{"app": app, "query": "Sheet", "text": "c!password"})
	w.says(e.Message, "after 2 of 10 characters")
	typed("ab 1c!;")
	text, _ := os.ReadFile(file + ".field")
	assert.Check(t, is.Len(text, 0))
	e = w.refused(aai.AutomationFailed, "ax_type", params{"app": app, "query": "Sheet", "text": "a?dd d"})
	w.says(e.Message, "after 2 of 6 characters")
	w.done("ax_click", params{"app": app, "query": "Cancel"})
	w.eventually("the dialog was cancelled", func() bool { text, _ := os.ReadFile(file + ".answer"); return string(text) == "0" })
}

// TestRealEntryLine: return without a target warns that the text set before is gone.
func TestRealEntryLine(t *testing.T) {
	w := parallelWorld(t)
	app := w.python("entryline.py", "A1")
	w.done("ax_set_value", params{"app": app, "query": "role:textbox", "value": "=6*7"})
	a := w.ok("ax_key_press", params{"app": app, "key": "return"})
	w.says(a.Warning, "whose text is gone", "ax_type with submit")
	assert.Check(t, is.Equal(at(a.data, "verified"), false), "it counts as seen to be done: %v", a.data)
}

// TestRealOverwriteFails: a failed overwrite leaves the field unchanged, and later text is added to
// it.
func TestRealOverwriteFails(t *testing.T) {
	t.Parallel()
	const was = "keep this"
	w := newRealWorld(t)
	f := w.webForm(`<input type="hidden" id="inputs" value="0"><p oninput="inputs.value++"><label>Plain <input id="plain" value="` + was + `"></label> <label>Area <textarea id="area">` + was + `</textarea></label>`)
	typed := func(query, text string) params {
		return params{"app": f.app, "query": query, "text": text, "clear_first": true}
	}
	const plain, area = "textbox Plain", "textbox Area"
	for _, c := range []struct {
		tool, id, query string
		args            params
		says            string
	}{
		{"ax_type", "plain", plain, typed(plain, "a\u0000b"), "text: expected no control characters but line breaks and tabs, got U+0000 as character 2"},
		{"ax_set_value", "area", area, f.set(area, "\u0000"), "value: expected no control characters but line breaks and tabs, got U+0000 as character 1"},
		{"ax_fill", "plain", plain, params{"app": f.app, "fields": fields(area, "new", plain, "né\u0001")}, "fields[1].value: expected no control characters but line breaks and tabs, got U+0001 as character 3"},
		{"ax_set_value", "area", area, f.set(area, strings.Repeat("six ch", 1000)), "value: expected at most 5000 characters"},
		{"ax_type", "area", area, typed(area, strings.Repeat("six ch", 1000)), "text: expected at most 5000 characters"},
		{"ax_type", "plain", plain, typed(plain, "a\u0085"), "has its former value: the text has the character U+0085"},
		{"ax_set_value", "area", area, f.set(area, "\ufffe"), "has its former value: the text has the character U+FFFE"},
	} {
		held, other, inputs := f.holds(c.id), f.holds(map[string]string{"plain": "area", "area": "plain"}[c.id]), f.holds("inputs")
		e := f.refused(aai.InvalidParams, c.tool, c.args)
		f.says(e.Message, c.says)
		assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered), c.says)
		assert.Check(t, is.Equal(f.holds("inputs"), inputs), c.says)
		f.ok("ax_type", params{"app": f.app, "query": c.query, "text": "!"})
		f.eventually("the page holds what was typed", func() bool { return strings.Contains(f.holds(c.id), "!") && f.holds(c.id) != held })
		now := f.holds(c.id)
		assert.Check(t, is.Equal(strings.ReplaceAll(now, "!", ""), was), "%s %s %q %q", c.says, c.id, now, held)
		assert.Check(t, is.Equal(f.holds(map[string]string{"plain": "area", "area": "plain"}[c.id]), other), "%s %s %q %q", c.says, c.id, now, held)
	}
}

// TestRealLinesAreNotSent: return sends the text of a page's chat, and nothing is sent without a
// request.
func TestRealLinesAreNotSent(t *testing.T) {
	f := pageOf(t, `<div id="chat" role="textbox" aria-label="Chat" aria-multiline="true" contenteditable style="min-height:3em"></div><input id="sent"><script>
		chat.onkeydown = e => { if (e.key == "Enter" && !e.shiftKey) { e.preventDefault(); sent.value += chat.innerText; chat.textContent = "" } }</script>`)
	f.done("ax_set_value", params{"app": f.app, "query": "textbox Chat", "value": "one\ntwo"})
	f.done("ax_type", params{"app": f.app, "query": "textbox Chat", "text": "\nthree"})
	f.ok("ax_type", params{"app": f.app, "query": "textbox Chat", "text": "!", "submit": true})
	f.eventually("it was sent in one", func() bool { told := *f.told.Load(); return strings.Count(told["sent"], "t") == 2 })
	sent := (*f.told.Load())["sent"]
	assert.Check(t, sent == "one two three!" || sent == "onetwothree!", "sent was %q", sent)
}

// TestRealCoveredPage: a covered Chromium without the right flags shows no effects. The reply says
// so, and does no more than requested.
func TestRealCoveredPage(t *testing.T) {
	w := parallelWorld(t)
	f := w.formIn(`<button id="go" onclick="clicks.value = +clicks.value + 1">Go</button><button>Dead</button><input id="clicks" value="0"><label>Date <input type="date" id="date"></label><input id="keys" value="0"><label>Colour <select id="colour"><option>Red<option>Blue</select></label><script>
		date.onkeydown = e => { if (e.key.startsWith("Arrow")) keys.value = +keys.value + 1 }</script>`, "button Ready", func(address, host string) *linuxtest.App { return w.browse(host, "--app="+address) })
	w.Launch(t, "xterm", "-geometry", "400x200+0+0", "-e", "sleep", "infinity")
	w.eventually("the page is covered", func() bool {
		return strings.Contains(w.ok("ax_list_windows", params{"app": f.app}).Text, "100% covered")
	})
	a := w.ok("ax_click", params{"app": f.app, "query": "button Go"})
	w.says(a.Warning, "nothing was seen to change", "do not show it")
	f.comes("clicks", "1")
	for range 3 { // the next action, or the one after, shows it
		a := w.ok("ax_click", params{"app": f.app, "query": "button Dead"})
		assert.Check(t, is.Equal(at(a.data, "verified"), false), "what a covered page did before is told of the next click: %s", a.Text)
	}
	_, err := w.do(w.Context(), "ax_set_value", params{"app": f.app, "query": "Date", "value": "2026-03-04"})
	if err != nil {
		e := aai.AsError(err)
		w.says(e.Message, "do not show it")
	}
	f.comes("date", "2026-03-04")
	f.comes("keys", "0")
	if _, err := w.do(w.Context(), "ax_set_value", params{"app": f.app, "query": "Colour", "value": "Blue"}); err != nil {
		if w.says(err.Message, "do not show it"); err.Delivery != aai.Delivered {
			t.Errorf("%s: it was asked to choose, and says %s", err.Message, err.Delivery)
		}
	}
	f.comes("colour", "Blue")
}
