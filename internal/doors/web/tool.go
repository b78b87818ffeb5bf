package web

import (
	"bytes"
	"encoding/json"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// toolPage shows a tool with a form to try it.
func toolPage() page {
	return page{name: "tool", path: "/tool", show: showTool, acts: map[string]act{"try": tryTool, "undo": undoTool}}
}

// toolPageData is the data of a tool's page.
type toolPageData struct {
	App, Name string
	Tool      operation
	Form      *ToolForm
	Schema    string       // of the parameters
	At        template.URL // the parameters of the page's address, encoded again
}

// Subject returns the tool's name for the page's title.
func (s toolPageData) Subject() string { return s.Tool.Name }

// toolTrial is the outcome of trying a tool.
type toolTrial struct {
	Form    *ToolForm
	Ran     bool          // the call was made
	Took    time.Duration // without the wait for the person
	Person  time.Duration // the waiting time for the person
	Call    string        // the call's id
	Fault   *aai.Error
	Text    string
	Data    string // as JSON
	Cut     bool   // not all of it is shown
	Warning string
	Foreign string
	Idle    bool
	Undo    string // a description of its undo; "" if there is none
	Undone  bool   // this is the outcome of an undo
	// Pictures are the addresses of images; Unshown counts images of unsupported types.
	Pictures []string
	Unshown  int
}

func showTool(v *pageRequest) (any, error) {
	g, err := v.toolOf()
	if err != nil {
		return nil, err
	}
	shown := toolPageData{App: g.App.ID, Name: nameIn(v.lang, strings.Join(g.App.Names, "|"), g.App.ID), Tool: g.Operations[0], At: template.URL(v.query.Encode())} //nolint:gosec // Encode escapes all
	shown.Form = NewToolForm(shown.Tool.Parameters)
	if len(shown.Form.Fields) > 0 || shown.Form.Omitted > 0 || !empty(shown.Tool.Parameters) {
		shown.Schema, _ = pretty(shown.Tool.Parameters)
	}
	return shown, nil
}

// empty reports whether a schema has no parameters.
func empty(schema json.RawMessage) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Open       any                        `json:"additionalProperties"`
	}
	return len(schema) == 0 || json.Unmarshal(schema, &s) == nil && len(s.Properties) == 0 && s.Open == false
}

// toolOf returns the guide to the tool in the address.
func (v *pageRequest) toolOf() (guide, error) {
	var g guide
	name := v.query.Get("tool")
	if name == "" {
		return g, aai.Errorf(aai.ToolNotFound, "tool: the address names none")
	}
	if err := v.read("guide", map[string]any{"app": v.query.Get("app"), "tool": name}, &g); err != nil {
		return g, err
	}
	if len(g.Operations) != 1 {
		return g, aai.Errorf(aai.ToolNotFound, "%s has no tool %q", g.App.ID, aai.CleanLabel(name, 60))
	}
	return g, nil
}

// tryTool makes the call of the form. The gateway asks its questions in a window; the page
// waits for that.
func tryTool(v *pageRequest) (any, error) {
	g, err := v.toolOf()
	if err != nil {
		return nil, err
	}
	done := &toolTrial{Form: NewToolForm(g.Operations[0].Parameters)}
	args, ok := done.Form.Read(v.form)
	if !ok {
		return done, nil
	}
	begun := v.door.now()
	result, err := v.callApp(g.App.ID, g.Operations[0].Name, args)
	done.setDuration(v, v.door.now().Sub(begun))
	done.setResult(v, result, err)
	if done.Fault != nil && done.Fault.Code == aai.InvalidParams {
		done.Form.AssignFaults(done.Fault.Message)
	}
	return done, nil
}

// undoTool undoes a call that this session made, and shows the outcome on the tool's page.
func undoTool(v *pageRequest) (any, error) {
	begun := v.door.now()
	call := v.form.Get("call")
	result, err := v.call("undo", map[string]any{"call": call})
	done := &toolTrial{Undone: true}
	done.setDuration(v, v.door.now().Sub(begun))
	done.setResult(v, result, err)
	done.Data = "" // the text is enough
	if err == nil {
		v.session.forgetUndo(call)
	}
	return done, nil
}

// setDuration sets the duration of the last call, and its waiting time for the person.
func (t *toolTrial) setDuration(v *pageRequest, took time.Duration) {
	t.Ran, t.Call, t.Person = true, v.lastCall, v.terminalWait
	var on storyPageData
	if v.read("story", map[string]any{"call": t.Call}, &on) == nil { // an unrecorded call has asked no questions
		t.Person += on.Person()
	}
	t.Took, t.Person = max(0, took-t.Person), t.Person.Round(time.Millisecond)
}

// Unanswered reports whether the person was asked and did not answer.
func (t *toolTrial) Unanswered() bool {
	return t.Person > 0 && t.Fault != nil && t.Fault.Code == aai.ConsentRequired
}

// setResult sets the outcome of a call.
func (t *toolTrial) setResult(v *pageRequest, result *aai.Result, err error) {
	if err != nil {
		t.Fault = aai.AsError(err)
		t.Data, t.Cut = pretty(t.Fault.Data)
		return
	}
	t.Text, t.Warning, t.Foreign, t.Idle = result.Text, result.Warning, result.UntrustedSource, result.NoOp
	t.Cut = len(t.Text) > maxForeignText
	if t.Text == "" || !result.DataComplete && result.Data != nil {
		var cut bool
		t.Data, cut = pretty(result.Data)
		t.Cut = t.Cut || cut
	}
	if result.Undo != nil {
		t.Undo = result.Undo.Description
		v.session.rememberUndo(t.Call, t.Undo)
	}
	for _, image := range result.Images {
		if at := v.door.images.add(v.session.id, image); at != "" {
			t.Pictures = append(t.Pictures, at)
		} else {
			t.Unshown++
		}
	}
}

// pretty formats data as JSON for people, with invisible characters escaped, and reports
// whether it was cut.
func pretty(data any) (text string, cut bool) {
	if raw, is := data.(json.RawMessage); data == nil || is && len(raw) == 0 {
		return "", false
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return "", true
	}
	if cut = len(raw) > maxForeignText; cut {
		raw = slices.Clip(raw[:maxForeignText])
		return sanitize.EscapeInvisible(strings.ToValidUTF8(string(raw), "")), true
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw), false
	}
	return sanitize.EscapeInvisible(b.String()), b.Len() > maxForeignText
}
