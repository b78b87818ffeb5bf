package cli

import (
	"context"
	"encoding/json"
	"os"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// maxRounds limits the rounds of questions for one call; after that its error is shown. The
// gateway asks all its questions in one round; another is needed if an answer came too
// late.
const maxRounds = 3

// callBuiltin calls a tool of the gateway itself.
func (r *run) callBuiltin(ctx context.Context, tool string, args map[string]any) (*aai.Result, error) {
	return r.do(ctx, aai.BuiltinApp, tool, args)
}

// do makes one call and puts its questions to the person at the terminal. Without a
// terminal, or if a question may not be asked there, do returns the call's error.
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
	result, err := r.callOnce(ctx, gateway, &call)
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
		call.Answers = answers // drop earlier answers: a seal is valid for one answer
		result, err = r.callOnce(ctx, gateway, &call)
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// callOnce calls Do once and shows its progress.
func (r *run) callOnce(ctx context.Context, gateway *gateway.Gateway, call *aai.Call) (*aai.Result, error) {
	name := aai.CleanLabel(call.App, 60)
	if name == aai.BuiltinApp {
		name = "the gateway"
	}
	beside := r.output.noteAnyway
	if !r.showsOwnProgress {
		told, what := withProgress(ctx, "Waiting for "+name)
		ctx = told
		line := r.showProgress(what)
		defer line.stop()
		beside = line.note
	}
	ctx = aai.WithClientCapabilities(ctx, aai.ClientCapabilities{Sample: r.sample, AskSecret: r.output.terminal.Secret, OnDialogShown: r.noteWindow(beside), Roots: workingFolder})
	return gateway.Do(ctx, call)
}

// workingFolder returns the folder in which the command runs, as the only project.
func workingFolder(context.Context) ([]aai.Root, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, nil //nolint:nilerr // a folder that is gone has no files
	}
	return []aai.Root{{Path: folder}}, nil
}

// decodeView converts a result's Data to T by way of JSON, so that the Go types that the
// tool used do not matter. It ignores fields that T does not have.
func decodeView[T any](data any) (T, error) {
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
