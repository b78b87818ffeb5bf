package ax_test

import (
	"strings"
	"testing"

	"aai"
)

// loginPage has a password field, and tells in its title that it was sent.
const loginPage = `<form onsubmit="sent.value = u.value + '/' + p.value; return false"><label>User <input id="u"></label> <label>Password <input type="password" id="p"></label>
	<label>Note <textarea id="a"></textarea></label><button>Send</button><input type="hidden" id="sent"></form>`

// plantInBar gives the address bar the keyboard, as a person does, and puts another window in
// front where somebody works.
func (f *webForm) plantInBar(somebody *person) {
	f.Helper()
	f.front("Form - Chromium")
	f.eventually("the address bar has the keyboard", func() bool {
		f.run("xdotool", "key", "ctrl+l")
		return strings.Contains(f.shown(f.app), "] focused: \"")
	})
	if somebody != nil {
		somebody.back(f.T)
	}
}

// TestRealKeysPastTheAddressBar: keys that are meant for a field of a page come to it, and none to
// the address bar that has the browser's keyboard, in the background and in the mode "focus".
func TestRealKeysPastTheAddressBar(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webFormIn(loginPage, "")
	p := w.somebody()
	bar := "\"" + f.host + "\""
	for _, c := range []struct {
		name, tool string
		p          params
		id, holds  string
	}{
		{"value", "ax_set_value", params{"query": "textbox Password", "value": "hunter2"}, "p", "hunter2"},
		{"fill", "ax_fill", params{"fields": fields("textbox User", "ann", "textbox Password", "hunter3")}, "p", "hunter3"},
		{"submit", "ax_type", params{"query": "textbox Password", "text": "hunter4", "clear_first": true, "submit": true}, "sent", "ann/hunter4"},
		{"key", "ax_key_press", params{"query": "textbox Note", "key": "q"}, "a", "q"},
		{"button", "ax_key_press", params{"query": "button Send", "key": "space"}, "sent", "ann/hunter4"},
		{"focus", "ax_type", params{"query": "textbox Password", "text": "hunter5", "clear_first": true, "mode": "focus"}, "p", "hunter5"},
	} {
		for _, somebody := range []*person{nil, p} {
			f.plantInBar(somebody)
			c.p["app"] = f.app
			a := f.ok(c.tool, c.p)
			f.comes(c.id, c.holds)
			tree := f.shown(f.app)
			f.says(tree, bar)
			if strings.Contains(a.Text+jsonText(t, a.Data)+tree, "hunter") {
				t.Errorf("%s: the password is shown: %s\n%s", c.name, a.Text, tree)
			}
			if somebody != nil && c.name != "focus" {
				p.undisturbed(t)
			}
			f.ok("ax_set_value", f.set("textbox Note", ""))
		}
	}
}

// TestRealKeysIntoTheFrame: a call that names no element sends no keys to a browser's own frame,
// and says so.
func TestRealKeysIntoTheFrame(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webFormIn(loginPage, "")
	p := w.somebody()
	for _, somebody := range []*person{nil, p} {
		for tool, key := range map[string]string{"ax_type": "text", "ax_key_press": "key"} {
			f.plantInBar(somebody)
			e := f.refused(aai.AutomationFailed, tool, params{"app": f.app, key: "q"})
			f.says(e.Message, "Address and search bar", "part of the browser", "nothing was typed")
			f.says(f.shown(f.app), "\""+f.host+"\"")
		}
	}
}
