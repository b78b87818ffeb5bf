package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// withSameNames adds a desktop on which two programs have the same name.
func withSameNames(w *world) {
	d := fakedesktop.New()
	d.Program("Browser").Window("First").Button("Save", func() {})
	d.Program("Browser").Window("Second").Button("Save", func() {})
	backend := d.Backend()
	w.catalog.apps = append(w.catalog.apps, gui.New(gui.Config{Open: func() desktop.Backend { return backend }}))
}

// clientAnswering is a client that answers every form with the result of say, and records the forms.
func clientAnswering(asked *[]*mcp.ElicitParams, say func(*mcp.ElicitParams) *mcp.ElicitResult) *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		*asked = append(*asked, r.Params)
		return say(r.Params), nil
	}}
}

// offered returns the choices of a form.
func offered(t *testing.T, p *mcp.ElicitParams) []string {
	t.Helper()
	schema, ok := p.RequestedSchema.(map[string]any)
	assert.Assert(t, ok, "the form is %+v", p)
	var ids []string
	for _, id := range schema["properties"].(map[string]any)["decision"].(map[string]any)["enum"].([]any) {
		ids = append(ids, id.(string))
	}
	return ids
}

// TestThePersonSaysWhichAppIsMeant is scenario 1 of the first design: several apps have the name, and
// the person chooses one.
func TestThePersonSaysWhichAppIsMeant(t *testing.T) {
	look := func(session *mcp.ClientSession) (*mcp.CallToolResult, error) {
		return session.CallTool(t.Context(), callOf("desktop", "ax_get_tree", map[string]any{"app": "Browser"}))
	}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for _, c := range []struct {
			choice int    // of those offered; -1: the person declines
			want   string // part of the text for the model
		}{{0, "PERMISSION_DENIED"}, {1, `"First"`}, {2, `"Second"`}, {-1, "PERMISSION_DENIED"}} {
			var asked []*mcp.ElicitParams
			options := clientAnswering(&asked, func(p *mcp.ElicitParams) *mcp.ElicitResult {
				if c.choice < 0 {
					return &mcp.ElicitResult{Action: "decline"}
				}
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": offered(t, p)[c.choice]}}
			})
			w := newWorld(t, withSameNames)
			result, err := look(w.connect(t, version, options))
			assert.NilError(t, err)
			assert.Assert(t, is.Len(asked, 1), version)
			assert.Assert(t, is.Contains(asked[0].Message, "Which program is meant?"), version)
			assert.Assert(t, is.Len(offered(t, asked[0]), 3), version)
			text := textIn(t, result)
			assert.Assert(t, is.Contains(text, c.want), "%s %d", version, c.choice)
			assert.Equal(t, result.IsError, (c.want == "PERMISSION_DENIED"), "%s %d", version, c.choice)
		}
		w := newWorld(t, withSameNames)
		result, err := look(w.connect(t, version, nil))
		assert.NilError(t, err, "%s %+v", version, result)
		assert.Assert(t, result.IsError, "%s: without anybody to ask the model is told %+v, %v", version, result, err)
		assert.Assert(t, is.Contains(textIn(t, result), "Give the process id as app"), "%s %+v", version, result)
	}
}

// TestThePersonSeesWhatIsAllowed tests scenarios 3, 5 and 6: an irreversible action, a script, a
// missing right. Each results in the question whether the tool may be used, which shows the arguments.
// An irreversible action is not asked about through a client, which may answer by itself: the person
// learns how to permit it.
func TestThePersonSeesWhatIsAllowed(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		var asked []*mcp.ElicitParams
		options := clientAnswering(&asked, func(*mcp.ElicitParams) *mcp.ElicitResult {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "once"}}
		})
		w := newWorld(t, withConsentGate(grantsIn(t)))
		result, err := w.connect(t, version, options).CallTool(t.Context(), callOf(notes, addTool, map[string]any{"text": "delete (every item of trash)"}))
		assert.NilError(t, err, "%s %+v", version, result)
		assert.Assert(t, is.Len(asked, 1), "%s %+v", version, result)
		assert.Assert(t, !result.IsError, "%s: the person was asked %+v, and the model is told %+v, %v", version, asked, result, err)
		assert.Equal(t, len(w.added), 1, "%s %+v", version, result)
		for _, part := range []string{"delete (every item of trash)", "make changes that can be undone", `which calls itself "tester"`} {
			assert.Check(t, is.Contains(asked[0].Message, part), "%s: the question does not say %q: %s", version, part, asked[0].Message)
		}
		ids := offered(t, asked[0])
		assert.Check(t, is.Equal(ids[0], "deny"), "%s: the first choice is %q", version, ids[0])
		result, err = w.connect(t, version, options).CallTool(t.Context(), callOf(notes, unknownOutcomeTool, map[string]any{}))
		assert.NilError(t, err, "%s %+v", version, result)
		assert.Assert(t, is.Len(asked, 1), "%s %+v", version, result)
		assert.Assert(t, is.Contains(textIn(t, result), "aai-gateway consent grant "+notes+" "+unknownOutcomeTool), "%s %+v", version, result)
	}
}

