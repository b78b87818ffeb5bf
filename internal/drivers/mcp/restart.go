package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// lostKey is the context's key of a flag that the transport sets if the server does not know the session of a request.
type lostKey struct{}

// withSession runs act on the server's session. A server that does not know the session has not run the request: act
// then runs on a new session, once.
func (s *server) withSession(ctx context.Context, act func(context.Context, *session) (*aai.Result, error)) (*aai.Result, error) {
	for again := false; ; again = true {
		live, failure := s.acquire(ctx)
		if failure != nil {
			return nil, failure
		}
		lost := new(atomic.Bool)
		result, err := act(context.WithValue(ctx, lostKey{}, lost), live)
		s.release()
		// Other requests of a lost session also end, but may have been run.
		if again || !lost.Load() || !errors.Is(err, sdk.ErrSessionMissing) {
			return result, err
		}
		s.mu.Lock()
		if s.live == live {
			s.live = nil
		}
		s.mu.Unlock()
		live.close(false)
	}
}

// failed counts a failure. The caller holds mu.
func (s *server) failed() {
	longest := maxBackOff
	if s.recipe.MCP.URL != "" {
		longest = time.Second // no process has to start
	}
	if s.failures++; s.failures > freeStarts {
		s.restUntil = time.Now().Add(min(time.Second<<min(s.failures-freeStarts-1, 10), longest))
	}
}

// resetFailures clears the count of failures after a request succeeded.
func (s *server) resetFailures() {
	s.mu.Lock()
	s.failures = 0
	s.mu.Unlock()
}

// watch waits for the end of a session. A server at an address that has lost the session was probably restarted: the
// new session lists its tools.
func (s *server) watch(live *session) {
	<-live.ended
	s.mu.Lock()
	unintended, lost := s.live == live, live.lost.Load()
	if unintended {
		s.live = nil
	}
	if unintended && !lost {
		s.failed()
	}
	s.mu.Unlock()
	if unintended && lost {
		ctx, cancel := context.WithTimeout(aai.NonInteractive(context.Background()), maxRelist)
		defer cancel()
		if _, err := s.acquire(ctx); err == nil {
			s.release()
		}
	}
}

// restError returns the error of a call during the pause after failures. The caller holds mu.
func (s *server) restError(left time.Duration) *aai.Error {
	e := undeliveredError(aai.AppNotRunning, "The gateway's log has its output.",
		"the MCP server of %s ended by itself %d times; it is started again in %s at the earliest",
		s.recipe.App, s.failures, left.Round(time.Second))
	if s.recipe.MCP.URL != "" {
		e.Hint, e.Message = hintUnreachable, fmt.Sprintf("the MCP server of %s could not be reached %d times in a row; try again in a second",
			s.recipe.App, s.failures)
	}
	e.RetryAfter = left
	return e
}

// hintUnreachable is the hint for a server at an address that does not answer.
const hintUnreachable = "The person can check whether the server runs at its address."
