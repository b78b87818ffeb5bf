package kept

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"aai"
	"aai/internal/schema"
	"aai/internal/workflow"
	"aai/internal/workflow/state"
)

// The names of the tools of the gateway's own app.
const (
	List     = "workflow_list"
	Runs     = "workflow_runs"
	Show     = "workflow_show"
	Resume   = "workflow_resume"
	RollBack = "workflow_rollback"
	RunFile  = "workflow_file"
)

// OpenTools are those that agents may use too: of their own runs, and by calls about each of
// which the gates are asked.
func OpenTools() []string { return []string{List, Runs, Show, Resume, RollBack} }

// maxListed is how many runs are listed.
const maxListed = 100

const (
	none      = `{"type": "object", "properties": {}, "additionalProperties": false}`
	runParam  = `"run": {"type": "string", "minLength": 1}`
	runOnly   = `{"type": "object", "additionalProperties": false, "properties": {` + runParam + `}, "required": ["run"]}`
	runToGoOn = `{"type": "object", "additionalProperties": false, "properties": {` + runParam + `,
		"happened": {"type": "boolean", "description": "Whether the step was done at which it was left, where nobody else can tell"}}, "required": ["run"]}`
	fileParams = `{"type": "object", "additionalProperties": false, "properties": {
		"file": {"type": "string", "minLength": 1, "description": "Absolute path"}, "params": {"type": "object"}}, "required": ["file"]}`

	listRows = `{"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"name": {"type": "string", "title": "workflow"}, "params": {"type": "array", "items": {"type": "string"}, "title": "params"},
		"description": {"type": "string", "title": "description"}, "file": {"type": "string", "title": "file"},
		"fault": {"type": "string"}}}}`
	runRows = `{"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"run": {"type": "string", "title": "run"}, "workflow": {"type": "string", "title": "workflow"},
		"state": {"type": "string", "title": "state"}, "at": {"type": "string", "title": "at"},
		"began": {"type": "string", "format": "date-time", "title": "began"}, "ended": {"type": "string", "format": "date-time"},
		"caller": {"type": "string", "title": "caller"}, "pid": {"type": "integer"}, "fault": {"type": "string"}}}}`
)

// Tools are the tools of the gateway's own app.
func (l *Library) Tools(keeper *state.Keeper) []*aai.Tool {
	t := runTools{keeper, l.flows}
	calls := func(name, title, params string, run aai.Action) *aai.Tool {
		return &aai.Tool{Name: name, Description: title, Params: schema.MustParse(params), Effect: aai.Destroys, Natural: true,
			Calls: true, Timeout: workflow.Time, Lasting: workflow.Longest, Private: true, Run: run}
	}
	reads := func(name, title, params, returns string, run aai.Action) *aai.Tool {
		return &aai.Tool{Name: name, Description: title, Params: schema.MustParse(params), Effect: aai.Reads, Private: true,
			Returns: aai.Schema{Source: json.RawMessage(returns)}, Run: run}
	}
	file := calls(RunFile, "Run the workflow of a file", fileParams, l.runFile)
	file.Secret = []string{"params"}
	return []*aai.Tool{
		reads(List, "List the kept workflows", none, listRows, l.list),
		reads(Runs, "List the runs of workflows, newest first", none, runRows, t.list),
		reads(Show, "Tell all that is known of a run", runOnly, `{"type": "object"}`, t.show),
		calls(Resume, "Go on with a run that was left in the middle; what was done is not done again", runToGoOn, t.resume),
		calls(RollBack, "Take back what a run has done", runOnly, t.rollBack),
		file,
	}
}

// listed is a kept workflow in the list.
type listed struct {
	Name        string   `json:"name"`
	Params      []string `json:"params,omitempty"`
	Description string   `json:"description,omitempty"`
	File        string   `json:"file"`
	Fault       string   `json:"fault,omitempty"`
}

func (l *Library) list(context.Context, *aai.Call) (*aai.Result, error) {
	rows := []listed{}
	for _, tool := range l.App().Tools {
		row := listed{Name: tool.Name, Params: tool.Params.Order, Description: tool.Description, File: filepath.Join(l.folder, tool.Name+".json")}
		if tool.Unavailable != nil {
			row.Fault = tool.Unavailable.Message
		}
		rows = append(rows, row)
	}
	return &aai.Result{Data: rows}, nil
}

// runFile runs a file that a person names.
func (l *Library) runFile(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	aai.NotSecret(ctx, "params")
	path, _ := call.Args["file"].(string)
	if !filepath.IsAbs(path) {
		return nil, aai.Errorf(aai.InvalidParams, "file: expected an absolute path")
	}
	d, err := Read(path)
	if err != nil {
		return nil, err
	}
	params, _ := call.Args["params"].(map[string]any)
	if params == nil {
		params = map[string]any{}
	}
	tool := l.flows.Tool("file", d)
	checked, err := tool.Params.Check(params)
	if err != nil {
		return nil, err
	}
	params, _ = checked.(map[string]any)
	return l.flows.Perform(ctx, call, d, workflow.Start{Params: params})
}

// runTools are the tools about runs.
type runTools struct {
	keeper *state.Keeper
	flows  workflow.Config
}

// A runRow is a run in the list.
type runRow struct {
	Run      string     `json:"run"`
	Workflow string     `json:"workflow"`
	State    string     `json:"state"`
	At       string     `json:"at"`
	Began    time.Time  `json:"began"`
	Ended    *time.Time `json:"ended,omitempty"`
	Caller   string     `json:"caller"`
	PID      int        `json:"pid,omitempty"`
	Fault    string     `json:"fault,omitempty"`
}

