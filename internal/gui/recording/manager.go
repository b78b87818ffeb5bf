package recording

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/schema"
)

// TimeLimit is the time after which a recording ends by itself.
const TimeLimit = 30 * time.Minute

const (
	startTimeout = 10 * time.Second
	stopTimeout  = 10 * time.Second
	maxStatus    = 50 * time.Second // how long a caller waits for the next step
)

// A Manager holds the recording of the person, of which there is one at a time in all gateways.
type Manager struct {
	// Folder keeps the files of recordings. It is created when needed.
	Folder string

	mu      sync.Mutex
	current *running
}

// A running recording, or the last one.
type running struct {
	recorder *Recorder
	owner    string // the conversation that began it
	app      string
	path     string
	cancel   context.CancelFunc
	ended    chan struct{}
	err      error // valid once ended is closed

	mu      sync.Mutex
	changed chan struct{} // closed at the next step
}

// Start begins a recording for a caller, and returns the path of its file. sign shows the person that it runs, until hide.
func (m *Manager) Start(ctx context.Context, c Config, owner string, sign func() (hide func())) (path string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current != nil && !m.current.isOver() {
		return "", runningError(m.current.app)
	}
	lock, err := m.lock(ctx)
	if err != nil {
		return "", err
	}
	file, err := m.createFile(c.App.ID)
	if err == nil {
		path = file.path
		err = os.WriteFile(filepath.Join(m.Folder, runningFile), []byte(filepath.Base(path)), 0o600)
	}
	if err != nil {
		_ = lock.Unlock()
		return "", err
	}
	r := &running{owner: owner, app: c.App.ID, path: path, ended: make(chan struct{}), changed: make(chan struct{})}
	c.Write = func(n int, s *recorded.Step) error {
		defer r.signal()
		return file.write(n, s)
	}
	c.Keep = func(n int, picture []byte) string { return m.keepPicture(filepath.Base(path), n, picture) }
	r.recorder = New(c)
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), TimeLimit)
	r.cancel = cancel
	ready := make(chan struct{})
	go m.awaitStop(recording, cancel)
	go func() {
		hide := sign()
		r.err = r.recorder.Run(recording, func() { close(ready) })
		hide()
		cancel()
		_ = errors.Join(file.close(), os.Remove(filepath.Join(m.Folder, runningFile)), lock.Unlock())
		close(r.ended)
		r.signal()
	}()
	ctx, stop := context.WithTimeout(ctx, startTimeout)
	defer stop()
	select {
	case <-ready:
		m.current = r
		return path, nil
	case <-r.ended:
		_ = os.Remove(path)
		return "", r.err
	case <-ctx.Done():
		cancel()
		<-r.ended
		_ = os.Remove(path)
		return "", aai.Errorf(aai.Timeout, "the recording did not begin in time")
	}
}

// IsByEvents reports whether the current recording has accessibility events alone.
func (m *Manager) IsByEvents() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current != nil && m.current.recorder.byEvents.Load()
}

func unkeptError(err error) error {
	return aai.Errorf(aai.RecordFailed, "the recording cannot be kept: %w", err)
}

func runningError(app string) error {
	e := aai.Errorf(aai.AutomationFailed, "%s is being recorded already", aai.CleanLabel(app, 60))
	e.Delivery, e.Hint = aai.NotDelivered, "Stop that recording first."
	return e
}

func (r *running) isOver() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

func (r *running) signal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.changed)
	r.changed = make(chan struct{})
}

// next returns a channel that is closed at the next step.
func (r *running) next() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// End ends the recording. It does not wait for its last step.
func (m *Manager) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current != nil {
		m.current.cancel()
	}
}

// Close ends the recording.
func (m *Manager) Close() error {
	m.mu.Lock()
	r := m.current
	m.mu.Unlock()
	if r != nil {
		r.cancel()
		<-r.ended
	}
	return nil
}

// Names of the builtin tools.
const (
	StopTool   = "recording_stop"
	StatusTool = "recording_status"
	ListTool   = "recording_list"
	DeleteTool = "recording_delete"
)

// AgentTools returns the names of the tools that agents may use too, for recordings of their own conversation.
func AgentTools() []string { return []string{StopTool, StatusTool} }

