package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/projectfile"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Names of the builtin tools for stored workflows and runs.
const (
	ListTool     = "workflow_list"
	RunsTool     = "workflow_runs"
	ShowTool     = "workflow_show"
	ResumeTool   = "workflow_resume"
	RollBackTool = "workflow_rollback"
	FileTool     = "workflow_file"
)

// AgentLibraryTools returns the names of the [Library.Tools] that agents may use too. These concern an
// agent's own runs, and each of their calls passes the gates.
func AgentLibraryTools() []string {
	return []string{ListTool, RunsTool, ShowTool, ResumeTool, RollBackTool, FileTool}
}

// maxListed limits the listed runs.
const maxListed = 100

const (
	noParams    = `{"type": "object", "properties": {}, "additionalProperties": false}`
	runParam    = `"run": {"type": "string", "minLength": 1}`
	runOnly     = `{"type": "object", "additionalProperties": false, "properties": {` + runParam + `}, "required": ["run"]}`
	runToResume = `{"type": "object", "additionalProperties": false, "properties": {` + runParam + `,
		"happened": {"type": "boolean", "description": "Whether the interrupted step was done, if no check can tell"}}, "required": ["run"]}`
	fileParams = `{"type": "object", "additionalProperties": false, "properties": {
		"file": {"type": "string", "minLength": 1, "description": "Path of a workflow or a recording; for agents below .aai of a project"}, "params": {"type": "object"},
		"save": {"type": "string", "minLength": 1, "description": "Store it under this name once it has run"}}, "required": ["file"]}`

	nameParam    = `"name": {"type": "string", "minLength": 1, "description": "A stored workflow, or the name of the file of a recording"}`
	stepsParams  = `{"type": "object", "additionalProperties": false, "properties": {` + nameParam + `}, "required": ["name"]}`
	renameParams = `{"type": "object", "additionalProperties": false, "properties": {` + nameParam + `,
		"seen": {"type": "string", "description": "The version that workflow_steps has shown"},
		"steps": {"type": "object", "description": "New names by the number of the step"},
		"params": {"type": "object", "description": "New names of parameters by the old ones"}}, "required": ["name", "seen"]}`

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

// Tools returns the builtin tools that list workflows, run a file, and list, show, resume and roll back
// the runs of keeper.
func (l *Library) Tools(keeper *SQLiteStore) []*aai.Tool {
	t := runTools{keeper, l.flows}
	calls := func(name, title, params string, run aai.Action) *aai.Tool {
		return &aai.Tool{Name: name, Description: title, Params: schema.MustParse(params), Effect: aai.Destroys, Assess: aai.Always(aai.Assessment{EffectInherent: true,
			OnlyMakesCalls: true}), Limits: aai.Limits{Timeout: ToolTimeout, Background: TaskTimeout}, Privacy: aai.Privacy{Result: true}, Run: run}
	}
	reads := func(name, title, params, returns string, run aai.Action) *aai.Tool {
		return &aai.Tool{Name: name, Description: title, Params: schema.MustParse(params), Effect: aai.Reads, Privacy: aai.Privacy{Result: true},
			Returns: aai.Schema{Source: json.RawMessage(returns)}, Run: run}
	}
	file := calls(FileTool, "Run the workflow of a file", fileParams, l.runFile)
	file.Privacy.Secret = []string{"params"}
	rename := calls(RenameTool, "Rename steps and parameters of a stored workflow or a recording", renameParams, l.rename)
	rename.Effect, rename.Assess, rename.Limits = aai.Changes, aai.Always(aai.Assessment{EffectInherent: true}), aai.Limits{}
	return []*aai.Tool{
		reads(StepsTool, "Show the steps of a stored workflow or a recording, with pictures", stepsParams, `{"type": "object"}`, l.showSteps), rename,
		reads(ListTool, "List the stored workflows", noParams, listRows, l.list),
		reads(RunsTool, "List the runs of workflows, newest first", noParams, runRows, t.list),
		reads(ShowTool, "Show a run in detail", runOnly, `{"type": "object"}`, t.show),
		calls(ResumeTool, "Resume an interrupted run; finished steps are not repeated", runToResume, t.resume),
		calls(RollBackTool, "Undo the acts of a run", runOnly, t.rollBack),
		file,
	}
}

// listedWorkflow is a stored workflow in the list.
type listedWorkflow struct {
	Name        string   `json:"name"`
	Params      []string `json:"params,omitempty"`
	Description string   `json:"description,omitempty"`
	File        string   `json:"file"`
	Fault       string   `json:"fault,omitempty"`
}

func (l *Library) list(context.Context, *aai.Call) (*aai.Result, error) {
	rows := []listedWorkflow{}
	for _, tool := range l.App().Tools {
		row := listedWorkflow{Name: tool.Name, Params: tool.Params.Order, Description: tool.Description, File: filepath.Join(l.folder, tool.Name+".json")}
		if tool.Implementation.Unavailable != nil {
			row.Fault = tool.Implementation.Unavailable.Message
		}
		rows = append(rows, row)
	}
	return &aai.Result{Data: rows}, nil
}

// readProjectFile reads a workflow that an agent names: it is in a project that its client works in.
func readProjectFile(ctx context.Context, path, save string) (*Document, error) {
	if save != "" {
		e := aai.Errorf(aai.PermissionDenied, "save: only the person stores workflows")
		e.Delivery = aai.NotDelivered
		return nil, e
	}
	source, err := projectfile.Read(ctx, path, projectfile.Kind{Name: "workflow", Extension: ".json", MaxBytes: maxBytes, Otherwise: "Pass its steps to ax_workflow."})
	if err != nil {
		return nil, err
	}
	d, err := read(source, strings.TrimSuffix(filepath.Base(path), ".json"))
	if err != nil {
		return nil, invalidWorkflowError(path, err)
	}
	return d, nil
}

// runFile runs a file that the user names, or a project's file that an agent names.
func (l *Library) runFile(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	gateway.MarkNotSecret(ctx, "params")
	path, _ := call.Args["file"].(string)
	save, _ := call.Args["save"].(string)
	var d *Document
	var err error
	switch door := call.Caller.Door; {
	case door != aai.DoorCLI && door != aai.DoorWeb:
		d, err = readProjectFile(ctx, path, save)
	case !filepath.IsAbs(path):
		err = aai.Errorf(aai.InvalidParams, "file: expected an absolute path")
	default:
		d, err = ReadFile(path)
	}
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
		e := *aai.AsError(err)
		e.Delivery = aai.NotDelivered
		return nil, &e
	}
	params, _ = checked.(map[string]any)
	if save != "" {
		if err := l.checkNew(save); err != nil {
			return nil, err
		}
	}
	result, err := l.flows.Execute(ctx, call, d, ResumePoint{Params: params})
	if err != nil || save == "" {
		return result, err
	}
	return l.save(save, d, result)
}

