package httpdoor

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// ReadBody reads the body of a request, with limits on its length and time. It first waits while
// other requests of the caller start. The handler calls end when the request has started, so that
// the caller's next one can. ok is false if ReadBody has refused the request, or if the client has
// disconnected.
func (s *Server) ReadBody(w http.ResponseWriter, r *http.Request) (body []byte, end func(), ok bool) {
	x := FromContext(r.Context())
	free, refused := s.reserveBody(r, x)
	if refused != nil {
		s.Refuse(w, *refused)
		return nil, nil, false
	}
	defer free()
	end = s.startLimiter.begin(x.ctx, x.Principal, bodyWait)
	if end == nil {
		return nil, nil, false
	}
	body, refused = s.readBody(w, r)
	end()
	if refused != nil { // the time may be over for waiting requests, too
		s.Refuse(w, *refused)
		return nil, nil, false
	}
	if end = s.startLimiter.begin(x.ctx, x.Principal, s.limits.StartInterval); end == nil {
		return nil, nil, false
	}
	return body, end, true
}

// reserveBody waits until the body fits into the limit for pending bodies of the caller. It holds
// the body's size until free is called, since slow and waiting bodies take memory.
func (s *Server) reserveBody(r *http.Request, x *Exchange) (free func(), refused *Refusal) {
	size := r.ContentLength
	if size < 0 || size > s.limits.MaxBody {
		size = s.limits.MaxBody
	}
	ctx, cancel := context.WithTimeout(x.ctx, s.limits.BodyTimeout)
	defer cancel()
	free = s.startLimiter.reserveBytes(ctx, x.Principal, min(size, maxPendingBytes))
	if free == nil {
		return nil, &Refusal{Status: http.StatusRequestTimeout, Message: "too much is being sent by this caller at once"}
	}
	return free, nil
}

func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *Refusal) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.limits.MaxBody))
	if err == nil {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // fails only for writers of tests
	}
	_, tooLong := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLong:
		return nil, &Refusal{Status: http.StatusRequestEntityTooLarge, Message: "the body is too long; see the documentation for the limits"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &Refusal{Status: http.StatusRequestTimeout, Message: "the body did not arrive in time"}
	case err != nil:
		return nil, &Refusal{Status: http.StatusBadRequest, Message: "the body cannot be read"}
	}
	return b, nil
}
