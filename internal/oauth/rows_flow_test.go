package oauth_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	defer l.Close() //nolint:errcheck // used only to reserve the port
	return l.Addr().(*net.TCPAddr).Port
}

// TestRow27OneWindow: twenty concurrent calls, one window, twenty tokens.
func TestRow27OneWindow(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if status, err := w.call(t.Context(), w.logins, http.MethodGet); err != nil || status != http.StatusOK {
				t.Errorf("%d, %v", status, err)
			}
		})
	}
	all.Wait()
	n := w.windows.Load()
	assert.Check(t, n == 1, "%d windows", n)
}

// TestRow27DeadlineOfTheCall: the call reports the page before its deadline, and the login
// continues: the repeated call finds the token.
func TestRow27DeadlineOfTheCall(t *testing.T) {
	s := newStage(t)
	e := ends(t, s.authorize(contextWithNearDeadline(t)), aai.AuthRequired)
	at := <-s.requests
	assert.Equal(t, e.LoginURL, at.address.String(), e.Message)
	assert.Assert(t, is.Contains(e.Hint, "same call again"), e.Message)
	assert.Assert(t, is.Contains(s.said.String(), "Waiting for the person"), e.Message)
	status, _ := get(t, at.answer(nil))
	assert.Check(t, is.Equal(status, http.StatusOK), "the login is gone: %d", status)
	assert.Check(t, s.authorize(t.Context()))
	n := s.windows.Load()
	assert.Check(t, n == 1, "%d windows", n)
}

// TestRow27NoBrowser: without a visible browser, the error names the page at once.
func TestRow27NoBrowser(t *testing.T) {
	s := newStage(t)
	for name, change := range map[string]func(*world, *loginConfig){
		"none": withoutBrowser,
		"a broken": func(_ *world, c *loginConfig) {
			c.Browser = func(context.Context, string) error { return errors.New("no display") }
		},
	} {
		s.logins = s.open(change)
		e := ends(t, s.authorize(t.Context()), aai.AuthRequired)
		at := parseAuthorizationRequest(t, e.LoginURL)
		assert.Check(t, is.Contains(e.Hint, "aai-gateway auth login"), name)
		status, _ := get(t, at.answer(nil))
		assert.Check(t, is.Equal(status, http.StatusOK), name)
		assert.Check(t, s.authorize(t.Context()), name)
		_, err := s.logins.Logout(t.Context(), strings.TrimPrefix(s.fake.URL, "http://"))
		assert.NilError(t, err)
	}
}

// TestRow27GivenUp: the login continues after its caller leaves; a logout or the gateway's end
// cancels it and frees its port.
func TestRow27GivenUp(t *testing.T) {
	for name, end := range map[string]func(*fakeServerWorld){
		"logout": func(s *fakeServerWorld) {
			_, _ = s.logins.Logout(context.Background(), strings.TrimPrefix(s.fake.URL, "http://"))
		},
		"close": func(s *fakeServerWorld) { _ = s.logins.Close() },
	} {
		s := newStage(t)
		ctx, leave := context.WithCancel(t.Context())
		ended := s.ask(ctx)
		at := <-s.requests
		leave()
		assert.Check(t, (<-ended) != nil, "%s: the call succeeded", name)
		waiting := s.ask(t.Context())
		status, _ := get(t, at.answer(nil)+"x")
		assert.Check(t, status == http.StatusOK || status == http.StatusBadRequest, "%s: the login is gone: %d", name, status)
		end(s)
		assert.Check(t, (<-waiting) != nil || len(s.fake.asked("/token")) != 0, "%s: a call that waited succeeded", name)
		for i := 0; listening(t, at.redirect.Port()) != nil; i++ {
			assert.Assert(t, i != 50, "%s: the port is still taken", name)
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// TestRow27Brief: in a process that ends with the call, a call begins no login.
func TestRow27Brief(t *testing.T) {
	s := newStage(t)
	s.logins = s.open(s.watched, func(_ *world, c *loginConfig) { c.ShortLived = true })
	e := ends(t, s.authorize(t.Context()), aai.AuthRequired)
	if s.windows.Load() != 0 || e.LoginURL != "" || !strings.Contains(e.Hint, "run: aai-gateway auth login org.example.fake") {
		t.Errorf("%d windows; visit %q; %s", s.windows.Load(), e.LoginURL, e.Hint)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.logins.Login(t.Context(), s.recipe) }()
	_, _ = get(t, (<-s.requests).answer(nil))
	assert.NilError(t, <-ended)
	assert.Check(t, s.authorize(t.Context()))
}

// TestRow27Panic: a panic in one login ends only that login.
func TestRow27Panic(t *testing.T) {
	s := newStage(t)
	s.logins = s.open(func(_ *world, c *loginConfig) { c.Browser = func(context.Context, string) error { panic("a fault") } })
	e := aai.AsError(s.authorize(t.Context()))
	assert.Assert(t, e != nil, e)
	assert.Equal(t, e.Code, aai.Internal, e)
}