// Tools returns the builtin tools about the recording.
func (m *Manager) Tools() []*aai.Tool {
	tool := func(name, title, params, returns string, run aai.Action) *aai.Tool {
		return &aai.Tool{
			Name: name, Description: title, Params: schema.MustParse(`{"type": "object", "additionalProperties": false, "properties": {` + params + `}}`),
			Returns: aai.Schema{Source: json.RawMessage(`{"type": "object", "properties": {` + returns + `}}`)},
			Effect:  aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Privacy: aai.Privacy{Result: true},
			Limits: aai.Limits{Timeout: maxStatus + startTimeout, Unlisted: true}, Run: run,
		}
	}
	named := tool(DeleteTool, "Delete a recording of the person with its pictures", `"name": {"type": "string", "minLength": 1, "description": "The name of its file"}`, "", m.remove)
	named.Effect = aai.Destroys
	list := tool(ListTool, "List the recordings of the person, newest first", "", "", m.list)
	list.Returns = aai.Schema{Source: json.RawMessage(`{"type": "array", "items": {"type": "object"}}`)}
	const state = `"app": {"type": "string"}, "recording": {"type": "boolean"}, "count": {"type": "integer"}, "file": {"type": "string"}`
	return []*aai.Tool{
		list, named,
		tool(StopTool, "Stop recording the person, and return the steps for a workflow", "", state+`, "steps": {"type": "array", "items": {"type": "object"}}, "workflow": {"type": "object"}`, m.stop),
		tool(StatusTool, "Report whether the person is recorded, and the number of steps so far",
			`"after": {"type": "integer", "minimum": 0, "description": "Wait until the number differs"}, "wait_ms": {"type": "integer", "minimum": 0, "maximum": 50000}`, state, m.status),
	}
}

// A View is a recording, as data.
type View struct {
	App       string          `json:"app,omitempty"`
	Recording bool            `json:"recording"`
	Count     int             `json:"count"`
	File      string          `json:"file,omitempty"`
	Steps     []recorded.Step `json:"steps,omitempty"`
	Workflow  json.RawMessage `json:"workflow,omitempty"` // of the steps, with parameters for the texts
}

// of returns the recording of the caller: the person at a terminal sees each.
func (m *Manager) of(call *aai.Call) (*running, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, caller := m.current, call.Caller
	if r == nil || r.owner != caller.Conversation() && caller.Door != aai.DoorCLI && caller.Door != aai.DoorWeb {
		e := aai.Errorf(aai.AutomationFailed, "no recording of this conversation runs")
		e.Hint = "Reading axterminator://recording/start?app=NAME begins one; aai-gateway record does so at a terminal."
		return nil, e
	}
	return r, nil
}

func (m *Manager) stop(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	r, err := m.of(call)
	if door := call.Caller.Door; (err != nil || r.isOver()) && (door == aai.DoorCLI || door == aai.DoorWeb) {
		if name := m.runningName(); name != "" {
			return m.stopElsewhere(ctx, name)
		}
	}
	if err != nil {
		return nil, err
	}
	r.cancel()
	select {
	case <-r.ended:
	case <-time.After(stopTimeout):
		return nil, aai.Errorf(aai.Timeout, "the recording did not end in time; its file is %s", r.path)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	v := View{App: r.app, Steps: r.recorder.Steps(), File: r.path}
	v.Count = len(v.Steps)
	if v.Workflow, err = recorded.Document(recorded.Slug(r.app), r.app, v.Steps); err != nil {
		return nil, err
	}
	out := &aai.Result{Text: aai.Count(v.Count, "step") + " recorded in " + aai.CleanLabel(r.app, 60), Data: v}
	if r.err != nil {
		out.Warning = "the recording ended before: " + r.err.Error()
	}
	return out, nil
}

func (m *Manager) status(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	r, err := m.of(call)
	if err != nil {
		return nil, err
	}
	after, hasAfter := aai.WholeNumber(call.Args["after"])
	wait, _ := aai.WholeNumber(call.Args["wait_ms"])
	over := time.After(time.Duration(wait) * time.Millisecond)
	for {
		next := r.next()
		v := View{App: r.app, Recording: !r.isOver(), Count: len(r.recorder.Steps()), File: r.path}
		if !hasAfter || v.Count != after || !v.Recording {
			return statusResult(v), nil
		}
		select {
		case <-next:
		case <-over:
			return statusResult(v), nil
		case <-ctx.Done():
			return statusResult(v), nil
		}
	}
}

func statusResult(v View) *aai.Result {
	return &aai.Result{Text: aai.Count(v.Count, "step"), Data: v, DataComplete: true}
}
