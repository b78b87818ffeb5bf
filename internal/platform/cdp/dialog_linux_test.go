package cdp_test

import (
	"encoding/json"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

const asking = `<!doctype html><title>Asking</title><h1>Asking</h1>
<button onclick="alert('Careful'); result.textContent = 'seen'">Alert</button>
<button onclick="result.textContent = confirm('Delete\nthe draft?')">Confirm</button>
<button onclick="setTimeout(() => result.textContent = prompt('Your name?', 'Bob'))">Prompt</button>
<button onclick="result.textContent = 'empty'; alert()">Empty</button>
<input aria-label=Draft oninput="onbeforeunload = e => e.preventDefault()">
<output id=result></output>`

// TestDialogs answers the dialogs of JavaScript, which block their page.
func TestDialogs(t *testing.T) {
	w := newWorld(t, "", "--force-renderer-accessibility")
	w.pages["/asking"], w.pages["/next"] = asking, `<title>Next</title><h1>Next</h1>`
	w.open(t, "/asking")
	for _, c := range []struct{ name, text, press, result string }{
		{"Alert", "", "OK", "seen"}, {"Confirm", "", "OK", "true"}, {"Confirm", "", "Cancel", "false"}, {"Prompt", "", "OK", "Bob"}, {"Prompt", "Ann", "OK", "Ann"}, {"Empty", "", "OK", "empty"},
	} {
		t.Run(c.name+" "+c.text+" "+c.press, func(t *testing.T) {
			w.press(t, desktop.Button, c.name)
			if c.text != "" {
				err := w.act(t, w.find(t, desktop.Textbox, "Your name?"), desktop.Act{Verb: desktop.SetText, Text: c.text})
				assert.Assert(t, err == nil, err)
			}
			w.press(t, desktop.Button, c.press)
			w.find(t, desktop.Text, c.result)
		})
	}
	t.Run("once, with the page", func(t *testing.T) {
		w.press(t, desktop.Button, "Confirm")
		until(t, func() bool { // the browser shows it itself
			return slices.ContainsFunc(w.snapshot(t, w.platform).Elements, func(e desktop.Element) bool { return e.Role == desktop.Button && e.Name == "OK" })
		})
		until(t, func() bool { return count(w.snapshot(t, w.backend), desktop.Button, "OK") == 1 })
		s := w.snapshot(t, w.backend)
		n := count(s, desktop.Heading, "Asking")
		assert.Check(t, is.Equal(n, 1), "the page is there %d times", n)
		n = count(s, desktop.Text, "Delete the draft?")
		assert.Check(t, is.Equal(n, 1), "the question is there %d times", n)
		err := w.act(t, w.find(t, desktop.Button, "Alert"), desktop.Act{Verb: desktop.Press})
		assert.Assert(t, err != nil, "%+v", err)
		assert.Equal(t, err.Delivery, aai.NotDelivered, "%+v", err)
		old := w.find(t, desktop.Button, "Cancel")
		w.press(t, desktop.Button, "OK")
		w.find(t, desktop.Text, "true")
		err = w.act(t, old, desktop.Act{Verb: desktop.Press})
		assert.Assert(t, err != nil, "%+v", err)
		assert.Equal(t, err.Code, aai.StaleRef, "%+v", err)
	})
	t.Run("leave", func(t *testing.T) {
		if err := w.act(t, w.find(t, desktop.Textbox, "Draft"), desktop.Act{Verb: desktop.SetText, Text: "x"}); err != nil {
			t.Fatal(err)
		}
		one := w.browsers.Connected(t.Context())[0]
		s, err := one.Attach(t.Context(), one.Tabs()[0].ID, func(string, json.RawMessage) {})
		assert.NilError(t, err)
		go func() {
			_ = s.Request(t.Context(), "Page.navigate", map[string]any{"url": w.server.URL + "/next"}, nil)
		}()
		w.press(t, desktop.Button, "Leave")
		w.find(t, desktop.Heading, "Next")
	})
}

// TestNavigation presses a button and links after which the next document comes late.
func TestNavigation(t *testing.T) {
	w := newWorld(t, "")
	w.pages["/old"] = `<title>Old</title><h1>Old</h1><form action=/slow><input aria-label=Text><button>Send</button></form><a href=/slow>Go</a> <a href=#part>Part</a>
<button onclick="location = '/slow'">Script</button><h2 id=part>Here</h2>`
	w.pages["/slow"] = `<title>New</title><h1>New</h1>`
	for _, c := range []struct {
		role desktop.Role
		name string
	}{{desktop.Button, "Send"}, {desktop.Link, "Go"}, {desktop.Button, "Script"}} {
		t.Run(c.name, func(t *testing.T) {
			w.open(t, "/old")
			w.press(t, c.role, c.name)
			until(t, func() bool {
				s := w.snapshot(t, w.backend)
				assert.Assert(t, count(s, desktop.Heading, "Old") <= 0, "the old document is read after the press")
				return count(s, desktop.Heading, "New") > 0
			})
		})
	}
	t.Run("within the document", func(t *testing.T) {
		w.open(t, "/old")
		w.press(t, desktop.Link, "Part")
		w.press(t, desktop.Link, "Part")
		w.find(t, desktop.Heading, "Here")
	})
}

func count(s *desktop.Snapshot, role desktop.Role, name string) (n int) {
	for _, e := range s.Elements {
		if e.Role == role && e.Name == name {
			n++
		}
	}
	return n
}
