package aai

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Code says what kind of thing went wrong. Programs decide by it.
type Code string

// The codes, as the AAI protocol names them, and a few of our own.
const (
	AutomationFailed       Code = "AUTOMATION_FAILED"
	AppNotFound            Code = "APP_NOT_FOUND"
	ToolNotFound           Code = "TOOL_NOT_FOUND"
	PermissionDenied       Code = "PERMISSION_DENIED"
	ConsentRequired        Code = "CONSENT_REQUIRED"
	InvalidParams          Code = "INVALID_PARAMS"
	AutomationNotSupported Code = "AUTOMATION_NOT_SUPPORTED"
	DescriptorInvalid      Code = "AAI_JSON_INVALID"
	Timeout                Code = "TIMEOUT"
	AppNotRunning          Code = "APP_NOT_RUNNING"
	ScriptParseError       Code = "SCRIPT_PARSE_ERROR" // what an app was given to run is no script that it can read
	StaleRef               Code = "STALE_REF"          // the element that was meant is gone
	AmbiguousTarget        Code = "AMBIGUOUS_TARGET"   // several things are meant; Candidates has them
	ElementNotFound        Code = "ELEMENT_NOT_FOUND"  // nothing is meant; Candidates has what is near
	AuthRequired           Code = "AUTH_REQUIRED"      // a person must log in first
	AuthExpired            Code = "AUTH_EXPIRED"       // and must do so again
	AuthDenied             Code = "AUTH_DENIED"        // the app refused the one who is logged in
	AuthInvalid            Code = "AUTH_INVALID"       // the way to log in cannot be right or safe
	APIRequestFailed       Code = "API_REQUEST_FAILED"
	RateLimited            Code = "RATE_LIMITED" // RetryAfter says for how long
	RecordFailed           Code = "RECORD_FAILED"
	Internal               Code = "INTERNAL"
)

// Number returns the code's JSON-RPC number in the AAI protocol, section 2.7,
// where it has one, and otherwise JSON-RPC's "internal error".
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

// Alias returns what the AAI protocol's page on errors calls the code, where that has
// another name for it, and otherwise "".
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

// Delivery says whether the app got the request before things went wrong.
type Delivery string

// What is known about the delivery of a failed call. The empty value means that
// nothing was sent because the call never began to run, or only reads: an Action that
// fails before it sent anything says NotDelivered, since Do takes its silence for
// DeliveryUnknown.
const (
	NotDelivered    Delivery = "not_delivered"
	Delivered       Delivery = "delivered"
	DeliveryUnknown Delivery = "unknown"
)

// An Error is how a call fails, in words for the one who made it.
type Error struct {
	Code     Code
	Message  string // what went wrong, naming the place and what was expected
	Hint     string // what to try next
	Delivery Delivery
	// Alias is what the AAI protocol calls this error besides; empty: as its code, if that
	// has another name.
	Alias string
	// Candidates are the names that might have been meant, best first.
	Candidates []string
	// RetryAfter is how long to wait before the same call may succeed.
	RetryAfter time.Duration
	// Questions, with code CONSENT_REQUIRED or AMBIGUOUS_TARGET, are what a person
	// must answer before the call can run. A door that cannot ask shows the error as it is.
	Questions []Question
	// Needs, with code CONSENT_REQUIRED, is what a person must allow first.
	Needs *Needs
	// Call is the ID of the call that it is about, of several that were to be admitted; empty
	// where it is a person's word about all of them.
	Call string
	// Data is what came of the call all the same, for programs: a JSON value, such as the
	// report of a workflow of which a step failed. Nil where there is nothing.
	Data any
	// Undo is how what was done all the same is taken back, such as the half of an act; nil:
	// nothing is known to be done. It is for the gateway's own rooms: doors do not show it.
	Undo *Undo
	// Visit, with code AUTH_REQUIRED or AUTH_EXPIRED, is the https page where a person
	// logs in. The call may be made again when that is done.
	Visit string
	// Answered, with code TIMEOUT, says that the app does answer: what was waited for in it
	// has not come. It is no reason to keep other calls from it.
	Answered bool
	// Err is the cause. It goes to the log, never to the caller.
	Err error
}

// Needs names a permission, for doors that show it in the protocol's form.
type Needs struct {
	App, AppName string
	Tool         string // the permission, as Request.Permission names it
	Description  string // of the tool: a stranger's words
	// URL is where a program for people may take it from: "aai://consent?app=…&tool=…".
	URL string
}

// Error returns the message with its code.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// AlsoCalled returns the protocol's other name for the error, or "".
func (e *Error) AlsoCalled() string {
	if e.Alias != "" {
		return e.Alias
	}
	return e.Code.Alias()
}

// RetrySafe reports whether the same call may be made again without the risk of
// doing the same thing twice.
func (e *Error) RetrySafe() bool { return e.Delivery == "" || e.Delivery == NotDelivered }

// Errorf makes an Error with a message in the manner of fmt.Sprintf. An error
// among the arguments becomes its cause when the format wraps it with %w.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// AsError turns any error into an *Error. One that is not an *Error becomes
// TIMEOUT if a deadline passed and AUTOMATION_FAILED otherwise. An *Error that is
// nil or has no code is a fault of our own and becomes INTERNAL. It returns nil
// for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return sound(e)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Code: Timeout, Message: "the deadline passed before the app answered", Delivery: DeliveryUnknown, Err: err}
	}
	if errors.Is(err, context.Canceled) {
		return &Error{Code: AutomationFailed, Message: "the caller cancelled the call", Delivery: DeliveryUnknown, Err: err}
	}
	return &Error{Code: AutomationFailed, Message: err.Error(), Delivery: DeliveryUnknown, Err: err}
}

// sound returns an Error that can be told from success: a nil one must not pass
// as an admission, nor one without a code as a good outcome on record.
func sound(e *Error) *Error {
	switch {
	case e == nil:
		return &Error{Code: Internal, Message: "the gateway failed without saying why", Delivery: DeliveryUnknown}
	case e.Code == "":
		coded := *e
		coded.Code = Internal
		return &coded
	}
	return e
}