// runTools are the tools about runs.
type runTools struct {
	keeper *SQLiteStore
	flows  Config
}

// runRow is a run in the list.
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

func rowOf(r RunSummary) runRow {
	row := runRow{Run: r.ID, Workflow: cmp.Or(r.Name, "(without a name)"), State: string(r.State), At: fmt.Sprintf("step %d of %d", r.Step, r.Steps), Began: r.Began.UTC()}
	if r.Caller != (aai.Caller{}) {
		row.Caller = r.Caller.String()
	}
	switch {
	case r.State == Begun:
		row.State, row.PID = "runs", r.PID
	case !r.Ended.IsZero():
		ended := r.Ended.UTC()
		row.Ended = &ended
	}
	if r.Err != nil {
		row.Fault = r.Err.Error()
	}
	return row
}

// maySeeRun reports whether the caller may see a run: at a terminal all, an agent those of its
// conversation or of its verified identity.
func maySeeRun(caller aai.Caller, r *RunSummary) bool {
	return caller.Door == aai.DoorCLI || r.Err == nil && (caller.Conversation() == r.Caller.Conversation() ||
		caller.Identity != "" && caller.Identity == r.Caller.Identity && caller.Principal == r.Caller.Principal && caller.Door == r.Caller.Door)
}

func (t runTools) list(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	found, err := t.keeper.Runs(ctx, maxListed)
	if err != nil {
		return nil, runsUnreadable(err)
	}
	rows := []runRow{}
	for _, r := range found {
		if maySeeRun(call.Caller, &r) {
			rows = append(rows, rowOf(r))
		}
	}
	return &aai.Result{Data: rows}, nil
}