// eras are the last version with sessions, and the stateless one.
func eras() []string { return []string{"2025-11-25", "2026-07-28"} }

// withHelp lets the person help, with a desktop on which an editor has the buttons Send and Delete.
func withHelp(pressed *[]string) change {
	return func(w *world) {
		d := fakedesktop.New()
		window := d.Program("Editor").Window("Untitled")
		for _, name := range []string{"Send", "Delete"} {
			window.Button(name, func() { *pressed = append(*pressed, name) })
		}
		backend := d.Backend()
		w.catalog.apps = append(w.catalog.apps, newDesktop(func() desktop.Backend { return backend }))
		w.options = func(c *door.Config) { c.AskForHelp, c.HelpTimeout = true, 5*time.Second }
	}
}

func desktopCall(tool string, args map[string]any) *mcp.CallToolParams {
	return callOf(aai.DesktopApp, tool, args)
}

// callOf returns a call of a tool by aai_exec, for the SDK's client.
func callOf(app, tool string, args map[string]any) *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{"app": app, "tool": tool, "args": args}}
}

// say returns a client that answers forms so.
func say(asked *[]*mcp.ElicitParams, action string, content map[string]any) *mcp.ClientOptions {
	return clientAnswering(asked, func(*mcp.ElicitParams) *mcp.ElicitResult {
		return &mcp.ElicitResult{Action: action, Content: content}
	})
}

// TestThePersonDescribesAnew is scenario 2 of the first design: an element was not found, and the person describes it in
// other words. Declined, closed and useless answers keep the error with its hints, and nothing is asked twice.
func TestThePersonDescribesAnew(t *testing.T) {
	for _, version := range eras() {
		for name, c := range map[string]struct {
			action, words, want string
			pressed             int
		}{
			"accepts":        {"accept", "Send", `described it as "Send"`, 1},
			"is wrong again": {"accept", "Nonsense", "ELEMENT_NOT_FOUND", 0},
			"says nothing":   {"accept", " ", "ax_get_tree shows", 0},
			"declines":       {"decline", "", "ax_get_tree shows what is there. The person does not want", 0},
			"closes":         {"cancel", "", "Ask them before you go on", 0},
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				var pressed []string
				var asked []*mcp.ElicitParams
				w := newWorld(t, withHelp(&pressed))
				content := map[string]any{"description": c.words, "use_visual": false}
				if c.action != "accept" {
					content = nil
				}
				result, err := w.connect(t, version, say(&asked, c.action, content)).CallTool(t.Context(), desktopCall("ax_click", map[string]any{"app": "Editor", "query": "Absenden"}))
				assert.NilError(t, err)
				assert.Assert(t, is.Len(asked, 1))
				assert.Equal(t, asked[0].Message, "Could not find 'Absenden' in Editor. Can you describe it differently?")
				text := textIn(t, result)
				assert.Check(t, is.Contains(text, c.want), "the model reads %q, want %q", text, c.want)
				assert.Check(t, is.Len(pressed, c.pressed))
			})
		}
	}
}

