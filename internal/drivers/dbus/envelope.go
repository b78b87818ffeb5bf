package dbus

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// The AAI protocol's handler on Linux: its method and its default address, from the protocol's
// page on Linux.
const (
	envelopeVersion   = "1.0"
	envelopeMethod    = "Execute"
	defaultService    = "com.aai.gateway"
	defaultHandler    = "/com/aai/handler"
	defaultExecutor   = "com.aai.Executor"
	statusSuccess     = "success"
	statusError       = "error"
	envelopeSignature = "s"
)

// envelopeTool passes the call as JSON to an app that implements the AAI protocol.
type envelopeTool struct {
	*target
	tool   string
	parser string
}

type envelopeRequest struct {
	Version   string         `json:"version"`
	Tool      string         `json:"tool"`
	Params    map[string]any `json:"params"`
	RequestID string         `json:"request_id"`
}

type envelopeReply struct {
	Version   string          `json:"version"`
	RequestID string          `json:"request_id"`
	Status    string          `json:"status"`
	Result    json.RawMessage `json:"result"`
	Error     *struct {
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
	} `json:"error"`
}

func (d *Driver) compileEnvelope(r *aai.Recipe) (aai.Action, error) {
	ipc := r.IPC
	t, err := d.target(r, ipc.Bus, orDefault(ipc.Service, defaultService), orDefault(ipc.Object, defaultHandler),
		orDefault(ipc.Interface, defaultExecutor), envelopeMethod)
	if err != nil {
		return nil, err
	}
	if err := checkReach(t.service, t.path, t.iface, t.member); err != nil {
		return nil, err
	}
	e := &envelopeTool{target: t, tool: r.Tool, parser: r.OutputParser}
	return e.run, nil
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (e *envelopeTool) run(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	request := envelopeRequest{Version: envelopeVersion, Tool: e.tool, Params: call.Args, RequestID: call.ID}
	if request.RequestID == "" {
		request.RequestID = rand.Text()
	}
	if request.Params == nil {
		request.Params = map[string]any{}
	}
	text, err := json.Marshal(request)
	if err != nil {
		bad := aai.Errorf(aai.InvalidParams, "the arguments cannot be written as JSON: %w", err)
		bad.Delivery = aai.NotDelivered
		return nil, bad
	}
	body := encoder{}
	if err := body.value(string(text), &wire.Type{Code: 's', Sig: envelopeSignature}, parameter("params")); err != nil {
		return nil, err
	}
	reply, err := e.callPeer(ctx, func(context.Context, *peer) (*wire.Message, *failure) {
		return &wire.Message{Interface: e.iface, Member: e.member, Signature: envelopeSignature, Body: body.Bytes()}, nil
	})
	if err != nil {
		return nil, err
	}
	return e.read(reply, request.RequestID)
}

// read extracts the result from the envelope.
func (e *envelopeTool) read(m *wire.Message, requestID string) (*aai.Result, error) {
	texts, err := textsOf(m, 1)
	if err != nil {
		return nil, e.unreadable(err)
	}
	var reply envelopeReply
	if err := json.Unmarshal([]byte(texts[0]), &reply); err != nil {
		return nil, e.unreadable(fmt.Errorf("it does not match the protocol's JSON: %w", err))
	}
	if reply.RequestID != requestID {
		return nil, e.unreadable(errors.New("it belongs to another request: its request_id differs from the one sent"))
	}
	switch reply.Status {
	case statusError:
		return nil, e.handlerError(&reply)
	case statusSuccess:
	default:
		return nil,
			e.unreadable(fmt.Errorf(`expected the status "success" or "error", got %q`, aai.CleanLabel(reply.Status, 40)))
	}
	if len(reply.Result) == 0 {
		return e.result(nil, "")
	}
	d := json.NewDecoder(strings.NewReader(string(reply.Result)))
	d.UseNumber()
	var data any
	if err := d.Decode(&data); err != nil {
		return nil, e.unreadable(err)
	}
	return e.result(data, e.parser)
}

// handlerError converts the error that the app's handler returned.
func (e *envelopeTool) handlerError(reply *envelopeReply) *aai.Error {
	code, detail := "", ""
	if reply.Error != nil {
		code = strings.Trim(string(reply.Error.Code), `"`)
		detail = aai.CleanLabel(reply.Error.Message, 500)
	}
	err := aai.Errorf(envelopeCode(code), "%s answered with the error %s: %s", e.service,
		orDefault(aai.CleanLabel(code, 60), "without a code"), orDefault(detail, "without a message"))
	err.Delivery = aai.Delivered
	switch code {
	case "RATE_LIMITED":
		err.Hint = "The app asks for fewer calls. Wait before the next call."
	case "AUTH_REQUIRED", "AUTH_EXPIRED", "AUTH_INVALID", "AUTH_DENIED":
		err.Hint = "The person at this computer must sign in to the app, or allow this in it."
	}
	return err
}

// envelopeCode maps both sets of protocol codes: the names of its page on error codes, and the
// names and numbers of its first version.
func envelopeCode(code string) aai.Code {
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
