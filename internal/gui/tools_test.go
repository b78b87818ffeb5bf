package gui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// toolCall is a call that works on the form.
type toolCall struct{ tool, args string }

// everyCall returns calls of each tool in each of its modes, in the background if there is a
// choice. TestEveryToolIsCalled checks that none is missing.
func everyCall() []toolCall {
	return []toolCall{
		{"ax_is_accessible", `{}`},
		{"ax_list_apps", `{}`},
		{"ax_connect", `{"app": "Form", "alias": "f"}`},
		{"ax_list_windows", `{"app": "Form"}`},
		{"ax_get_tree", `{"app": "Form"}`},
		{"ax_get_tree", `{"app": "Form", "format": "json", "include_invisible": true, "budget_tokens": 20000}`},
		{"ax_get_tree", `{"app": "Form", "compact": true, "max_depth": 2}`},
		{"ax_get_tree", `{"app": "Form", "root": "Fruits"}`},
		{"ax_find", `{"app": "Form", "query": "Password"}`},
		{"ax_find", `{"app": "Form", "query": "role:textbox"}`},
		{"ax_find", `{"app": "Form", "query": "nothing of it"}`},
		{"ax_get_attributes", `{"app": "Form", "query": "Password"}`},
		{"ax_get_value", `{"app": "Form", "query": "Password"}`},
		{"ax_get_tree", `{"app": "Form", "window_index": 0}`},
		{"ax_get_state", `{"app": "Form"}`},
		{"ax_get_events", `{"app": "Form", "limit": 5}`},
		{"ax_record", `{"app": "Form"}`},
		{"ax_relocate", `{"app": "Form", "query": "role:button name:OK", "target": {"role": "button", "name": "OK"}}`},
		{"ax_assert", `{"app": "Form", "query": "Password", "assertions": {"contains_text": "s3"}}`},
		{"ax_assert", `{"app": "Form", "query": "Password", "assertions": {"title": "x", "enabled": false}}`},
		{"ax_wait", `{"app": "Form", "query": "Press"}`},
		{"ax_wait", `{"app": "Form", "query": "Password", "until": "value", "value": "s3", "timeout_ms": 500}`},
		{"ax_wait", `{"app": "Form", "query": "nothing of it", "timeout_ms": 500}`},
		{"ax_wait_idle", `{"app": "Form"}`},
		{"ax_screenshot", `{}`},
		{"ax_screenshot", `{"app": "Form"}`},
		{"ax_screenshot", `{"app": "Form", "query": "Password"}`},
		{"ax_screenshot", `{"app": "Form", "marks": true}`},
		{"ax_screenshot", `{"app": "Form", "text": true}`},
		{"ax_find_visual", `{"app": "Form", "description": "Press"}`},
		{"ax_ask_model", `{"app": "Form"}`},
		{"ax_visual_diff", `{"app": "Form", "baseline": "form", "update": true}`},
		{"ax_visual_diff", `{"app": "Form", "baseline": "form", "ignore": ["Password"]}`},
		{"ax_a11y_audit", `{"app": "Form"}`},
		{"ax_a11y_audit", `{"app": "Form", "scope": "element", "query": "Password", "standards": ["wcag_aaa"]}`},
		{"ax_a11y_keyboard", `{"app": "Form"}`},
		{"ax_click", `{"app": "Form", "query": "Password"}`},
		{"ax_click", `{"app": "Form", "query": "Press"}`},
		{"ax_click", `{"app": "Form", "query": "Press", "click_type": "double"}`},
		{"ax_click", `{"app": "Form", "query": "Fruit 1", "click_type": "right"}`},
		{"ax_click", `{"app": "Form", "query": "Canvas"}`},
		{"ax_click", `{"app": "Form", "query": "Press", "click_type": "hover"}`},
		{"ax_click", `{"app": "Form", "query": "Fruit 1", "select": "add"}`},
		{"ax_click", `{"app": "Form", "query": "Fruit 3", "select": "range"}`},
		{"ax_click_at", `{"app": "Form", "x": 40, "y": 60}`},
		{"ax_click_at", `{"app": "Form", "x": 40, "y": 60, "in_picture": true}`},
		{"ax_scroll", `{"app": "Form", "x": 40, "y": 60}`},
		{"ax_type", `{"app": "Form", "query": "Full name", "text": "Ann", "clear_first": true}`},
		{"ax_type", `{"app": "Form", "query": "Press", "text": "Ann"}`},
		{"ax_set_value", `{"app": "Form", "query": "Volume", "value": "12"}`},
		{"ax_set_value", `{"app": "Form", "query": "Colour", "value": "Green"}`},
		{"ax_set_value", `{"app": "Form", "query": "Agree", "value": "true"}`},
		{"ax_fill", `{"app": "Form", "submit": "Press", "fields": [{"query": "Full name", "value": "Cy"}, {"query": "Volume", "value": "13"}, {"query": "Agree", "value": "false"}, {"query": "Colour", "value": "Red"}]}`},
		{"ax_fill", `{"app": "Form", "submit": "return", "fields": [{"query": "Nobody", "value": "Cy"}, {"query": "Password", "value": "Cy"}]}`},
		{"ax_key_press", `{"app": "Form", "key": "f5"}`},
		{"ax_scroll", `{"app": "Form", "query": "Fruits"}`},
		{"ax_scroll", `{"app": "Form"}`},
		{"ax_scroll", `{"app": "Form", "query": "Fruit 20", "to_view": true}`},
		{"ax_drag", `{"app": "Form", "from_query": "Canvas", "to_query": "Press"}`},
		{"ax_drag", `{"app": "Form", "from_x": 40, "from_y": 60, "to_x": 50, "to_y": 70}`},
		{"ax_window", `{"app": "Form", "action": "minimize"}`},
		{"ax_clipboard", `{"action": "read"}`},
		{"ax_clipboard", `{"action": "write", "text": "Ann"}`},
		{"ax_lease", `{"app": "Form"}`},
		{"ax_session_info", `{}`},
	}
}

