package takeover

import (
	"context"
	"maps"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Names of the tools.
const (
	ListTool  = "session_list"
	TakeTool  = "session_take"
	GiveTool  = "session_give"
	InputTool = "session_input"
)

const idParam = `"id": {"type": "string", "pattern": "^[0-9]{1,20}$", "description": "The session's id, from session_list"}`

// A Relay is the person's way into isolated sessions.
type Relay struct{ screens screens }

// New returns a Relay. The caller must close it.
func New() *Relay { return &Relay{screens{open: make(map[string]*openScreen)}} }

// Close ends the connections to the sessions.
func (r *Relay) Close() error { return r.screens.Close() }

// Tools returns the tools. Only the doors of the person can use them, and only the page makes input.
func (r *Relay) Tools() []*aai.Tool {
	change := func(name, description, params string, run aai.Action, doors ...string) *aai.Tool {
		check := func(_ context.Context, call *aai.Call) error { return checkDoor(call, doors) }
		return &aai.Tool{
			Name: name, Description: description, Params: schema.MustParse(params), Effect: aai.Changes, Precheck: check,
			Assess: aai.Always(aai.Assessment{PrecheckPublic: true}),
			Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
				if err := check(ctx, call); err != nil {
					return nil, err
				}
				return run(ctx, call)
			},
		}
	}
	byID := `{"type": "object", "additionalProperties": false, "required": ["id"], "properties": {` + idParam + `}}`
	input := change(InputTool, "Send the person's click, text or key to an isolated session that the person has taken over", inputParams, r.sendInput, aai.DoorWeb)
	input.Privacy.RecordArgs = recordedInput
	return []*aai.Tool{
		{
			Name: ListTool, Description: "List the isolated sessions that run", Params: schema.MustParse(`{"type": "object", "additionalProperties": false}`),
			Returns: aai.Schema{Source: answer.SchemaOf[[]answer.Session]()}, Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Run: list,
		},
		change(TakeTool, "Take over an isolated session: the agent's acts in it pause", byID, setTaken(true), aai.DoorWeb, aai.DoorCLI),
		change(GiveTool, "Give an isolated session back to its agent, whose acts go on", byID, setTaken(false), aai.DoorWeb, aai.DoorCLI),
		input,
	}
}

// recordedInput returns the arguments without the typed text: it may be a password. The marks of secrets would reveal single
// characters, since equal ones have equal marks.
func recordedInput(args map[string]any) (shown map[string]any, secrets []string) {
	shown = maps.Clone(args)
	for _, name := range []string{"text", "key"} {
		if typed, ok := args[name].(string); ok && (name == "text" || len([]rune(typed)) == 1) {
			shown[name] = "(not recorded)"
		}
	}
	return shown, nil
}

// checkDoor returns an error unless the call comes through one of the doors.
func checkDoor(call *aai.Call, doors []string) error {
	for _, door := range doors {
		if call.Caller.Door == door {
			return nil
		}
	}
	e := refuse(aai.PermissionDenied, "%s is for the person at this computer, not for %s", call.Tool, call.Caller)
	e.Hint = "The person uses the page: aai-gateway web"
	return e
}

func list(context.Context, *aai.Call) (*aai.Result, error) {
	rows := []answer.Session{}
	for _, s := range private.RunningSessions() {
		rows = append(rows, answer.Session{
			ID: s.ID(), Label: aai.CleanLabel(s.Options.Label, 200), Display: s.Display(), Width: s.Options.Width, Height: s.Options.Height,
			Since: s.Since(), Taken: private.IsTaken(s.Folder),
		})
	}
	return &aai.Result{Data: rows}, nil
}

// setTaken returns the action that sets whether the person works in the session.
func setTaken(taken bool) aai.Action {
	return func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		s, err := sessionOf(call)
		if err != nil {
			return nil, err
		}
		noOp := private.IsTaken(s.Folder) == taken
		if err := s.SetTaken(taken); err != nil {
			return nil, aai.Errorf(aai.AutomationFailed, "the session's folder cannot be changed: %w", err)
		}
		return &aai.Result{Data: map[string]any{"taken": taken}, NoOp: noOp}, nil
	}
}

// sessionOf returns the running session that the arguments name.
func sessionOf(call *aai.Call) (*private.Isolated, error) {
	id, _ := call.Args["id"].(string)
	s, err := private.RunningSession(id)
	if err != nil {
		e := refuse(aai.AppNotFound, "no isolated session %s runs", aai.CleanLabel(id, 30))
		e.Hint = "Running sessions: aai-gateway session list"
		return nil, e
	}
	return s, nil
}

// refuse returns an error of a call that did nothing.
func refuse(code aai.Code, format string, args ...any) *aai.Error {
	e := aai.Errorf(code, format, args...)
	e.Delivery = aai.NotDelivered
	return e
}