func runsUnreadable(err error) error {
	e := aai.Errorf(aai.AutomationFailed, "the stored workflow runs cannot be read: %w", err)
	e.Delivery = aai.NotDelivered
	return e
}

// storedRun returns the run that a call names, if the caller may see it.
func (t runTools) storedRun(ctx context.Context, call *aai.Call) (*RunSummary, *StoredRun, error) {
	id, _ := call.Args["run"].(string)
	row, kept, err := t.keeper.Get(ctx, id)
	if err != nil {
		return nil, nil, runsUnreadable(err)
	}
	if row == nil || !maySeeRun(call.Caller, row) {
		e := aai.Errorf(aai.InvalidParams, "run: there is no run %q of yours", aai.CleanLabel(id, 60))
		e.Delivery, e.Hint = aai.NotDelivered, RunsTool+" lists them (aai-gateway workflow list)."
		return nil, nil, e
	}
	return row, kept, nil
}

// resumableRun returns a run that can resume or roll back.
func (t runTools) resumableRun(ctx context.Context, call *aai.Call) (*StoredRun, error) {
	row, kept, err := t.storedRun(ctx, call)
	if err == nil && kept == nil {
		e := aai.Errorf(aai.AutomationNotSupported, "run %s has incomplete data: %w", row.ID, row.Err)
		e.Delivery = aai.NotDelivered
		err = e
	}
	return kept, err
}

func (t runTools) resume(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	kept, err := t.resumableRun(ctx, call)
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
	kept, err := t.resumableRun(ctx, call)
	if err != nil {
		return nil, err
	}
	return t.flows.RollBack(ctx, call, kept)
}

// stepView is the known state of a step of a run, or of a call of one.
type stepView struct {
	Step    string   `json:"step"`
	State   string   `json:"state"`
	Says    string   `json:"says,omitempty"`
	Value   any      `json:"value,omitempty"`
	Undoes  []string `json:"undo,omitempty"` // ways to undo it, or their results
	Unknown bool     `json:"unknown,omitempty"`
}

func (t runTools) show(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	row, kept, err := t.storedRun(ctx, call)
	if err != nil {
		return nil, err
	}
	r := rowOf(*row)
	var b strings.Builder
	fmt.Fprintf(&b, "run %s of %s: %s, %s", r.Run, stepName(r.Workflow), r.State, r.At)
	steps := []stepView{}
	if kept != nil {
		for i := range kept.Records {
			one := stepViewOf(kept, &kept.Records[i], row.State)
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
	return &aai.Result{Text: b.String(), Data: map[string]any{"run": r, "steps": steps}, DataComplete: true}, nil
}

func stepName(of string) string {
	if of == "" {
		return "a workflow"
	}
	return aai.CleanLabel(of, 60)
}

// stepViewOf returns the known state of a step.
func stepViewOf(k *StoredRun, r *Record, of State) stepView {
	s := stepView{Step: fmt.Sprintf("%d", r.Step), State: string(r.State), Says: aai.CleanLabel(r.Failure, 200), Value: r.Value}
	if r.Part > 0 {
		s.Step += fmt.Sprintf(".%d", r.Part)
	}
	if steps := k.Run.Document.Steps; r.Step <= len(steps) {
		s.Step += " " + steps[r.Step-1].Describe(r.Part)
	}
	if r.State == Begun && of != Begun {
		s.State, s.Unknown = "may have happened", true
	}
	for _, act := range r.Acts {
		switch {
		case act.UndoStatus != "":
			s.Undoes = append(s.Undoes, "undone: "+string(act.UndoStatus))
		case act.Uncertain:
			s.Undoes = append(s.Undoes, "unknown whether it was done")
		case act.Undo != nil:
			s.Undoes = append(s.Undoes, "can be undone: "+aai.CleanLabel(act.Undo.Description, 200))
		}
	}
	return s
}