func tools() []*aai.Tool {
	return gui.New(gui.Config{Open: func() desktop.Backend { return desktop.Backend{} }}).Tools
}

func TestEveryToolIsCalled(t *testing.T) {
	for _, tool := range tools() {
		assert.Check(t, slices.ContainsFunc(everyCall(), func(c toolCall) bool { return c.tool == tool.Name }), "%s is missing in everyCall", tool.Name)
	}
}

// TestWhoStartsSaysSo: a tool with parameters to start a program has MayStartProgram, so that it is
// not announced as read-only.
func TestWhoStartsSaysSo(t *testing.T) {
	for _, tool := range tools() {
		assert.Check(t, is.Equal(tool.Assessment(nil).MayStartProgram, slices.Contains(tool.Params.Order, "launch")), tool.Name)
	}
}

// TestToolsSayWhatGatesAsk: tools declare screenshots, element parameters and use of the person's
// pointer, since gates know no tool by name.
func TestToolsSayWhatGatesAsk(t *testing.T) {
	for _, tool := range tools() {
		assert.Check(t, is.Equal(tool.Assessment(nil).TakesScreenshot, slices.Contains([]string{"ax_screenshot", "ax_find_visual", "ax_ask_model", "ax_visual_diff", "ax_a11y_audit", "ax_a11y_keyboard"}, tool.Name)), tool.Name)
		for _, name := range tool.Params.Order {
			about := name == "query" || name == "to_query"
			assert.Check(t, is.Equal(slices.Contains(tool.Assessment(nil).ElementParams, name), about), "%s: that %s is about an element is %v", tool.Name, name, !about)
		}
		assert.Check(t, tool.Assessment(nil).ElementParams != nil, "%s does not say which parameters are about an element", tool.Name)
		for mode, seizes := range map[any]bool{"focus": true, "background": false, nil: false} {
			assert.Check(t, tool.Assessment(&aai.Call{Args: map[string]any{"mode": mode}}).KeepsFocus != seizes, "%s, with mode %v: seizes is %v", tool.Name, mode, !seizes)
		}
	}
}

