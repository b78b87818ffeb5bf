package cdp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// find returns the visible element with the role and the name, once the tree has it.
func (w *world) find(t *testing.T, role desktop.Role, name string) desktop.Element {
	t.Helper()
	var found desktop.Element
	if !within(func() bool {
		s := w.snapshot(t, w.backend)
		for i, e := range s.Elements {
			if e.Role == role && e.Name == name && e.DevTools && s.IsVisible(i) {
				found = e
				return true
			}
		}
		return false
	}) {
		t.Fatalf("no %s %q; there are %s", role, name, strings.Join(controls(w.snapshot(t, w.backend)), "\n"))
	}
	return found
}

func (w *world) act(t *testing.T, e desktop.Element, act desktop.Act) *aai.Error {
	t.Helper()
	act.Name = e.Name
	return aai.AsError(w.backend.Actor.Execute(t.Context(), w.app, e.ID, act))
}

// press presses the element, which must succeed.
func (w *world) press(t *testing.T, role desktop.Role, name string) {
	t.Helper()
	err := w.act(t, w.find(t, role, name), desktop.Act{Verb: desktop.Press})
	assert.Assert(t, err == nil, err)
}

const pages = `<!doctype html><title>Parts</title><style>body{margin:8px}</style>
<button onclick="out.textContent = 'pressed'">Press</button> <output id=out></output>
<div style='display:contents' onclick='0'><button onclick="this.textContent = 'Boxless done'">Boxless</button></div> <div id=host></div> <span id=shut>Closed</span>
<iframe title=Same srcdoc="<button onclick='this.textContent = &quot;Same done&quot;'>Same</button>" height=50></iframe>
<iframe title=Other src="http://other.test:PORT/frame" height=80></iframe>
<div style="position:relative;height:30px"><button>Under</button><div style="position:absolute;inset:0;background:#eee">Cover</div></div>
<div contenteditable role=textbox aria-label=Editor></div>
<div id=list role=list style="height:60px;overflow:auto"></div>
<script>
host.attachShadow({mode: 'open'}).innerHTML = '<button>Shadow</button>';
host.shadowRoot.firstChild.onclick = e => e.target.textContent = 'Shadow done';
const inner = shut.attachShadow({mode: 'closed'});
inner.innerHTML = '<button><slot></slot></button>';
inner.firstChild.onclick = () => shut.textContent = 'Closed done';
for (let i = 0; i < 40; i++) list.innerHTML += '<div role=listitem><button onclick="this.textContent += \' done\'">Row ' + i + '</button></div>';
</script>`

