package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
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
		ErrorLog:          slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(limitConns(l, maxConns)) }()
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

// limitConns returns a listener that lets only so many connections be open, so
// that clients cannot use up what files the process may have.
func limitConns(l net.Listener, most int) net.Listener {
	return &limitedListener{Listener: l, room: make(chan struct{}, most), closed: make(chan struct{})}
}

type limitedListener struct {
	net.Listener
	room   chan struct{}
	once   sync.Once
	closed chan struct{}
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.room <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.room
		return nil, err
	}
	return &limitedConn{Conn: c, leave: sync.OnceFunc(func() { <-l.room })}, nil
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
