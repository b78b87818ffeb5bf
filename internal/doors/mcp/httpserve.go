package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Serve serves the listener until ctx ends, and closes both. Streams that would
// last end at once then, requests have two seconds to be answered, and what is
// still running is cancelled and left behind. It returns the context's error, or
// what was wrong with the listener.
func (h *HTTPServer) Serve(ctx context.Context, l net.Listener) error {
	defer h.Close()
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       unusedTimeout,
		MaxHeaderBytes:    maxHeader - 4096, // Go adds as much
		ConnContext:       withVisitor,
		ErrorLog:          slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	l = newDoorway(l, connsFor(h.cfg.Auth != nil))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	_ = l.Close() // nobody more
	for _, x := range h.open.all(true) {
		x.cancel()
	}
	if !h.open.wait(time.After(lastWords)) {
		h.log.Warn("the door closes although calls are still running")
	}
	h.Close()
	if err := server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		h.log.Debug("closing the HTTP server", "cause", err)
	}
	<-ended
	return ctx.Err()
}