// TestADescriptionPermitsNothing: the call with the person's words passes the gates anew, with its new target, and a
// refusal holds. In rounds the description outlives the question about it.
func TestADescriptionPermitsNothing(t *testing.T) {
	for _, version := range eras() {
		for _, allows := range []bool{true, false} {
			t.Run(fmt.Sprint(version, " ", allows), func(t *testing.T) {
				var pressed, judged []string
				gate := func(r *aai.Request) ([]aai.Question, error) {
					query, _ := r.Call.Args["query"].(string)
					judged = append(judged, query)
					answer, answered := r.Call.Answers["consent"]
					switch {
					case query != "Delete":
						return nil, nil
					case !answered:
						return []aai.Question{{ID: "consent", Title: "Delete?", Channels: []aai.Channel{aai.Client}, Choices: []aai.Choice{{ID: "deny"}, {ID: "once"}}, Seal: "s"}}, nil
					case answer.Choice != "once":
						return nil, aai.Errorf(aai.PermissionDenied, "denied")
					}
					return nil, nil
				}
				w := newWorld(t, withHelp(&pressed), withGate(gate))
				questions := 0
				options := &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					if strings.HasPrefix(r.Params.Message, "Could not find") {
						return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"description": "Delete"}}, nil
					}
					questions++
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": map[bool]string{true: "once", false: "deny"}[allows]}}, nil
				}}
				result, err := w.connect(t, version, options).CallTool(t.Context(), desktopCall("ax_click", map[string]any{"app": "Editor", "query": "Absenden"}))
				assert.NilError(t, err)
				assert.Check(t, is.Equal(questions, 1))
				assert.Check(t, is.Contains(judged, "Delete"))
				if result.IsError == allows || (len(pressed) == 1) != allows {
					t.Errorf("pressed %q: %s", pressed, textIn(t, result))
				}
			})
		}
	}
}

// TestNoHelpIsAsked: agents that are alone get the error with its hints at once: without the setting, without forms, for
// other faults of a call, and for tools that wait or check.
func TestNoHelpIsAsked(t *testing.T) {
	off := with(func(c *door.Config) { c.AskForHelp = false })
	click := desktopCall("ax_click", map[string]any{"app": "Editor", "query": "Absenden"})
	for name, c := range map[string]struct {
		change   change
		forms    bool
		call     *mcp.CallToolParams
		want     string
		expected int
	}{
		"asked":          {func(*world) {}, true, click, "ELEMENT_NOT_FOUND", 1},
		"setting":        {off, true, click, "ELEMENT_NOT_FOUND", 0},
		"no forms":       {func(*world) {}, false, click, "ELEMENT_NOT_FOUND", 0},
		"old ref":        {func(*world) {}, true, desktopCall("ax_click", map[string]any{"app": "Editor", "query": "e99"}), "ELEMENT_NOT_FOUND", 0},
		"nth":            {func(*world) {}, true, desktopCall("ax_click", map[string]any{"app": "Editor", "query": "Send", "nth": 3}), "ELEMENT_NOT_FOUND", 0},
		"no app":         {func(*world) {}, true, desktopCall("ax_click", map[string]any{"app": "Nothing", "query": "Send"}), "APP_NOT_FOUND", 0},
		"wait":           {func(*world) {}, true, desktopCall("ax_wait", map[string]any{"app": "Editor", "query": "Absenden", "timeout_ms": 100}), "TIMEOUT", 0},
		"assert":         {func(*world) {}, true, desktopCall("ax_assert", map[string]any{"app": "Editor", "query": "Absenden", "property": "exists", "expected": "true", "timeout_ms": 0}), "", 0},
		"field of a set": {func(*world) {}, true, desktopCall("ax_fill", map[string]any{"app": "Editor", "fields": []any{map[string]any{"query": "Absenden", "value": "x"}}}), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var pressed []string
			var asked []*mcp.ElicitParams
			w := newWorld(t, withHelp(&pressed), c.change)
			var options *mcp.ClientOptions
			if c.forms {
				options = say(&asked, "decline", nil)
			}
			result, err := w.connect(t, "2025-11-25", options).CallTool(t.Context(), c.call)
			assert.NilError(t, err)
			text := textIn(t, result)
			assert.Check(t, is.Contains(text, c.want), "the model reads %q, want %q", text, c.want)
			assert.Check(t, is.Len(asked, c.expected), "asked %d times", len(asked))
		})
	}
}

