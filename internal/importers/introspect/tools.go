package introspect

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/importers"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Names of the generator's tools in the builtin app; see [Generator.Tools].
const (
	GenerateTool = "generate"
	SaveTool     = "generate_save"
	ProbeTool    = "generate_probe"
	CheckTool    = "generate_check"
)

const (
	appParam = `"app": {"type": "string", "minLength": 1, "maxLength": 255, "description": "A bus name, a desktop id, or a desktop entry's file name"},
		"bus": {"type": "string", "enum": ["session", "system"], "description": "Where it is; without it, where it is found first"},
		"tools": {"type": "integer", "minimum": 1, "maximum": 200, "description": "At most so many tools"},
		"full": {"type": "boolean", "description": "Show the whole difference, however long"}`

	startParam = `,
		"start": {"type": "boolean", "description": "Let the bus start the program if it does not run"}`
	betterWords = `,
		"words": {"type": ["object", "string"], "minLength": 1, "maxLength": 300, "description": "Better words, and nothing else: {app: {description}, tools: [{name, title, description, parameters: {properties: {NAME: {description}}}}]}; at a terminal the absolute path of a file"}`
	improveParam = `,
		"improve": {"type": "boolean", "description": "Have the caller's own model write the words, by sampling"}`

	showParams = `{"type": "object", "additionalProperties": false, "required": ["app"], "properties": {` + appParam + startParam + betterWords + improveParam + `}}`

	saveParams = `{"type": "object", "additionalProperties": false, "required": ["app", "seen"], "properties": {` + appParam + `,
		"seen": {"type": "string", "minLength": 64, "maxLength": 64, "description": "As generate gave it with the preview"}` + startParam + betterWords + `}}`
)

const (
	noneParams = `{"type": "object", "properties": {}, "additionalProperties": false}`

	probeParams = `{"type": "object", "additionalProperties": false, "required": ["app", "tool"], "properties": {` + appParam + startParam + `,
		"tool": {"type": "string", "minLength": 1, "maxLength": 64}, "args": {"type": "object"}}}`

	checkRows = `{"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"state": {"type": "string", "title": "state"}, "app": {"type": "string", "title": "app"},
		"why": {"type": "string", "title": "why"}, "path": {"type": "string", "title": "file"}}}}`
)

// generateTimeout limits all calls to a program together.
const generateTimeout = 2 * time.Minute

// AgentToolNames returns the names of this package's tools that agents may call. Drafting saves nothing.
func AgentToolNames() []string { return []string{GenerateTool} }

// IntrospectsLocally reports whether a builtin request introspects a program of this computer.
// Such a request needs consent, like reading any other app. A request that may start the program
// is excluded: the policy denies it to callers that need consent.
func IntrospectsLocally(r *aai.Request) bool {
	return r.App.ID == aai.BuiltinApp && r.Tool.Name == GenerateTool && !requestOf(r.Call).Start
}

// Tools returns the generator's tools for the builtin app: they draft, save, try and check descriptors. Agents can
// only draft. Saving and trying are for people, because a saved descriptor relaxes policy checks.
func (g *Generator) Tools() []*aai.Tool {
	source := importers.Source(g.review)
	show := &aai.Tool{
		Name: GenerateTool, Description: "Describe a program by its D-Bus introspection, as an aai.json that the person can save",
		Params: schema.MustParse(showParams), Effect: aai.Reads, Limits: aai.Limits{Timeout: generateTimeout}, Run: source.Show, Assess: aai.Always(aai.Assessment{MayStartProgram: true}),
	}
	save := &aai.Tool{
		Name: SaveTool, Description: "Save the aai.json that generate has shown",
		Params: schema.MustParse(saveParams), Effect: aai.Changes, Limits: aai.Limits{Timeout: generateTimeout}, Run: source.Save,
	}
	probe := &aai.Tool{
		Name: ProbeTool, Description: "Try a tool that generate would make, once",
		Params: schema.MustParse(probeParams), Effect: aai.Destroys, Limits: aai.Limits{Timeout: generateTimeout}, Run: g.probe,
	}
	check := &aai.Tool{
		Name: CheckTool, Description: "List the generated or imported descriptors whose source has changed",
		Params: schema.MustParse(noneParams), Effect: aai.Reads, Limits: aai.Limits{Timeout: generateTimeout}, Run: g.checkAll,
		Returns: aai.Schema{Source: json.RawMessage(checkRows)},
	}
	return []*aai.Tool{show, save, probe, check}
}

