package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"aai"
)

// logger returns the log: for people on standard error, or in the file that the
// configuration names, as JSON.
func (p *program) logger(cfg *config) (*slog.Logger, io.Closer, error) {
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFile == "" {
		return slog.New(slog.NewTextHandler(p.err, options)), io.NopCloser(nil), nil
	}
	f, err := os.OpenFile(cfg.LogFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, aai.Errorf(aai.InvalidParams, "logFile: the log cannot be written: %w", err)
	}
	return slog.New(slog.NewJSONHandler(f, options)), f, nil
}

// operationLog tells the log how each call ended, beside keeping it in the
// journal. The log has no arguments: those are the journal's to redact.
type operationLog struct {
	aai.Journal
	log *slog.Logger
}

// Record implements aai.Journal.
func (o operationLog) Record(ctx context.Context, e *aai.Entry) error {
	err := o.Journal.Record(ctx, e)
	switch {
	case err != nil:
		o.log.ErrorContext(ctx, "the journal cannot be written", "call", e.Call, "cause", err)
	case e.Kind == aai.Received:
		o.log.DebugContext(ctx, "call received", "call", e.Call, "caller", e.Caller.String(), "app", e.App, "tool", e.Tool)
	case e.Kind == aai.Outcome && e.Code != "":
		o.log.InfoContext(ctx, "call failed", "call", e.Call, "code", string(e.Code), "message", e.Message, "elapsed", e.Elapsed)
	case e.Kind == aai.Outcome:
		o.log.InfoContext(ctx, "call done", "call", e.Call, "elapsed", e.Elapsed)
	}
	return err
}
