package aai

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Code is the kind of an error. Programs decide by it.
type Code string

// The codes of the AAI protocol, and some of our own. Each comment states the meaning and, after
// "Next:", the next step. docs/reference/errors.md is generated from these comments.
const (
	// The app, or the connection to it, failed during the call. Next: read the message and
	// `delivery`; repeat the call only if `retry` is safe, otherwise check its effect first.
	AutomationFailed Code = "AUTOMATION_FAILED"
	// No app has that name, or this caller may not use it. Next: use a name from the message, or
	// run `aai-gateway apps` or `aai-gateway scan`.
	AppNotFound Code = "APP_NOT_FOUND"
	// The app has no tool of that name. Next: read its guide (`aai-gateway guide APP`), or use a
	// name from the message.
	ToolNotFound Code = "TOOL_NOT_FOUND"
	// A person, the configuration, the mode or a stop forbids the call. Next: do not try another
	// way; the person can change it (`mode`, `consent`, `start`, `security.denied_apps`).
	PermissionDenied Code = "PERMISSION_DENIED"
	// A person must allow the call first, and could not be asked here. Next: the hint contains
	// the command by which the person allows it; then repeat the call.
	ConsentRequired Code = "CONSENT_REQUIRED"
	// An argument is missing, unknown, or of the wrong type. Next: correct the argument in the
	// message as described there.
	InvalidParams Code = "INVALID_PARAMS"
	// This computer or this app does not support the call. Next: use another tool or another app;
	// `aai-gateway doctor` reports missing parts.
	AutomationNotSupported Code = "AUTOMATION_NOT_SUPPORTED"
	// The app's descriptor is invalid. Next: its author corrects the field in the message;
	// `aai-gateway lint FILE` lists all errors.
	DescriptorInvalid Code = "AAI_JSON_INVALID"
	// The app did not respond within the call's time, or an awaited condition did not occur.
	// Next: check whether the effect occurred (`delivery`) before you repeat the call.
	Timeout Code = "TIMEOUT"
	// The app, its service or its site is not available. Next: start it, or check the address,
	// and repeat the call if `retry` is safe: the app may have ended with the request
	// (`delivery`).
	AppNotRunning Code = "APP_NOT_RUNNING"
	// The app cannot parse the script. Next: correct the script at the line in the message.
	ScriptParseError Code = "SCRIPT_PARSE_ERROR"
	// The element of the ref no longer exists. Next: read the window again (`ax_find`,
	// `ax_get_tree`) and use the new ref.
	StaleRef Code = "STALE_REF"
	// Several elements match; the message lists them. Next: select one by a candidate's ref, a
	// narrower query, or `nth`.
	AmbiguousTarget Code = "AMBIGUOUS_TARGET"
	// No element matches; the message lists similar ones. Next: use a candidate, or read the
	// window first.
	ElementNotFound Code = "ELEMENT_NOT_FOUND"
	// A person must log in to the app first. Next: the person opens the page in the answer, or
	// runs `aai-gateway auth login`; then repeat the call.
	AuthRequired Code = "AUTH_REQUIRED"
	// The login has expired, and could not be renewed. Next: the person logs in again; then
	// repeat the call.
	AuthExpired Code = "AUTH_EXPIRED"
	// The app denied access to the logged-in user. Next: use another account, or request more
	// scopes at a new login.
	AuthDenied Code = "AUTH_DENIED"
	// The login configuration is invalid or unsafe. Next: the author of the descriptor or of
	// `login.sites` corrects the field in the message.
	AuthInvalid Code = "AUTH_INVALID"
	// A web app answered with an error. Next: read its status and text in the message; correct
	// the arguments, or report it to the site.
	APIRequestFailed Code = "API_REQUEST_FAILED"
	// The caller made too many calls, or the program or the screen is taken for a while. Next: wait
	// for `retry_after_ms`, then repeat the call; nothing was done.
	RateLimited Code = "RATE_LIMITED"
	// The call cannot be recorded, so it did not run. Next: check the disk and the state folder:
	// `aai-gateway audit verify`, `aai-gateway doctor`.
	RecordFailed Code = "RECORD_FAILED"
	// The gateway itself failed. Next: the log contains the cause; report it with the call's id.
	Internal Code = "INTERNAL"
)

// Number returns the code's JSON-RPC number in the AAI protocol, section 2.7, or JSON-RPC's
// "internal error" if it has none.
func (c Code) Number() int {
	switch c {
	case AutomationFailed, StaleRef, AmbiguousTarget, ElementNotFound:
		return -32001
	case AppNotFound:
		return -32002
	case ToolNotFound:
		return -32003
	case PermissionDenied, ConsentRequired, AuthDenied:
		return -32004
	case InvalidParams:
		return -32005
	case AutomationNotSupported:
		return -32006
	case DescriptorInvalid:
		return -32007
	case Timeout:
		return -32008
	case AppNotRunning:
		return -32009
	case ScriptParseError:
		return -32010
	case AuthRequired:
		return -32011
	case AuthExpired:
		return -32012
	case APIRequestFailed:
		return -32013
	case AuthInvalid:
		return -32014
	case RateLimited:
		return -32000
	case RecordFailed, Internal:
	}
	return -32603
}

