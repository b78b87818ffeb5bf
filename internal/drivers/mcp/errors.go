package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// stderrGrace is the time to wait for a broken server to exit, to read its last standard error.
const stderrGrace = time.Second

// maxWords is the limit, in bytes, for a server's text in an error.
const maxWords = 2000

// undeliveredError returns an error with Delivery set to NotDelivered.
func undeliveredError(code aai.Code, hint, format string, args ...any) *aai.Error {
	e := aai.Errorf(code, format, args...)
	e.Delivery, e.Hint = aai.NotDelivered, hint
	return e
}

// serverFault is a protocol violation for which the driver ends a server.
type serverFault struct{ what string }

func (f *serverFault) Error() string { return f.what }

func newServerFault(format string, args ...any) *serverFault {
	return &serverFault{fmt.Sprintf(format, args...)}
}

// requestError converts the error of a request. Its Delivery depends on where the request failed.
func (s *session) requestError(ctx context.Context, err error) *aai.Error {
	if e, ok := errors.AsType[*aai.Error](err); ok {
		if e.Code == aai.AppNotRunning && s.process == nil {
			return s.unreachableError(e)
		}
		return e
	}
	if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok && s.endFault() == nil && !unsent(refusal) {
		e := aai.Errorf(aai.AutomationFailed, "the MCP server of %s answered with error %d: %s", s.app, refusal.Code,
			s.quote(refusal.Message))
		if refusal.Code == jsonrpc.CodeInvalidParams {
			e.Code = aai.InvalidParams
		}
		e.Delivery = aai.Delivered
		return e
	}
	ended := isInterrupted(err) || errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) ||
		s.hasEnded()
	if ended && s.process != nil {
		s.process.WaitExit(stderrGrace) // to read its last standard error
	}
	e := &aai.Error{Code: aai.AutomationFailed, Delivery: aai.DeliveryUnknown, Err: err}
	switch why := s.endFault(); {
	case ctx.Err() != nil:
		e.Code = aai.AsError(ctx.Err()).Code
		e.Message = fmt.Sprintf("the MCP server of %s had not answered at the deadline; the call was cancelled", s.app)
		e.Hint = "Check whether it has acted before you try again."
	case why != nil:
		e.Message = fmt.Sprintf("the MCP server of %s was stopped: it %s", s.app, why.what)
		e.Hint = "The person can check the server, and the gateway's log."
	case ended:
		e.Code = aai.AppNotRunning
		e.Message = fmt.Sprintf("the MCP server of %s ended before it answered", s.app) + s.lastStderr()
		e.Hint = "The next call starts it again. Check whether it has acted before you try again."
		if s.process == nil {
			e.Message = fmt.Sprintf("the MCP server of %s ended before it answered, or its connection", s.app)
			e.Hint = "The next call connects again. Check whether it has acted before you try again."
		}
	default:
		e.Message = fmt.Sprintf("the MCP server of %s sent an answer that cannot be read: %s", s.app, s.quote(err.Error()))
	}
	return e
}

// unreachableError returns the error of a server at an address that cannot be reached.
func (s *session) unreachableError(cause *aai.Error) *aai.Error {
	e := *cause
	e.Message = fmt.Sprintf("the MCP server of %s: %s", s.app, s.secrets.Redact(cause.Message))
	e.Hint = hintUnreachable
	return &e
}

// unsent reports whether the SDK itself made the error, for an HTTP request without a response. The
// delivery is then unknown.
func unsent(e *jsonrpc.Error) bool {
	return e.Code == codeRejected && e.Message == "rejected by transport"
}

// isInterrupted reports whether the stream of an answer over HTTP ended before the answer. The SDK has no error value
// for that.
func isInterrupted(err error) bool {
	return slices.ContainsFunc([]string{"request terminated without response", "failed to reconnect", "without progress"},
		func(words string) bool { return strings.Contains(err.Error(), words) })
}

// codeRejected is a code of the SDK, which does not export it.
const codeRejected = -32005

// quote returns a server's text with secrets redacted.
func (s *session) quote(words string) string {
	return sanitize.Quote(s.secrets.Redact(words), maxWords)
}

// lastStderr returns the last standard error of an ended server.
func (s *session) lastStderr() string {
	if s.process == nil {
		return ""
	}
	if words := s.stderr.last(); words != "" {
		return ": " + s.quote(words)
	}
	return ""
}
