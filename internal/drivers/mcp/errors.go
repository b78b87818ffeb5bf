package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// stderrGrace is how long a server that broke may take to end, for its last words.
const stderrGrace = time.Second

// maxWords is how much of a server's words an error repeats, in bytes.
const maxWords = 2000

// undeliveredError is an error of which nothing was delivered.
func undeliveredError(code aai.Code, hint, format string, args ...any) *aai.Error {
	e := aai.Errorf(code, format, args...)
	e.Delivery, e.Hint = aai.NotDelivered, hint
	return e
}

// serverFault is why a server may not go on: it did what none should.
type serverFault struct{ what string }

func (f *serverFault) Error() string { return f.what }

func newServerFault(format string, args ...any) *serverFault {
	return &serverFault{fmt.Sprintf(format, args...)}
}

// requestError is the error of a request that a session could not end well. What of it the
// server got depends on where it failed.
func (s *session) requestError(ctx context.Context, err error) *aai.Error {
	if e, ok := errors.AsType[*aai.Error](err); ok {
		return e
	}
	if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok && s.endFault() == nil && !unsent(refusal) {
		e := aai.Errorf(aai.AutomationFailed, "the MCP server of %s answered with error %d: %s", s.app, refusal.Code, s.quote(refusal.Message))
		if refusal.Code == jsonrpc.CodeInvalidParams {
			e.Code = aai.InvalidParams
		}
		e.Delivery = aai.Delivered
		return e
	}
	ended := errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || s.hasEnded()
	if ended && s.process != nil {
		s.process.WaitExit(stderrGrace) // for its last words
	}
	e := &aai.Error{Code: aai.AutomationFailed, Delivery: aai.DeliveryUnknown, Err: err}
	switch why := s.endFault(); {
	case ctx.Err() != nil:
		e.Code = aai.AsError(ctx.Err()).Code
		e.Message = fmt.Sprintf("the MCP server of %s had not answered when the call's time was over; it was told to stop", s.app)
		e.Hint = "Look whether it has acted before you try again."
	case why != nil:
		e.Message = fmt.Sprintf("the MCP server of %s was ended: it %s", s.app, why.what)
		e.Hint = "The person can look at the server, and at the log of the gateway."
	case ended:
		e.Code = aai.AppNotRunning
		e.Message = fmt.Sprintf("the MCP server of %s ended before it had answered", s.app) + s.lastStderr()
		e.Hint = "It is started again by the next call. Look whether it has acted before you try again."
	default:
		e.Message = fmt.Sprintf("the MCP server of %s gave no answer that can be read: %s", s.app, s.quote(err.Error()))
	}
	return e
}

// unsent reports whether an error is not the server's but the SDK's own, for a request that got no
// answer over HTTP: whether the server has it nobody knows.
func unsent(e *jsonrpc.Error) bool {
	return e.Code == codeRejected && e.Message == "rejected by transport"
}

// codeRejected is the SDK's, which does not export it.
const codeRejected = -32005

// quote is a server's words, without what it was given in secret.
func (s *session) quote(words string) string {
	if s.redactor != nil {
		words = s.redactor.Redact(words)
	}
	return sanitize.Quote(words, maxWords)
}

// lastStderr is what a server that ended said last on standard error.
func (s *session) lastStderr() string {
	if s.process == nil {
		return ""
	}
	if words := s.stderr.last(); words != "" {
		return ": " + s.quote(words)
	}
	return ""
}
