package web

import (
	"encoding/json"

	"github.com/gybob/aai-gateway"
)

// maxRounds limits the rounds of questions for one call; after that its error is shown.
const maxRounds = 3

// call calls a tool of the gateway's own app.
func (v *pageRequest) call(tool string, args map[string]any) (*aai.Result, error) {
	return v.callApp(aai.BuiltinApp, tool, args)
}

// callApp makes one call. The gateway asks its questions in a window, or at the terminal at
// which the door was opened; the page answers none. If the browser has disconnected, a read
// for its page is not even made.
func (v *pageRequest) callApp(app, tool string, args map[string]any) (*aai.Result, error) {
	if err := v.ctx.Err(); err != nil && v.form == nil {
		return nil, err
	}
	call := aai.Call{
		ID:     aai.NewCallID(),
		Caller: aai.Caller{Door: aai.DoorWeb, Name: "page", Identity: aai.IdentityPage, Session: v.session.id},
		App:    app, Tool: tool, Args: args, IsRefresh: v.isRefresh,
	}
	first := call.ID
	v.terminalWait = 0
	result, err := v.door.gateway.Do(v.ctx, &call)
	for range maxRounds {
		if err == nil || v.door.askAtTerminal == nil || aai.IsNonInteractive(v.ctx) {
			break
		}
		begun := v.door.now()
		answers, askErr := v.door.askAtTerminal(v.ctx, aai.AsError(err).Questions)
		v.terminalWait += v.door.now().Sub(begun)
		if askErr != nil || len(answers) == 0 {
			break
		}
		call.ID, call.Parent, call.Answers = aai.NewCallID(), first, answers
		result, err = v.door.gateway.Do(v.ctx, &call)
	}
	v.lastCall = call.ID
	return result, err
}

// read calls a reading tool of the gateway's own app, and decodes its data into value.
func (v *pageRequest) read(tool string, args map[string]any, value any) error {
	result, err := v.call(tool, args)
	if err != nil {
		return err
	}
	if err := decodeData(result, value); err != nil {
		return aai.Errorf(aai.Internal, "the answer of %s cannot be read: %w", tool, err)
	}
	return nil
}

// decodeData decodes a result's data into a Go value.
func decodeData(result *aai.Result, value any) error {
	raw, err := json.Marshal(result.Data)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, value)
}
