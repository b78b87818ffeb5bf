// Package envelope writes and reads the JSON by which apps that implement the AAI protocol themselves are called, the same over
// D-Bus, COM and Apple events.
package envelope

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
)

// Method is the method of the app's handler. It takes the request as text and returns the reply.
const Method = "Execute"

const (
	version       = "1.0"
	statusSuccess = "success"
	statusError   = "error"
)

type request struct {
	Version   string         `json:"version"`
	Tool      string         `json:"tool"`
	Params    map[string]any `json:"params"`
	RequestID string         `json:"request_id"`
}

type reply struct {
	Version   string          `json:"version"`
	RequestID string          `json:"request_id"`
	Status    string          `json:"status"`
	Result    json.RawMessage `json:"result"`
	Error     *struct {
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
	} `json:"error"`
}

// Request returns the request for a call. Its error is INVALID_PARAMS.
func Request(tool string, args map[string]any, id string) (string, error) {
	if args == nil {
		args = map[string]any{}
	}
	text, err := json.Marshal(request{Version: version, Tool: tool, Params: args, RequestID: id})
	if err != nil {
		bad := aai.Errorf(aai.InvalidParams, "the arguments cannot be written as JSON: %w", err)
		bad.Delivery = aai.NotDelivered
		return "", bad
	}
	return string(text), nil
}

// Read returns the result in a reply to the request id; it is nil if the reply has none. failure is the app's own error; err
// reports a reply that is not the protocol's. app names the app in messages.
func Read(app, text, id string) (data any, failure *aai.Error, err error) {
	var r reply
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, nil, fmt.Errorf("it does not match the protocol's JSON: %w", err)
	}
	if r.RequestID != id {
		return nil, nil, errors.New("it belongs to another request: its request_id differs from the one sent")
	}
	switch r.Status {
	case statusError:
		return nil, appError(app, &r), nil
	case statusSuccess:
	default:
		return nil, nil, fmt.Errorf(`expected the status "success" or "error", got %q`, aai.CleanLabel(r.Status, 40))
	}
	if len(r.Result) == 0 {
		return nil, nil, nil
	}
	d := json.NewDecoder(strings.NewReader(string(r.Result)))
	d.UseNumber()
	err = d.Decode(&data)
	return data, nil, err
}

// appError converts the error that the app's handler returned.
func appError(app string, reply *reply) *aai.Error {
	code, detail := "", ""
	if reply.Error != nil {
		code = strings.Trim(string(reply.Error.Code), `"`)
		detail = aai.CleanLabel(reply.Error.Message, 500)
	}
	err := aai.Errorf(codeOf(code), "%s answered with the error %s: %s", app,
		cmp.Or(aai.CleanLabel(code, 60), "without a code"), cmp.Or(detail, "without a message"))
	err.Delivery = aai.Delivered
	switch code {
	case "RATE_LIMITED":
		err.Hint = "The app asks for fewer calls. Wait before the next call."
	case "AUTH_REQUIRED", "AUTH_EXPIRED", "AUTH_INVALID", "AUTH_DENIED":
		err.Hint = "The person at this computer must sign in to the app, or allow this in it."
	}
	return err
}

// codeOf maps both sets of protocol codes: the names of its page on error codes, and the
// names and numbers of its first version.
func codeOf(code string) aai.Code {
	switch code {
	case "INVALID_REQUEST", "INVALID_PARAMS", "-32005":
		return aai.InvalidParams
	case "UNKNOWN_APP", "APP_NOT_FOUND", "-32002":
		return aai.AppNotFound
	case "UNKNOWN_TOOL", "TOOL_NOT_FOUND", "-32003":
		return aai.ToolNotFound
	case "AUTH_REQUIRED", "AUTH_DENIED", "AUTH_EXPIRED", "AUTH_INVALID", "CONSENT_REQUIRED", "PERMISSION_DENIED",
		"-32004", "-32011", "-32012":
		return aai.PermissionDenied
	case "TIMEOUT", "-32008":
		return aai.Timeout
	case "SERVICE_UNAVAILABLE", "APP_NOT_RUNNING", "-32009":
		return aai.AppNotRunning
	case "SCRIPT_PARSE_ERROR", "-32010":
		return aai.ScriptParseError
	case "NOT_IMPLEMENTED", "AUTOMATION_NOT_SUPPORTED", "-32006":
		return aai.AutomationNotSupported
	}
	return aai.AutomationFailed // NOT_FOUND, RATE_LIMITED, INTERNAL_ERROR and unknown codes
}
