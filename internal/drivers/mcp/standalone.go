package mcp

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// Headers of the Streamable HTTP transport.
const (
	sessionHeader     = "Mcp-Session-Id"
	lastEventIDHeader = "Last-Event-ID"
)

// Pauses before a standalone stream is requested again.
const (
	minReopenPause = time.Second
	maxReopenPause = 30 * time.Second
)

// maxStreamRetries limits the requests for the rest of an interrupted answer, if the server numbers its events.
const maxStreamRetries = 3

// A standaloneStream is the body of the stream on which a server sends notifications. The server, or a proxy in front
// of it, may end that stream at any time without an end of the session; the SDK would end the session, and fail its
// calls. So a standaloneStream requests it again.
type standaloneStream struct {
	transport *authTransport
	req       *http.Request
	body      io.ReadCloser
	read      []byte // the beginning of a line
	ready     []byte // complete lines
	opened    time.Time
	pause     time.Duration // before the next request
}

// isStandalone reports whether a request is for a standalone stream.
func isStandalone(req *http.Request) bool {
	return req.Method == http.MethodGet && req.Header.Get(lastEventIDHeader) == ""
}

// Read implements io.Reader. It returns io.EOF once the session has ended.
func (s *standaloneStream) Read(p []byte) (int, error) {
	buffer := make([]byte, 4<<10)
	for len(s.ready) == 0 {
		n, err := s.body.Read(buffer)
		s.read = append(s.read, buffer[:n]...)
		if end := bytes.LastIndexByte(s.read, '\n') + 1; end > 0 {
			s.ready, s.read = bytes.Clone(s.read[:end]), s.read[end:]
		}
		if err == nil {
			continue
		}
		if !s.reopen() {
			return 0, io.EOF
		}
		// A partial event ends here. The SDK ignores events of other names than "message".
		s.read, s.ready = nil, append(s.ready, "event: interrupted\n\n"...)
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

// reopen requests the stream until it is open, and reports false if the session has ended. The server may have sent
// notifications in the meantime, so the tools are listed again.
func (s *standaloneStream) reopen() bool {
	_ = s.body.Close()
	s.transport.live.stale.Store(true) // the server may be another one by now
	if time.Since(s.opened) > s.pause {
		s.pause = minReopenPause
	}
	for aai.Sleep(s.req.Context(), s.pause) == nil {
		s.pause = min(2*s.pause, maxReopenPause)
		resp, err := s.transport.send(s.req)
		if err != nil {
			continue
		}
		if resp.StatusCode == http.StatusOK && isStream(resp) {
			s.body, s.opened = resp.Body, time.Now()
			s.transport.server.listingChanged(s.transport.live)
			return true
		}
		_ = resp.Body.Close()
		switch {
		case resp.StatusCode == http.StatusNotFound:
			s.transport.live.lost.Store(true)
			return false
		case resp.StatusCode < http.StatusInternalServerError: // the session continues without the stream
			<-s.req.Context().Done()
		}
	}
	return false
}

// Close implements io.Closer.
func (s *standaloneStream) Close() error { return s.body.Close() }

// isSessionLost reports whether a response says that the server does not know the session of the request. MCP requires
// the status 404 for that; widely used servers answer 400 and name the session.
func isSessionLost(req *http.Request, resp *http.Response, body []byte) bool {
	if req.Header.Get(sessionHeader) == "" || req.Method == http.MethodDelete {
		return false
	}
	return resp.StatusCode == http.StatusNotFound ||
		resp.StatusCode == http.StatusBadRequest && strings.Contains(strings.ToLower(string(body)), "session")
}