func rowOf(r state.Row) runRow {
	row := runRow{Run: r.ID, Workflow: cmp.Or(r.Name, "(without a name)"), State: string(r.State), At: fmt.Sprintf("step %d of %d", r.Step, r.Steps), Began: r.Began.UTC()}
	if r.Caller != (aai.Caller{}) {
		row.Caller = r.Caller.String()
	}
	switch {
	case r.State == workflow.Begun:
		row.State, row.PID = "runs", r.PID
	case !r.Ended.IsZero():
		ended := r.Ended.UTC()
		row.Ended = &ended
	}
	if r.Fault != nil {
		row.Fault = r.Fault.Error()
	}
	return row
}

// mayKnow reports whether a run is the caller's: a person's at a terminal are all, an
// agent's those of its conversation, or of who it is for certain.
func mayKnow(caller aai.Caller, r *state.Row) bool {
	return caller.Door == aai.DoorCLI || r.Fault == nil && (caller.Conversation() == r.Caller.Conversation() ||
		caller.Identity != "" && caller.Identity == r.Caller.Identity && caller.Principal == r.Caller.Principal && caller.Door == r.Caller.Door)
}

func (t runTools) list(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	found, err := t.keeper.Runs(ctx, maxListed)
	if err != nil {
		return nil, unread(err)
	}
	rows := []runRow{}
	for _, r := range found {
		if mayKnow(call.Caller, &r) {
			rows = append(rows, rowOf(r))
		}
	}
	return &aai.Result{Data: rows}, nil
}

func unread(err error) error {
	e := aai.Errorf(aai.AutomationFailed, "what is kept of workflows cannot be read: %w", err)
	e.Delivery = aai.NotDelivered
	return e
}

// of is the run that a call names, if it may know it.
func (t runTools) of(ctx context.Context, call *aai.Call) (*state.Row, *workflow.Kept, error) {
	id, _ := call.Args["run"].(string)
	row, kept, err := t.keeper.Get(ctx, id)
	if err != nil {
		return nil, nil, unread(err)
	}
	if row == nil || !mayKnow(call.Caller, row) {
		e := aai.Errorf(aai.InvalidParams, "run: there is no run %q of yours", aai.CleanLabel(id, 60))
		e.Delivery, e.Hint = aai.NotDelivered, Runs+" lists them (aai-gateway workflow list)."
		return nil, nil, e
	}
	return row, kept, nil
}

// whole is a run that can be gone on with or taken back.
func (t runTools) whole(ctx context.Context, call *aai.Call) (*workflow.Kept, error) {
	row, kept, err := t.of(ctx, call)
	if err == nil && kept == nil {
		e := aai.Errorf(aai.AutomationNotSupported, "of run %s too little is known: %w", row.ID, row.Fault)
		e.Delivery = aai.NotDelivered
		err = e
	}
	return kept, err
}

func (t runTools) resume(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	kept, err := t.whole(ctx, call)
	if err != nil {
		return nil, err
	}
	var said *bool
	if happened, given := call.Args["happened"].(bool); given {
		said = &happened
	}
	return t.flows.Resume(ctx, call, kept, said)
}

func (t runTools) rollBack(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	kept, err := t.whole(ctx, call)
	if err != nil {
		return nil, err
	}
	return t.flows.RollBack(ctx, call, kept)
}

// A step is what is known of a step of a run, or of a call of one.
type step struct {
	Step    string   `json:"step"`
	State   string   `json:"state"`
	Says    string   `json:"says,omitempty"`
	Value   any      `json:"value,omitempty"`
	Undoes  []string `json:"undo,omitempty"` // how what it did is taken back
	Unknown bool     `json:"unknown,omitempty"`
}

func (t runTools) show(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	row, kept, err := t.of(ctx, call)
	if err != nil {
		return nil, err
	}
	r := rowOf(*row)
	var b strings.Builder
	fmt.Fprintf(&b, "run %s of %s: %s, %s", r.Run, name(r.Workflow), r.State, r.At)
	steps := []step{}
	if kept != nil {
		for i := range kept.Records {
			one := stepOf(kept, &kept.Records[i], row.State)
			steps = append(steps, one)
			fmt.Fprintf(&b, "\n%s: %s", one.Step, one.State)
			if one.Says != "" {
				b.WriteString(": " + one.Says)
			}
			for _, undo := range one.Undoes {
				b.WriteString("\n  " + undo)
			}
		}
	}
	if r.Fault != "" {
		b.WriteString("\n" + r.Fault)
	}
	return &aai.Result{Text: b.String(), Data: map[string]any{"run": r, "steps": steps}, Whole: true}, nil
}

func name(of string) string {
	if of == "" {
		return "a workflow"
	}
	return aai.CleanLabel(of, 60)
}

// stepOf is what is known of a step.
func stepOf(k *workflow.Kept, r *workflow.Record, of workflow.State) step {
	s := step{Step: fmt.Sprintf("%d", r.Step), State: string(r.State), Says: aai.CleanLabel(r.Failure, 200), Value: r.Value}
	if r.Part > 0 {
		s.Step += fmt.Sprintf(".%d", r.Part)
	}
	if steps := k.Run.Document.Steps; r.Step <= len(steps) {
		s.Step += " " + steps[r.Step-1].Says(r.Part)
	}
	if r.State == workflow.Begun && of != workflow.Begun {
		s.State, s.Unknown = "may have happened", true
	}
	for _, act := range r.Acts {
		switch {
		case act.Taken != "":
			s.Undoes = append(s.Undoes, "taken back: "+string(act.Taken))
		case act.Unsure:
			s.Undoes = append(s.Undoes, "nobody knows whether it was done")
		case act.Undo != nil:
			s.Undoes = append(s.Undoes, "can be taken back: "+aai.CleanLabel(act.Undo.Says, 200))
		}
	}
	return s
}
