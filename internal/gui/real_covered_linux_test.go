package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealLinesAreNotSent: return sends the text of a page's chat, and nothing is sent without a
// request.
func TestRealLinesAreNotSent(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<div id="chat" role="textbox" aria-label="Chat" aria-multiline="true" contenteditable style="min-height:3em"></div><input id="sent"><script>
		chat.onkeydown = e => { if (e.key == "Enter" && !e.shiftKey) { e.preventDefault(); sent.value += chat.innerText; chat.textContent = "" } }</script>`)
	f.done("ax_set_value", params{"app": f.app, "query": "textbox Chat", "value": "one\ntwo"})
	f.done("ax_type", params{"app": f.app, "query": "textbox Chat", "text": "\nthree"})
	w.ok("ax_type", params{"app": f.app, "query": "textbox Chat", "text": "!", "submit": true})
	w.eventually("it was sent in one", func() bool { told := *f.told.Load(); return strings.Count(told["sent"], "t") == 2 })
	sent := (*f.told.Load())["sent"]
	assert.Check(t, sent == "one two three!" || sent == "onetwothree!", "sent was %q", sent)
}

// TestRealCoveredPage: a covered Chromium without the right flags shows no effects. The reply says
// so, and does no more than requested.
func TestRealCoveredPage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
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