// TestPages operates the parts of a page in a browser that shows nothing of it by accessibility.
func TestPages(t *testing.T) {
	w := newWorld(t, "")
	_, port, _ := strings.Cut(strings.TrimPrefix(w.server.URL, "http://"), ":")
	w.pages["/parts"] = strings.ReplaceAll(pages, "PORT", port)
	w.pages["/frame"] = `<button onclick="this.textContent = 'Other done'">Other</button><input aria-label=Within>`
	w.pages["/next"] = `<title>Next</title><button>Press</button>`
	w.open(t, "/parts")
	for _, name := range []string{"Boxless", "Shadow", "Closed", "Same", "Other"} {
		t.Run(name, func(t *testing.T) {
			w.press(t, desktop.Button, name)
			w.find(t, desktop.Button, name+" done")
		})
	}
	t.Run("text in a frame of another site", func(t *testing.T) {
		err := w.act(t, w.find(t, desktop.Textbox, "Within"), desktop.Act{Verb: desktop.SetText, Text: "hällo"})
		assert.Assert(t, err == nil, err)
		until(t, func() bool { return w.find(t, desktop.Textbox, "Within").Value == "hällo" })
	})
	t.Run("editor", func(t *testing.T) {
		for _, text := range []string{"one\ntwo", "three"} {
			err := w.act(t, w.find(t, desktop.Textbox, "Editor"), desktop.Act{Verb: desktop.SetText, Text: text})
			assert.Assert(t, err == nil, err)
			until(t, func() bool { return w.find(t, desktop.Textbox, "Editor").Value == text })
		}
	})
	t.Run("covered", func(t *testing.T) {
		err := w.act(t, w.find(t, desktop.Button, "Under"), desktop.Act{Verb: desktop.Press})
		assert.Assert(t, err != nil, "%+v", err)
		assert.Equal(t, err.Delivery, aai.NotDelivered, "%+v", err)
		assert.Assert(t, is.Contains(err.Message, "Cover"), "%+v", err)
	})
	t.Run("scrolled away", func(t *testing.T) {
		s := w.snapshot(t, w.backend)
		for i, e := range s.Elements {
			if e.Name != "Row 39" || e.Role != desktop.Button {
				continue
			}
			if !s.IsOffscreen(i) {
				t.Errorf("it is %v", e.States.Words())
			}
			err := w.act(t, e, desktop.Act{Verb: desktop.Press})
			assert.Assert(t, err == nil, err)
		}
		w.find(t, desktop.Button, "Row 39 done")
	})
	t.Run("events", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		events, err := w.backend.Events.Watch(ctx, w.app)
		assert.NilError(t, err)
		w.press(t, desktop.Button, "Press")
		<-events
		w.find(t, desktop.Status, "")
	})
	t.Run("another document", func(t *testing.T) {
		old := w.find(t, desktop.Button, "Press")
		w.open(t, "/next")
		w.find(t, desktop.Button, "Press")
		err := w.act(t, old, desktop.Act{Verb: desktop.Press})
		assert.Assert(t, err != nil, "%+v", err)
		assert.Equal(t, err.Code, aai.StaleRef, "%+v", err)
	})
	t.Run("passwords", func(t *testing.T) {
		w.pages["/passwords"] = `<title>Passwords</title><input aria-label=Typed type=password value=typed123><input aria-label=Second hidden>
			<input aria-label=Filled autocomplete=current-password value=filled123><input aria-label=Dotted style="-webkit-text-security:disc" value=dotted123>
			<input aria-label=User value=ann><button onclick="second.value = typed.value; second.hidden = false; dotted.style.webkitTextSecurity = typed.type = ''">Show</button>
			<script>const [typed, second, , dotted] = document.querySelectorAll("input")</script>`
		w.open(t, "/passwords")
		w.press(t, desktop.Button, "Show")
		for _, name := range []string{"Second", "Typed", "Filled", "Dotted"} {
			if e := w.find(t, desktop.Textbox, name); e.Value != "" || !e.States.Has(desktop.Protected) {
				t.Errorf("%s has the value %q and is %v", name, e.Value, e.States.Words())
			}
		}
		assert.Check(t, is.Equal(w.find(t, desktop.Textbox, "User").Value, "ann"))
		w.open(t, "/next")
	})
	t.Run("tab in the background", func(t *testing.T) {
		old := w.find(t, desktop.Button, "Press")
		w.pages["/front"] = `<title>Front</title><button>In front</button>`
		assert.NilError(t, w.browsers.Connected(t.Context())[0].Request(t.Context(), "Target.createTarget", map[string]any{"url": w.server.URL + "/front"}, nil))
		w.find(t, desktop.Button, "In front")
		for _, e := range w.snapshot(t, w.backend).Elements {
			assert.Check(t, e.Name != "Press", "the tree has the %s of the tab in the background", e.Role)
		}
		err := w.act(t, old, desktop.Act{Verb: desktop.Press})
		assert.Assert(t, err != nil, "%+v", err)
		assert.Equal(t, err.Delivery, aai.NotDelivered, "%+v", err)
	})
	t.Run("end of the connection", func(t *testing.T) {
		old := w.find(t, desktop.Button, "In front")
		assert.NilError(t, w.browsers.Close())
		err := w.act(t, old, desktop.Act{Verb: desktop.Press})
		assert.Assert(t, err != nil, "%+v", err)
		assert.Equal(t, err.Code, aai.StaleRef, "%+v", err)
		assert.Check(t, len(w.snapshot(t, w.backend).Elements) != 0, "there is no tree of the platform")
	})
}

// open lets the tab that the window shows go to a page.
func (w *world) open(t *testing.T, path string) {
	t.Helper()
	one := w.browsers.Connected(t.Context())[0]
	s, err := one.Attach(t.Context(), one.Tabs()[0].ID, func(string, json.RawMessage) {})
	assert.NilError(t, err)
	assert.NilError(t, s.Request(t.Context(), "Page.navigate", map[string]any{"url": w.server.URL + path}, nil))
}