// TestReadsChangeNothing: a tool with the effect Reads changes nothing on the desktop, whatever
// else the person allowed.
func TestReadsChangeNothing(t *testing.T) {
	effects := make(map[string]aai.Effect)
	for _, tool := range tools() {
		effects[tool.Name] = tool.Effect
	}
	inWorld(t, func(w *world) {
		form(w)
		acted := 0
		for _, call := range everyCall() {
			since := w.mutations()
			_, _ = w.do(call.tool, call.args)
			acted += len(since())
			if effects[call.tool] == aai.Reads {
				w.nothingDone(since)
			}
		}
		assert.Check(w, acted >= 10, "all calls together asked for %d things: the test sees nothing", acted)
	})
}

// TestTheBackgroundIsNotNoticed: without the mode "focus", no tool takes the person's pointer or
// focus, even if there is no other way.
func TestTheBackgroundIsNotNoticed(t *testing.T) {
	for name, lack := range map[string]func(*desktop.Backend){
		"all":      func(*desktop.Backend) {},
		"no actor": func(b *desktop.Backend) { b.Actor = nil },
		"no text":  func(b *desktop.Backend) { b.Actor = noText{b.Actor} },
	} {
		t.Run(name, func(t *testing.T) {
			inWorldWithout(t, lack, func(w *world) {
				form(w).RaiseOnFocus()
				person := w.d.Program("Person")
				person.Window("Mail").Textbox("To").Focus()
				before := w.d.Person()
				for _, call := range everyCall() {
					since := w.mutations()
					_, _ = w.do(call.tool, call.args)
					for _, deed := range since() {
						assert.Assert(w, !strings.Contains(deed, "person"), "%s %s %s", call.tool, call.args, deed)
						assert.Assert(w, !strings.HasPrefix(deed, "Activate"), "%s %s %s", call.tool, call.args, deed)
					}
				}
				after := w.d.Person()
				assert.Check(w, is.Equal(after, before), "the person noticed %+v, which was %+v", after, before)
			})
		})
	}
}

// TestWhatIsMissing: without a feature of the platform, each tool ends by its deadline with a
// result or an error about that, and none panics.
func TestWhatIsMissing(t *testing.T) {
	for name, lack := range map[string]func(*desktop.Backend){
		"everything": func(b *desktop.Backend) { *b = desktop.Backend{} },
		"tree":       func(b *desktop.Backend) { b.Tree = nil },
		"actor":      func(b *desktop.Backend) { b.Actor = nil },
		"events":     func(b *desktop.Backend) { b.Events = nil },
		"windows":    func(b *desktop.Backend) { b.Windows = nil },
		"input":      func(b *desktop.Backend) { b.Input = nil },
		"screen":     func(b *desktop.Backend) { b.Screen = nil },
		"clipboard":  func(b *desktop.Backend) { b.Clipboard = nil },
		"programs":   func(b *desktop.Backend) { b.Programs = nil },
	} {
		t.Run(name, func(t *testing.T) {
			inWorldWithout(t, lack, func(w *world) {
				form(w)
				unsupported := 0
				calls := append(everyCall(), toolCall{"ax_connect", `{"app": "x", "launch": true}`})
				for _, call := range calls {
					for _, mode := range []string{"", `"mode": "focus", `} {
						args := strings.Replace(call.args, "{", "{"+mode, 1)
						if mode != "" && (call.args == "{}" || !strings.Contains(string(toolNamed(call.tool).Params.Source), `"mode"`)) {
							continue
						}
						_, err := w.do(call.tool, args)
						if err != nil && err.Code == aai.AutomationNotSupported {
							unsupported++
							delivery := aai.NotDelivered
							if toolNamed(call.tool).Effect == aai.Reads && !strings.Contains(args, "launch") {
								delivery = "" // nothing could be delivered
							}
							assert.Check(w, err.Hint != "", "%s %s: hint %q, delivery %q", call.tool, args, err.Hint, err.Delivery)
							assert.Check(w, is.Equal(err.Delivery, delivery), "%s %s %q", call.tool, args, err.Hint)
						}
					}
				}
				assert.Check(w, unsupported != 0, "no tool says that something is not supported")
			})
		})
	}
}

