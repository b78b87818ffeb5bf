package gui_test

import (
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealNumbers: a page's number is set to its last digit, although Chromium reports and sets
// numbers in 32 bits. After keys it may still report an old text, so the comparison allows for
// that.
func TestRealNumbers(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<label>Amount <input type="number" id="amount" step="any"></label>`)
	near := func(got any, want string) bool {
		text, _ := got.(string)
		is, err := strconv.ParseFloat(text, 32)
		wanted, _ := strconv.ParseFloat(want, 32)
		return err == nil && is == wanted
	}
	for _, value := range []string{"1000000", "1000001", "20000", "20000.01", "123456789", "0.1", "500", "500.001", "16777217", "1234567.89", "99999999", "1000001", "-7"} {
		set := f.ok("ax_set_value", f.set("spinbutton Amount", value))
		f.comes("amount", value)
		assert.Check(t, is.Equal(at(set.data, "verified"), true), "%s %s", value, set.Text)
		assert.Check(t, near(at(set.data, "element", "value"), value), "%s %s", value, set.Text)
		got := f.ok("ax_get_value", f.on("spinbutton Amount")).data["value"]
		assert.Check(t, near(got, value), "%s is read as %v", value, got)
	}
	for _, value := range []string{"20000.01", "500.001", "16777217"} {
		f.ok("ax_type", params{"app": f.app, "query": "spinbutton Amount", "text": value, "clear_first": true})
		f.comes("amount", value)
	}
	f.ok("ax_fill", params{"app": f.app, "fields": fields("spinbutton Amount", "16777215")})
	f.comes("amount", "16777215")
	for _, value := range []string{"4000123412341234567", "4000123412341234700", "12345678901234567890", "9007199254740993", "9007199254740992", "1234567890123456.78", "-0.12345678901234567891"} {
		set := f.ok("ax_set_value", f.set("spinbutton Amount", value)) // more digits than a program computes with
		f.comes("amount", value)
		if at(set.data, "verified") != true && !strings.Contains(set.Warning, "cannot be read back") { // its text stays unchanged
			t.Errorf("%s: %s", value, set.Text)
		}
	}
	f.ok("ax_set_value", f.set("spinbutton Amount", "12345678901234567890"))
	_, _ = f.do(f.Context(), "ax_type", params{"app": f.app, "query": "spinbutton Amount", "text": "42"}) // the page reports the value
	f.comes("amount", "1234567890123456789042")
	f.ok("ax_set_value", f.set("spinbutton Amount", ""))
	f.comes("amount", "")
	for _, value := range []string{"19.99", "20", "-12.5"} { // also if there is none yet
		for _, value := range []string{"", value} {
			f.ok("ax_type", params{"app": f.app, "query": "spinbutton Amount", "text": value, "clear_first": true})
			f.comes("amount", value)
		}
	}
}

// TestRealPromptOfAPage: the question of a page's prompt names its field, and its buttons are
// judged by that.
func TestRealPromptOfAPage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<input id="answer"><button onclick="setTimeout(() => answer.value = prompt('Delete the account for good?', 'x'), 100)">Ask</button>`)
	w.gateway.Gates = []aai.Gate{losses{new(record)}}
	f.ok("ax_click", f.on("button Ask"))
	w.awaitElement(f.app, "button OK")
	for tool, p := range map[string]params{
		"ax_key_press": {"app": f.app, "key": "return"}, "ax_click": f.on("button OK"), "ax_type": {"app": f.app, "text": "hi\n"},
	} {
		f.says(f.refused(aai.ConsentRequired, tool, p).Message, "destroy of")
	}
}
