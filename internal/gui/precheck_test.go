package gui_test

import (
	"context"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// askAboutActs admits reads, if sees is true, and asks about everything else.
type askAboutActs struct{ sees bool }

func (g askAboutActs) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.Permission() == aai.PermissionSee && g.sees {
		return nil, nil
	}
	return []aai.Question{{ID: "q", Title: "May it?", Channels: []aai.Channel{aai.DesktopDialog}, Choices: []aai.Choice{{ID: "no"}}}}, nil
}

// TestNobodyIsAskedAboutWhatIsNotThere: for callers that may see the program, a missing target is
// an error before any question. Others get the question first, and learn nothing.
func TestNobodyIsAskedAboutWhatIsNotThere(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Office")
		window := p.Window("Office")
		window.Button("Save", func() { t.Error("it was pressed") })
		window.Button("Open", func() {})
		window.Button("Open", func() {})
		window.Textbox("Name")
		for _, c := range []struct {
			tool, args string
			code       aai.Code // for callers that may see it
		}{
			{"ax_click", `{"app": "Office", "query": "Sava"}`, aai.ElementNotFound},
			{"ax_click", `{"app": "Office", "query": "Open"}`, aai.AmbiguousTarget},
			{"ax_click", `{"app": "Office", "query": "Open", "nth": 3}`, aai.ElementNotFound},
			{"ax_click", `{"app": "Office", "query": "e99"}`, aai.ElementNotFound},
			{"ax_click", `{"app": "Office", "query": "Save"}`, aai.ConsentRequired},
			{"ax_type", `{"app": "Office", "query": "Address", "text": "x"}`, aai.ElementNotFound},
			{"ax_type", `{"app": "Office", "query": "Name", "text": "x"}`, aai.ConsentRequired},
			{"ax_type", `{"app": "Office", "text": "x"}`, aai.ConsentRequired},
			{"ax_set_value", `{"app": "Office", "query": "Address", "value": "x"}`, aai.ElementNotFound},
			{"ax_key_press", `{"app": "Office", "key": "F4", "modifiers": ["alt"]}`, aai.AutomationNotSupported},
			{"ax_key_press", `{"app": "Office", "key": "ctrl+s"}`, aai.InvalidParams},
			{"ax_key_press", `{"app": "Office", "key": "s", "modifiers": ["ctrl"]}`, aai.ConsentRequired},
			{"ax_drag", `{"app": "Office", "from_query": "Save", "to_query": "Trash"}`, aai.ElementNotFound},
		} {
			w.gateway.Gates = []aai.Gate{askAboutActs{sees: true}}
			_, err := w.do(c.tool, c.args)
			if err == nil || err.Code != c.code {
				t.Errorf("%s %s for who sees: %v, want %s", c.tool, c.args, err, c.code)
			} else if c.code == aai.ElementNotFound && strings.Contains(c.args, "Sava") && !strings.Contains(strings.Join(err.Candidates, " "), `"Save"`) {
				t.Errorf("%s: the candidates are %q", c.args, err.Candidates)
			}
			w.gateway.Gates = []aai.Gate{askAboutActs{}}
			if _, err := w.do(c.tool, c.args); err == nil || err.Code != aai.ConsentRequired || len(err.Candidates) > 0 {
				t.Errorf("%s %s for who does not: %v, %q", c.tool, c.args, err, err.Candidates)
			}
		}
		p.Hang() // a program that hangs does not delay the question
		w.gateway.Gates = []aai.Gate{askAboutActs{sees: true}}
		w.fails(aai.ConsentRequired, "ax_click", `{"app": "Office", "query": "Sava"}`)
		p.Resume()
	})
}

// all lists windows; noWindows and noTree are parts of a missing desktop.
type (
	all       interface{ desktop.Windows }
	noWindows struct{ all }
	noTree    struct{ desktop.Tree }
)

func (noTree) Ready(context.Context) (desktop.Readiness, error) { return desktop.Readiness{}, nil }

func (noWindows) Windows(context.Context) ([]desktop.WindowInfo, error) {
	return nil, aai.Errorf(aai.AutomationNotSupported, "there is no screen: DISPLAY is not set")
}

// TestNobodyIsAskedWithoutAScreen: tools that need the screen report that there is none, without a
// question. Tools that report it themselves run, or are asked about.
func TestNobodyIsAskedWithoutAScreen(t *testing.T) {
	for _, screen := range []bool{false, true} {
		inWorldWithout(t, func(b *desktop.Backend) {
			if !screen {
				b.Windows, b.Tree = noWindows{}, noTree{b.Tree}
			}
		}, func(w *world) {
			w.gateway.Gates = []aai.Gate{askAboutActs{}}
			for _, c := range []struct {
				tool, args string
			}{{"ax_screenshot", `{}`}, {"ax_clipboard", `{"action": "read"}`}, {"ax_list_apps", `{}`}} {
				want, says := aai.AutomationNotSupported, "DISPLAY is not set"
				if screen {
					want, says = aai.ConsentRequired, "must allow"
				}
				e := w.failure(want, c.tool, c.args)
				assert.Check(t, is.Contains(e.Message, says), "%s %v", c.tool, e)
			}
			w.fails(aai.ConsentRequired, "ax_is_accessible", `{}`)
		})
	}
}