func toolNamed(name string) *aai.Tool {
	all := tools()
	return all[slices.IndexFunc(all, func(t *aai.Tool) bool { return t.Name == name })]
}

// TestTools: the texts that agents read first must be right and short.
func TestTools(t *testing.T) {
	total := 0
	seen := make(map[string]bool)
	for _, tool := range tools() {
		assert.Assert(t, !seen[tool.Name], "%+v: a name that is its own and begins with ax_, a title, a description and an action are expected", tool)
		assert.Assert(t, strings.HasPrefix(tool.Name, "ax_"), "%+v: a name that is its own and begins with ax_, a title, a description and an action are expected", tool)
		assert.Assert(t, tool.Title != "", "%+v: a name that is its own and begins with ax_, a title, a description and an action are expected", tool)
		assert.Assert(t, tool.Description != "", "%+v: a name that is its own and begins with ax_, a title, a description and an action are expected", tool)
		assert.Assert(t, tool.Run != nil, "%+v: a name that is its own and begins with ax_, a title, a description and an action are expected", tool)
		seen[tool.Name] = true
		assert.Check(t, slices.Contains(tool.Params.Order, "app") || tool.Effect == aai.Reads || tool.Name == "ax_clipboard", "%s names no app, but is not known to only read", tool.Name)
		for _, secret := range tool.Privacy.Secret {
			of, _, _ := strings.Cut(secret, ".")
			assert.Check(t, is.Contains(tool.Params.Order, of), "%s keeps %s secret, which it does not have", tool.Name, secret)
		}
		listed, err := json.Marshal(map[string]any{
			"name": tool.Name, "title": tool.Title, "description": tool.Description, "inputSchema": tool.Params.Source,
		})
		assert.NilError(t, err, tool.Name)
		if !tool.Limits.Unlisted {
			total += tokencount.Count(t, string(listed))
		}
	}
	t.Logf("%d tools have %d tokens", len(seen), total)
	assert.Check(t, total <= 3700, "the tools have %d tokens, want at most 3,700", total)
}

// TestOpenIsLate: making the tools touches nothing, and the first call that needs the desktop
// connects once.
func TestOpenIsLate(t *testing.T) {
	opened := 0
	app := gui.New(gui.Config{Open: func() desktop.Backend { opened++; return desktop.Backend{} }})
	assert.Check(t, is.Equal(opened, 0), "the desktop was opened at the start")
	for range 2 {
		_, err := app.Tool("ax_clipboard").Run(t.Context(), &aai.Call{Args: map[string]any{"action": "read"}})
		assert.Check(t, err != nil, "there is a clipboard")
	}
	assert.Check(t, is.Equal(opened, 1), "the desktop was opened %d times", opened)
}

// brokenKeys is input that delivers keys, and fails on text with the error broken, if set.
type brokenKeys struct {
	desktop.Input
	broken *func(context.Context) error
}

func (b brokenKeys) Type(ctx context.Context, seat desktop.Seat, w desktop.WindowID, text string) error {
	if *b.broken != nil {
		return (*b.broken)(ctx)
	}
	return b.Input.Type(ctx, seat, w, text)
}

// WithKeyboard implements desktop.Keyboard: keys within it fail alike.
func (b brokenKeys) WithKeyboard(ctx context.Context, seat desktop.Seat, w desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	return b.Input.WithKeyboard(ctx, seat, w, func(ctx context.Context, input desktop.Input) error { return while(ctx, brokenKeys{input, b.broken}) })
}

