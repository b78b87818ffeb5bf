package cli

import (
	"context"
	"encoding/json"

	"aai"
)

// maxRounds is how often the questions of one call are put before its error is
// shown as it is. The gates ask all they have to ask in one round; another is
// needed when an answer came too late.
const maxRounds = 3

// own calls a tool of the gateway itself.
func (r *run) own(ctx context.Context, tool string, args map[string]any) (*aai.Result, error) {
	return r.do(ctx, aai.OwnApp, tool, args)
}

// do makes one call and puts the questions it raises to the person at the
// terminal. Without one, or when a question may not be put there, the call's
// error comes back as it is.
func (r *run) do(ctx context.Context, app, tool string, args map[string]any) (*aai.Result, error) {
	gateway, err := r.gateway()
	if err != nil {
		return nil, err
	}
	call := aai.Call{
		ID:     aai.NewCallID(),
		Caller: aai.Caller{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal, Session: r.cfg.Session},
		App:    app, Tool: tool, Args: args,
	}
	first := call.ID
	result, err := r.once(ctx, gateway, &call)
	for range maxRounds {
		if err == nil {
			break
		}
		answers, askErr := r.ask(ctx, aai.AsError(err).Questions)
		if askErr != nil {
			return nil, askErr
		}
		if len(answers) == 0 {
			break
		}
		call.ID, call.Parent = aai.NewCallID(), first
		call.Answers = answers // earlier ones are spent: a seal is good for one answer
		result, err = r.once(ctx, gateway, &call)
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// once is one Do, with the time it takes shown.
func (r *run) once(ctx context.Context, gateway *aai.Gateway, call *aai.Call) (*aai.Result, error) {
	name := aai.CleanLabel(call.App, 60)
	if name == aai.OwnApp {
		name = "the gateway"
	}
	beside := r.output.noteAnyway
	if !r.announces {
		told, what := following(ctx, "Waiting for "+name)
		ctx = told
		line := r.telling(what)
		defer line.stop()
		beside = line.beside
	}
	ctx = aai.WithAssistant(ctx, aai.Assistant{Secret: r.output.terminal.Secret, Window: r.asksInWindow(beside)})
	return gateway.Do(ctx, call)
}

// view reads a result's Data, whatever Go types the tool made it of, into what
// a command shows. Fields that the command does not know are left out.
func view[T any](data any) (T, error) {
	var v T
	raw, err := json.Marshal(data)
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		return v, aai.Errorf(aai.Internal, "the gateway answered in a form that this command cannot show: %w", err)
	}
	return v, nil
}