// TestNobodyDescribes: a client that never answers gets the error with its hints after the time for an answer.
func TestNobodyDescribes(t *testing.T) {
	var pressed []string
	w := newWorld(t, withHelp(&pressed), with(func(c *door.Config) { c.HelpTimeout = 200 * time.Millisecond }))
	options := &mcp.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	begun := time.Now()
	result, err := w.connect(t, "2025-11-25", options).CallTool(t.Context(), desktopCall("ax_click", map[string]any{"app": "Editor", "query": "Absenden"}))
	assert.NilError(t, err)
	text := textIn(t, result)
	assert.Assert(t, is.Contains(text, "ax_get_tree shows"), time.Since(begun))
	assert.Assert(t, is.Contains(text, "gave no answer"), time.Since(begun))
	assert.Assert(t, time.Since(begun) <= patience, "after %v the model reads %q", time.Since(begun), text)
}

// TestTheDescriptionIsLookedForInThePicture: without a match in the tree the person's words are looked for in the picture,
// and the tool gets the ref of that place.
func TestTheDescriptionIsLookedForInThePicture(t *testing.T) {
	for _, version := range eras() {
		for visual, want := range map[bool]string{true: "clicked w3", false: "ELEMENT_NOT_FOUND"} {
			click := func(_ context.Context, call *aai.Call) (*aai.Result, error) {
				query, _ := call.Args["query"].(string)
				if query == "w3" {
					return &aai.Result{Text: "clicked w3"}, nil
				}
				e := aai.Errorf(aai.ElementNotFound, "nothing matches")
				e.Query = query
				return nil, e
			}
			find := func(_ context.Context, call *aai.Call) (*aai.Result, error) {
				return &aai.Result{Data: map[string]any{"found": call.Args["description"] == "the red disc", "element_ref": "w3"}}, nil
			}
			w := newWorld(t, adding(&aai.App{ID: aai.DesktopApp, Name: "Desktop", Tools: []*aai.Tool{tool("ax_click", aai.Changes, click), tool("ax_find_visual", aai.Reads, find)}}),
				with(func(c *door.Config) { c.AskForHelp = true }))
			var asked []*mcp.ElicitParams
			result, err := w.connect(t, version, say(&asked, "accept", map[string]any{"description": "the red disc", "use_visual": visual})).CallTool(t.Context(), callOf(aai.DesktopApp, "ax_click", map[string]any{"app": "game", "query": "Go"}))
			assert.NilError(t, err)
			text := textIn(t, result)
			assert.Assert(t, is.Contains(text, want), "%s %v", version, visual)
			assert.Assert(t, is.Len(asked, 1), "%s %v", version, visual)
		}
	}
}

// TestThePersonMakesWindowsReadable is scenario 4: the person sees the missing part, and chooses the next step.
func TestThePersonMakesWindowsReadable(t *testing.T) {
	for _, version := range eras() {
		for name, c := range map[string]struct {
			action, choice string
			mends          bool
			want           string
		}{
			"mends it":        {"accept", "check_again", true, "All is there"},
			"only says so":    {"accept", "check_again", false, "windows still cannot be read"},
			"wants the words": {"accept", "show_instructions", false, "explain the suggestion"},
			"cancels":         {"accept", "cancel", false, "do not ask again"},
			"declines":        {"decline", "", false, "do not ask again"},
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				d := fakedesktop.New()
				d.SetReady(desktop.Readiness{Detail: "No bus", Hint: "Install at-spi2-core"})
				backend := d.Backend()
				w := newWorld(t, adding(newDesktop(func() desktop.Backend { return backend })), with(func(c *door.Config) { c.AskForHelp = true }))
				var asked []*mcp.ElicitParams
				options := clientAnswering(&asked, func(*mcp.ElicitParams) *mcp.ElicitResult {
					if c.mends {
						d.SetReady(desktop.Readiness{Ready: true, Detail: "All is there"})
					}
					if c.action != "accept" {
						return &mcp.ElicitResult{Action: c.action}
					}
					return &mcp.ElicitResult{Action: c.action, Content: map[string]any{"action": c.choice}}
				})
				result, err := w.connect(t, version, options).CallTool(t.Context(), desktopCall("ax_is_accessible", nil))
				assert.NilError(t, err)
				assert.Assert(t, is.Len(asked, 1))
				assert.Assert(t, is.Contains(asked[0].Message, "Install at-spi2-core"))
				text := textIn(t, result)
				assert.Check(t, is.Contains(text, c.want), "the model reads %q, want %q", text, c.want)
			})
		}
	}
}