// TestOverwriteFails: if overwriting fails, the old content is no longer selected after the call,
// whatever the reason.
func TestOverwriteFails(t *testing.T) {
	var broken func(context.Context) error
	inWorldWithout(t, func(b *desktop.Backend) { b.Actor, b.Input = noText{b.Actor}, brokenKeys{b.Input, &broken} }, func(w *world) {
		f := form(w)
		refuses := func(context.Context) error { return fails(aai.AutomationFailed, aai.NotDelivered) }
		unknown := func(context.Context) error { return fails(aai.AutomationFailed, aai.DeliveryUnknown) }
		cancelled := func(ctx context.Context) error { <-ctx.Done(); return refuses(ctx) }
		want := ""
		for n, c := range []struct {
			tool, args string
			broken     func(context.Context) error
			held       bool // it is known that nothing was typed
		}{
			{"ax_type", `"query": "Full name", "text": "x", "clear_first": true`, refuses, true},
			{"ax_set_value", `"query": "Full name", "value": "x"`, refuses, true},
			{"ax_fill", `"fields": [{"query": "Full name", "value": "x"}]`, refuses, true},
			{"ax_set_value", `"query": "Full name", "value": "x"`, unknown, false},
			{"ax_type", `"query": "Full name", "text": "x", "clear_first": true`, cancelled, true},
			{"ax_set_value", `"query": "Full name", "value": "x"`, cancelled, true},
		} {
			broken = nil
			w.ok("ax_type", fmt.Sprintf(`{"app": "Form", "query": "Full name", "text": "%d"}`, n))
			want += fmt.Sprint(n)
			got := f.State()["name"]
			assert.Check(w, is.Equal(got, want), "before %s it holds %q, want %q", c.tool, got, want)
			broken = c.broken
			ctx, cancel := context.WithCancel(w.Context())
			time.AfterFunc(time.Second, cancel)
			_, e := w.doBy(ctx, c.tool, `{"app": "Form", `+c.args+`}`)
			assert.Assert(w, e != nil, "%s %+v", c.tool, e)
			assert.Equal(w, (e.Delivery == aai.NotDelivered), c.held, "%s %+v", c.tool, e)
			if c.held {
				w.has(e.Message, "nothing was typed, and textbox \"Full name\"", "has its former value")
			}
		}
	})
}

func fails(code aai.Code, delivery aai.Delivery) error {
	e := aai.Errorf(code, "the keys did not go")
	e.Delivery = delivery
	return e
}

// TestCheckText: a text that no field accepts is rejected before any action and any question.
func TestCheckText(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		since := w.mutations()
		for _, c := range [][3]string{
			{"ax_type", `"query": "Full name", "text": "a\u0000b", "clear_first": true`, "text: expected no control characters but line breaks and tabs, got U+0000 as character 2"},
			{"ax_type", `"query": "Nowhere", "text": "\u001b[A"`, "text: expected no control characters but line breaks and tabs, got U+001B as character 1"},
			{"ax_set_value", `"query": "Notes", "value": "é\n\u007f"`, "value: expected no control characters but line breaks and tabs, got U+007F as character 3"},
			{"ax_set_value", `"query": "Volume", "value": "5\u0000"`, "value: expected no"},
			{"ax_fill", `"fields": [{"query": "Notes", "value": "a"}, {"query": "Full name", "value": "\u0001"}]`, "fields[1].value: expected no control characters but line breaks and tabs, got U+0001 as character 1"},
		} {
			e := w.failure(aai.InvalidParams, c[0], `{"app": "Form", `+c[1]+`}`)
			w.has(e.Message, c[2])
			if e.Delivery != aai.NotDelivered {
				w.Errorf("%s: %s", c[2], e.Delivery)
			}
		}
		w.nothingDone(since)
		w.ok("ax_type", `{"app": "Form", "query": "Notes", "text": "a\tb\r\nc\ufffd"}`)
	})
}
