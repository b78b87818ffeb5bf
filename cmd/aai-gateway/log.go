package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit/kept"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// logger returns the log: as text on standard error, or as JSON in the configured file. It omits the person's
// secrets, which may be in words of an app.
func (p *program) logger(cfg *setup) (*slog.Logger, io.Closer, error) {
	options := &slog.HandlerOptions{Level: cfg.LogLevel, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		return withoutHidden(a, &cfg.secretValues)
	}}
	if cfg.LogFile == "" {
		return slog.New(slog.NewTextHandler(p.err, options)), io.NopCloser(nil), nil
	}
	if info, err := os.Stat(cfg.LogFile); err == nil && !info.Mode().IsRegular() {
		// Opening a named pipe would block.
		return nil, nil, invalid("logFile: %s is no regular file; expected one", cfg.LogFile)
	}
	f, err := os.OpenFile(cfg.LogFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, invalid("logFile: the log cannot be written: %w", err)
	}
	return slog.New(slog.NewJSONHandler(f, options)), f, nil
}

// withoutHidden returns an attribute of the log without the secrets.
func withoutHidden(a slog.Attr, hidden *sanitize.SecretSet) slog.Attr {
	if hidden.IsEmpty() || a.Value.Kind() != slog.KindString && a.Value.Kind() != slog.KindAny {
		return a
	}
	text := a.Value.String()
	if plain := hidden.Redact(text); plain != text {
		return slog.String(a.Key, plain)
	}
	return a
}

// operationLog logs the end of each call, in addition to the journal. The log has neither
// arguments nor error texts, which may quote arguments: only the journal keeps those.
type operationLog struct {
	aai.Journal
	log         *slog.Logger
	onMutation  func() // called when an act begins and ends; may be nil
	keptResults *kept.ResultStore
	open        sync.Map // started calls by id
}

// startedCall is a call's data for the log.
type startedCall struct{ caller, app, tool string }

// Ready implements aai.ReadyJournal.
func (o *operationLog) Ready(ctx context.Context) error {
	j, ok := o.Journal.(aai.ReadyJournal)
	if !ok {
		return nil
	}
	err := j.Ready(ctx)
	if err != nil {
		o.log.ErrorContext(ctx, "the journal cannot be written", "cause", err)
	}
	return err
}

// Record implements aai.Journal.
func (o *operationLog) Record(ctx context.Context, e *aai.Entry) error {
	if acted := e.Kind == aai.Intent || e.Kind == aai.Outcome && e.Effect != aai.Reads; acted && o.onMutation != nil {
		o.onMutation()
	}
	e, keep := o.keptResults.PrepareEntry(ctx, e)
	err := o.Journal.Record(ctx, e)
	withheld := e.Precondition != nil && e.Precondition() != nil
	switch {
	case err == nil:
		keep()
	case !withheld:
		o.log.ErrorContext(ctx, "the journal cannot be written", "call", e.Call, "cause", err)
	}
	who := startedCall{e.Caller.String(), e.App, e.Tool}
	switch {
	case e.Kind == aai.Outcome:
		o.ended(ctx, e, who)
	case e.Caller.Door != "" && err == nil: // otherwise the call ends here
		o.open.Store(e.Call, who)
		o.log.DebugContext(ctx, "call received", "call", e.Call, "caller", who.caller, "app", e.App, "tool", e.Tool)
	}
	return err
}

// ended logs a call with a recorded outcome. The caller comes from the first entry of the call,
// which may be this one.
func (o *operationLog) ended(ctx context.Context, e *aai.Entry, call startedCall) {
	if kept, ok := o.open.LoadAndDelete(e.Call); ok {
		call, _ = kept.(startedCall)
	}
	about := []any{"call", e.Call, "caller", call.caller, "app", call.app, "tool", call.tool, "elapsed", e.Elapsed}
	switch {
	case strings.HasPrefix(call.caller, aai.DoorWeb+":") && aai.IsCancellation(e.Code, e.Message):
		o.log.DebugContext(ctx, "call cancelled", about...) // a browser that navigates away is no failure
	case e.Code != "":
		o.log.InfoContext(ctx, "call failed", append(about, "code", string(e.Code))...)
	default:
		o.log.DebugContext(ctx, "call done", about...) // the journal has it; only failures are logged above debug level
	}
}