// Alias returns the code's other name on the AAI protocol's page on errors, or "".
func (c Code) Alias() string {
	switch c {
	case AppNotFound:
		return "UNKNOWN_APP"
	case ToolNotFound:
		return "UNKNOWN_TOOL"
	case InvalidParams:
		return "INVALID_REQUEST"
	case AutomationNotSupported:
		return "NOT_IMPLEMENTED"
	case AppNotRunning:
		return "SERVICE_UNAVAILABLE"
	case AuthInvalid:
		return "AUTH_CONFIG_INVALID"
	}
	return ""
}

// Delivery tells whether the app received the request before the call failed.
type Delivery string

// The delivery of a failed call. The empty value means that nothing was sent, because the call
// never ran or only reads. An Action that fails before it sends anything sets NotDelivered, since
// Do replaces an empty value by DeliveryUnknown.
const (
	NotDelivered    Delivery = "not_delivered"
	Delivered       Delivery = "delivered"
	DeliveryUnknown Delivery = "unknown"
)

// An Error is the failure of a call, in words for its caller.
type Error struct {
	Code     Code
	Message  string // the problem, with the place and the expectation
	Hint     string // next step
	Delivery Delivery
	// Alias is another name of this error in the AAI protocol; empty means that of its code, if
	// any.
	Alias string
	// Query, with code ELEMENT_NOT_FOUND, is the description that no element matches; empty if another part of the call
	// is wrong.
	Query string
	// Candidates are similar existing names, best first.
	Candidates []string
	// RetryAfter is the time to wait before the same call may succeed.
	RetryAfter time.Duration
	// Questions, with code CONSENT_REQUIRED or AMBIGUOUS_TARGET, are for a person to answer
	// before the call can run. A door that cannot ask shows the error as it is.
	Questions []Question
	// Needs, with code CONSENT_REQUIRED, is the missing permission.
	Needs *Needs
	// Call is the ID of the failed call among several admitted together; empty if a person's
	// answer concerns all of them.
	Call string
	// Data is a partial result for programs: a JSON value, such as the report of a workflow with
	// a failed step, or nil.
	Data any
	// Undo reverts a partial effect, such as half of an action; nil means that no effect is
	// known. It is for the gateway's own packages; doors do not show it.
	Undo *Undo
	// LoginURL, with code AUTH_REQUIRED or AUTH_EXPIRED, is the https page where a person logs
	// in. The call may be repeated after that.
	LoginURL string
	// AppResponded, with code TIMEOUT, reports that the app responds although the awaited
	// condition did not occur. The app does not count as hung.
	AppResponded bool
	// Err is the cause. It goes to the log, never to the caller.
	Err error
}

// Needs describes a missing permission, for doors that show it in the protocol's form.
type Needs struct {
	App, AppName string
	Tool         string // the permission, as returned by Request.Permission
	Description  string // of the tool; third-party text
	// URL is an address for user interfaces: "aai://consent?app=…&tool=…".
	URL string
}

// Error returns the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ProtocolCode returns the protocol's other name for the error, or "".
func (e *Error) ProtocolCode() string {
	if e.Alias != "" {
		return e.Alias
	}
	return e.Code.Alias()
}

// RetrySafe reports whether a repeated call cannot do the same thing twice.
func (e *Error) RetrySafe() bool { return e.Delivery == "" || e.Delivery == NotDelivered }

// Errorf returns an Error with a message formatted as by fmt.Sprintf. An error wrapped by %w
// becomes its cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// AsError returns the *Error that err is or wraps. Any other error becomes TIMEOUT if a deadline
// passed, otherwise AUTOMATION_FAILED. An *Error that is nil or has no code is a bug in the
// gateway and becomes INTERNAL. AsError returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return normalized(e)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Code: Timeout, Message: "the deadline passed before the app answered", Delivery: DeliveryUnknown, Err: err}
	}
	if errors.Is(err, context.Canceled) {
		return &Error{Code: AutomationFailed, Message: cancelledMessage, Delivery: DeliveryUnknown, Err: err}
	}
	return &Error{Code: AutomationFailed, Message: err.Error(), Delivery: DeliveryUnknown, Err: err}
}

// cancelledMessage is the message of a call that its caller cancelled.
const cancelledMessage = "the caller cancelled the call"

// IsCancellation reports whether the code and message of an Entry are those of a cancelled call.
// It is not certain, since an app may use the same message.
func IsCancellation(code Code, message string) bool {
	return code == AutomationFailed && (strings.HasSuffix(message, cancelledMessage) || strings.HasSuffix(message, context.Canceled.Error()))
}

// normalized returns an Error with a code. A nil *Error must not pass as an admission, nor an
// Error without a code as a successful outcome in the journal.
func normalized(e *Error) *Error {
	switch {
	case e == nil:
		return &Error{Code: Internal, Message: "the gateway failed without an error message", Delivery: DeliveryUnknown}
	case e.Code == "":
		coded := *e
		coded.Code = Internal
		return &coded
	}
	return e
}
