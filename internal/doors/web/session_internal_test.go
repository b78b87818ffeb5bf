package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestSessionsEnd checks that an unused session ends, that a used one continues, and that after a
// logout copies of the cookie are useless.
func TestSessionsEnd(t *testing.T) {
	now := time.Now()
	all := sessions{all: make(map[string]*session)}
	with := func(c *http.Cookie) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.AddCookie(c)
		return r
	}
	first, used := all.begin(now)
	_, idle := all.begin(now)
	half := now.Add(sessionIdle * 2 / 3)
	assert.Check(t, is.Equal(all.find(with(used), half), first), "one that is used ends")
	late := now.Add(sessionIdle + time.Second)
	assert.Check(t, all.find(with(idle), late) == nil, "one that nobody used goes on")
	assert.Check(t, all.find(with(used), late) != nil, "one that was used meanwhile has ended")
	all.end(with(used))
	assert.Check(t, all.find(with(used), late) == nil, "a copy of the cookie lets in who has left")
}

// TestOnlyOwnAddresses checks that redirects lead only to the door's own pages, whatever a form contains.
func TestOnlyOwnAddresses(t *testing.T) {
	d, err := New(Config{})
	assert.NilError(t, err)
	for address, want := range map[string]string{
		"/history?app=a": "/history?app=a", "/settings/logLevel": "/settings/logLevel",
		"http://evil.example/": "/now", "//evil.example/": "/now", "/\\evil.example": "/now", "///evil.example": "/now", "////evil.example": "/now",
		"javascript:alert(1)": "/now", "history": "/now", "": "/now", "\\\\evil.example": "/now", "/%zz": "/now", "//[": "/now",
	} {
		assert.Check(t, is.Equal(d.localAddress(address), want), "%q", address)
	}
}

// countingJournal is a journal that counts its records.
type countingJournal struct{ lines int }

func (c *countingJournal) Record(context.Context, *aai.Entry) error { c.lines++; return nil }

// TestCancelledPageReadsNothing checks that a disconnected page makes no more calls, which the history
// would show as failures; the call of a form is recorded all the same.
func TestCancelledPageReadsNothing(t *testing.T) {
	record := new(countingJournal)
	d, err := New(Config{Gateway: &gateway.Gateway{Journal: record}})
	assert.NilError(t, err)
	left, leave := context.WithCancel(t.Context())
	v := &pageRequest{ctx: left, door: d, session: new(session)}
	calls := func(want int) {
		t.Helper()
		if _, err := v.call("history", nil); err == nil || record.lines != want {
			t.Errorf("%d lines are on record, want %d: %v", record.lines, want, err)
		}
	}
	calls(1) // the gateway has no apps; the failed call is recorded
	leave()
	calls(1)
	v.form = url.Values{}
	calls(2)
}

// TestAPersonsTimeIsRounded checks that the waiting time for the person has a precision of a
// millisecond, for windows, as recorded, and for the terminal; the duration of the call excludes it.
func TestAPersonsTimeIsRounded(t *testing.T) {
	var s storyPageData
	s.Steps = make([]answer.TraceStep, 2)
	s.Steps[0].PersonWaitMillis, s.Steps[1].PersonWaitMillis = 1200.4567, 0.2
	got := s.Person()
	assert.Check(t, got == 1201*time.Millisecond, "in a window: %v", got)
	d, err := New(Config{Gateway: new(gateway.Gateway)})
	assert.NilError(t, err)
	var told toolTrial
	told.setDuration(&pageRequest{ctx: t.Context(), door: d, session: new(session), terminalWait: 1_234_567_890}, 2*time.Second)
	assert.Check(t, told.Person == 1235*time.Millisecond, "at the terminal: %v, and the call took %v", told.Person, told.Took)
	assert.Check(t, told.Took == 765_432_110, "at the terminal: %v, and the call took %v", told.Person, told.Took)
}
