package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// loginPage has a password field, and reports its submission in the title.
const loginPage = `<form onsubmit="sent.value = u.value + '/' + p.value; return false"><label>User <input id="u"></label> <label>Password <input type="password" id="p"></label>
	<label>Note <textarea id="a"></textarea></label><button>Send</button><input type="hidden" id="sent"></form>`

// plantInBar focuses the address bar, as a person does, and puts another window in front, in which
// the person works.
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

// TestRealKeysPastTheAddressBar: keys for a page field reach it, and none reaches the focused
// address bar, in the background and in the mode "focus".
func TestRealKeysPastTheAddressBar(t *testing.T) {
	w := parallelWorld(t)
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
			assert.Check(t, !strings.Contains(a.Text+jsonText(t, a.Data)+tree, "hunter"), "%s: the password is shown: %s\n%s", c.name, a.Text, tree)
			if somebody != nil && c.name != "focus" {
				p.undisturbed(t)
			}
			f.ok("ax_set_value", f.set("textbox Note", ""))
		}
	}
}

// TestRealKeysIntoTheFrame: a call without an element sends no keys to a browser's own frame, and
// reports that.
func TestRealKeysIntoTheFrame(t *testing.T) {
	w := parallelWorld(t)
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

// TestRealKeysStray: a page moves the focus on a key, so that the text goes to another field. That
// is an error, also for a password, and the other field is restored.
func TestRealKeysStray(t *testing.T) {
	w := parallelWorld(t)
	f := w.webFormIn(`<label>User <input id="u" value="ann"></label> <label>Password <input type="password" id="p" onkeydown="u.focus()"></label>`, "--app=")
	e := f.refused(aai.AutomationFailed, "ax_set_value", f.set("textbox Password", "hunter2"))
	f.says(e.Message, `textbox "User"`, "which has its former value again")
	f.comes("u", "ann")
	assert.Check(t, is.Equal(f.holds("p"), ""), "the password field holds %q", f.holds("p"))
}

// TestRealKeysStrayLater: a page moves the focus at the second key. One character of a password
// reaches the other field at most, and of another text the next few. Both are failures.
func TestRealKeysStrayLater(t *testing.T) {
	w := parallelWorld(t)
	f := w.webFormIn(`<label>User <input id="u" value="ann"></label> <label>Password <input type="password" id="p" onkeydown="if (value) u.focus()"></label>
		<label>Note <input id="a" onkeydown="if (value) u.focus()"></label>`, "--app=")
	for _, c := range []struct{ field, text string }{{"Password", "Badger7Oscar"}, {"Note", "a note of more than twenty-five characters and some words more"}} {
		e := f.refused(aai.AutomationFailed, "ax_type", params{"app": f.app, "query": `textbox "` + c.field + `"`, "text": c.text})
		told := f.shown(f.app)
		assert.Check(t, !strings.Contains(e.Message+told, c.text[1:]), "the rest of the text went on: %s\n%s", e.Message, told)
		f.comes("u", "ann")
	}
}

// TestRealKeysPastAnotherField: keys come to the named field while another one of the window has
// the keyboard, with the window in front and behind another.
func TestRealKeysPastAnotherField(t *testing.T) {
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			w := parallelWorld(t)
			f, app := w.open(kind)
			p := w.somebody()
			want := ""
			for _, somebody := range []*person{nil, p} {
				w.ok("ax_click", params{"app": app, "query": "Password", "mode": "focus"})
				if somebody != nil {
					somebody.back(t)
				}
				want += "q"
				tool, keys := "ax_key_press", params{"app": app, "query": `textbox "Full name"`, "key": "q", "mode": "focus"}
				if somebody != nil {
					tool, keys = "ax_type", params{"app": app, "query": `textbox "Full name"`, "text": "q"}
				}
				w.ok(tool, keys)
				f.WaitFor(t, "the field has the keys", func(state map[string]any) bool { return state["name"] == want })
				assert.Check(t, is.Equal(f.State(t)["password"], ""))
			}
		})
	}
}

// TestRealKeysPastAMenu: nothing is typed while a browser's menu is open, which takes all keys: a
// letter would choose an entry.
func TestRealKeysPastAMenu(t *testing.T) {
	w := parallelWorld(t)
	f := w.webFormIn(loginPage, "")
	f.front("Form - Chromium")
	f.eventually("the browser's menu is open", func() bool {
		f.run("xdotool", "key", "alt+f")
		return strings.Contains(f.shown(f.app), "New Incognito window")
	})
	e := f.refused(aai.AutomationFailed, "ax_set_value", f.set("textbox Password", "hunter2"))
	f.says(e.Message, "menu", "nothing was typed")
	assert.Check(t, is.Equal(f.holds("p"), ""), "the password field holds %q", f.holds("p"))
}