// requestOf decodes the arguments of a call.
func requestOf(call *aai.Call) Request {
	var r Request
	r.App, _ = call.Args["app"].(string)
	r.Bus, _ = call.Args["bus"].(string)
	r.Start, _ = call.Args["start"].(bool)
	r.Full, _ = call.Args["full"].(bool)
	r.Tools, _ = aai.WholeNumber(call.Args["tools"])
	return r
}

// review is the [importers.Source] that drafts the next version of a program's descriptor.
func (g *Generator) review(ctx context.Context, call *aai.Call) (*importers.Review, error) {
	draft, planned, words, err := g.nextVersion(ctx, call)
	if err != nil {
		return nil, markUndelivered(err)
	}
	a := preview(call, draft, planned, words)
	shown := &aai.Result{Data: a}
	if isPersonal(call) {
		shown.Text = string(draft.Text)
	} else {
		shown.UntrustedSource = a.App + ", a program of this computer"
	}
	return &importers.Review{
		Apps: []importers.ReviewedApp{{ID: a.App, Change: planned}}, Origin: "the program's introspection, or " + planned.Path + ",",
		Preview: shown, Seen: &a.Seen,
		Saved: func([]string) *aai.Result {
			return &aai.Result{Text: "Saved as " + planned.Path + ".", Data: map[string]any{"app": a.App, "path": planned.Path}}
		},
	}, nil
}

// nextVersion returns the draft that a call asks for, as the next version of the stored descriptor.
func (g *Generator) nextVersion(ctx context.Context, call *aai.Call) (*Draft, importers.DescriptorChange, json.RawMessage, error) {
	r, none := requestOf(call), importers.DescriptorChange{}
	if r.Start && !isPersonal(call) {
		e := aai.Errorf(aai.PermissionDenied, "start: a program is started only for a person, not for an agent")
		e.Hint = "Leave start out; where the program does not run, ask the person to start it."
		return nil, none, nil, e
	}
	better, err := wordsProviderFor(ctx, call)
	if err != nil {
		return nil, none, nil, err
	}
	draft, err := g.Draft(ctx, r)
	if err != nil {
		return nil, none, nil, err
	}
	store := importers.DescriptorStore(g.cfg.Folder)
	before, err := store.Read(draft.Document.ID)
	if err != nil {
		return nil, none, nil, err
	}
	words, err := draft.mergeExisting(ctx, before, better)
	return draft, importers.DescriptorChange{Path: store.Path(draft.Document.ID), Before: before, After: draft.Text}, words, err
}

// preview returns the answer to a call of GenerateTool.
func preview(call *aai.Call, draft *Draft, planned importers.DescriptorChange, words json.RawMessage) *answer.GeneratedApp {
	a := &answer.GeneratedApp{
		App: draft.Document.ID, Path: planned.Path, Tools: len(draft.Document.Sections[0].Tools),
		Tokens: draft.Report.GuideTokens, Notes: draft.Notes, Text: draft.Text, Same: planned.IsUnchanged(), Words: words,
	}
	if planned.Path != "" && (isPersonal(call) || planned.Before != nil) {
		var omitted int
		if a.Diff, omitted = planned.Diff(requestOf(call).Full); omitted > 0 {
			a.Notes = append(a.Notes, "not shown of the difference: "+aai.Count(omitted, "line")+"; full shows them")
		}
	}
	if !isPersonal(call) {
		a.Lint, a.Save = draft.Report.Findings, saveHint(requestOf(call), a.App, words != nil)
	}
	return a
}

// isPersonal reports whether the call came through a person's front end.
func isPersonal(call *aai.Call) bool {
	return call.Caller.Door == aai.DoorCLI || call.Caller.Door == aai.DoorWeb
}

// saveHint tells the person how to save a draft that an agent requested.
func saveHint(r Request, id string, worded bool) string {
	command := "aai-gateway generate " + id
	if r.Bus != "" {
		command += " --bus " + r.Bus
	}
	if r.Tools != 0 {
		command += fmt.Sprintf(" --tools %d", r.Tools)
	}
	if !worded {
		return "Nothing is saved. The person sees and saves it at a terminal: " + command
	}
	return "Nothing is saved. The person sees and saves it at a terminal, with the words of this answer in a file: " + command + " --words words.json"
}

// markUndelivered marks an error of a program that was only read.
func markUndelivered(err error) error {
	e := *aai.AsError(err)
	e.Delivery = aai.NotDelivered // all calls only read
	return &e
}
