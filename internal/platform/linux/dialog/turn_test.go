package dialog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// ask lets a person answer one question in a second, and returns the result.
func ask(t *testing.T, d *Dialog) string {
	t.Helper()
	return askFor(t, d, "/usr/bin/agent")
}

func askFor(t *testing.T, d *Dialog, by string) string {
	t.Helper()
	q := consent()
	q.CallerIdentity = by
	answer, err := d.Ask(t.Context(), q)
	if e, ok := errors.AsType[*aai.Error](err); ok {
		assert.Check(t, is.Equal(e.Code, aai.ConsentRequired), "%+v", e)
		assert.Check(t, e.RetryAfter > 0, "%+v", e)
		assert.Check(t, e.RetryAfter <= silenceTime, "%+v", e)
		assert.Check(t, is.Equal(answer, (aai.Answer{})), "%+v", e)
		return "left in peace"
	}
	assert.NilError(t, err)
	return answer.Choice
}

func patient() *person { return &person{presses: []string{"Allow once"}, after: 2 * time.Second} }

// TestRateLimit checks the limit of five a minute, and the minute without questions after it.
func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := patient()
		d := newTestDialog(t, 3, p)
		for range maxPerCaller {
			assert.Equal(t, ask(t, d), "once")
		}
		for range 10 {
			assert.Check(t, is.Equal(ask(t, d), "left in peace"))
			time.Sleep(5 * time.Second)
		}
		assert.Check(t, is.Len(p.pages, maxPerCaller), "%d windows were shown", len(p.pages))
		time.Sleep(10 * time.Second)
		assert.Check(t, is.Equal(ask(t, d), "once"))
	})
}

// TestRateLimitPerCaller checks that a caller that asks endlessly, even with cancelled questions or
// another name, silences only itself. All callers together have ten questions a minute.
func TestRateLimitPerCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestDialog(t, 3, patient())
		for range maxPerCaller {
			gone, cancel := context.WithTimeout(t.Context(), time.Second)
			q := consent()
			q.CallerIdentity = "/home/u/evil"
			_, err := d.Ask(gone, q)
			assert.Assert(t, is.ErrorIs(err, context.DeadlineExceeded))
			cancel()
		}
		for range 20 {
			assert.Equal(t, askFor(t, d, "/home/u/evil"), "left in peace")
		}
		for i := range maxTotal - maxPerCaller {
			got := askFor(t, d, "/usr/bin/good")
			assert.Equal(t, got, "once", "question %d of another: %s", i, got)
		}
		assert.Check(t, is.Equal(askFor(t, d, "/usr/bin/third"), "left in peace"), "an eleventh question in a minute")
		time.Sleep(rateWindow)
		assert.Check(t, is.Equal(askFor(t, d, "/usr/bin/third"), "once"))
	})
}

// TestGatewaysCountTogether checks that several gateways of one person share the limits.
func TestGatewaysCountTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newTestDialog(t, 3, patient()), newTestDialog(t, 3, patient())
		two.scheduler.folder = one.scheduler.folder
		for i := range maxPerCaller {
			assert.Equal(t, ask(t, []*Dialog{one, two}[i%2]), "once")
		}
		assert.Check(t, is.Equal(ask(t, two), "left in peace"))
	})
}

// TestTheClockIsSetBack checks that a clock set back does not silence the gateway.
func TestTheClockIsSetBack(t *testing.T) {
	d := newTestDialog(t, 3, patient())
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	d.scheduler.now = func() time.Time { return at }
	take := func() error {
		turn, err := d.scheduler.take(t.Context(), "", "")
		if err == nil {
			turn.end()
		}
		return err
	}
	for range maxPerCaller {
		assert.NilError(t, take())
	}
	assert.Assert(t, take() != nil, "a sixth question in no time")
	at = at.AddDate(-4, 0, 0)
	assert.Check(t, take())
}

// TestADamagedFile checks that an invalid file does not prevent questions.
func TestADamagedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestDialog(t, 3, patient())
		assert.NilError(t, os.WriteFile(d.scheduler.filePath(), []byte("{"), 0o600))
		assert.Check(t, is.Equal(ask(t, d), "once"))
	})
}

// TestOneAtATime checks that one dialog is open at a time, in one gateway and in several,
// and that waiting too long is an error.
func TestOneAtATime(t *testing.T) {
	open := newTestDialog(t, 3, patient())
	turn, err := open.scheduler.take(t.Context(), "", "")
	assert.NilError(t, err)
	other := newTestDialog(t, 3, patient())
	other.scheduler.folder = open.scheduler.folder
	for _, d := range []*Dialog{open, other} {
		d.scheduler.wait = 10 * time.Millisecond
		_, err := d.scheduler.take(t.Context(), "", "")
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "a second dialog: %v", err)
		assert.Equal(t, e.Code, aai.ConsentRequired, err)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = d.scheduler.take(gone, "", "")
		assert.Check(t, is.ErrorIs(err, context.Canceled), "who has gone got %v", err)
	}
	turn.end()
	for _, d := range []*Dialog{open, other} {
		turn, err := d.scheduler.take(t.Context(), "", "")
		assert.NilError(t, err)
		turn.end()
	}
}

// TestShows checks that every gateway knows the process of the open window, and only while
// it is open.
func TestShows(t *testing.T) {
	d := newTestDialog(t, 3, patient())
	other := newTestDialog(t, 3)
	other.scheduler.folder = d.scheduler.folder
	shown := func(want bool) {
		t.Helper()
		for _, d := range []*Dialog{d, other} {
			assert.Check(t, !want || d.IsOpen(), "no dialog is said to be open")
			if d.IsShowing(4711) != want || d.IsShowing(4712) || d.IsShowing(0) {
				t.Errorf("the window of 4711 is shown: %v, %v, %v", d.IsShowing(4711), d.IsShowing(4712), d.IsShowing(0))
			}
		}
	}
	shown(false)
	turn, err := d.scheduler.take(t.Context(), "", "")
	assert.NilError(t, err)
	shown(false)
	turn.shows(4711)
	shown(true)
	b, err := os.ReadFile(d.scheduler.filePath())
	assert.NilError(t, err)
	turn.end()
	shown(false)
	assert.Assert(t, !d.IsOpen(), "a dialog is said to be open still")
	assert.Assert(t, !other.IsOpen(), "a dialog is said to be open still")
	// A dead gateway left the file behind, and no lock.
	assert.NilError(t, os.WriteFile(d.scheduler.filePath(), b, 0o600))
	shown(false)
}

// TestNewTouchesNothing checks that no file is written before the first question.
func TestNewTouchesNothing(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "aai")
	d := New(Config{Getenv: func(string) string { return "" }, Folder: folder})
	assert.Check(t, !d.IsShowing(1), "a window")
	assert.Check(t, is.ErrorIs(d.Ready(t.Context()), errNoPresenter))
	_, err := d.Ask(t.Context(), consent())
	assert.Check(t, is.ErrorIs(err, errNoPresenter))
	_, err = os.Stat(folder)
	assert.Check(t, is.ErrorIs(err, os.ErrNotExist))
}

// TestRefusalIsRemembered checks that a refusal answers the same question of the same
// caller for a minute without a window; another question or caller is asked.
func TestRefusalIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &person{presses: []string{"Deny"}, after: 2 * time.Second}
		d := newTestDialog(t, 3, p)
		other := newTestDialog(t, 3, p)
		other.scheduler.folder = d.scheduler.folder
		windows := func(want int) {
			t.Helper()
			assert.Check(t, is.Len(p.pages, want), "%d windows were shown, want %d", len(p.pages), want)
		}
		for range 10 {
			assert.Check(t, is.Equal(ask(t, d)+ask(t, other), "denydeny"))
		}
		windows(1)
		q := consent()
		q.CallerIdentity, q.Text = "/usr/bin/agent", q.Text+"\nAnd more."
		a, err := d.Ask(t.Context(), q)
		assert.NilError(t, err, "%+v", a)
		assert.Equal(t, a.Choice, "deny", "%+v", a)
		assert.Equal(t, a.Seal, q.Seal, "%+v", a)
		windows(2)
		_ = askFor(t, d, "/usr/bin/another")
		windows(3)
		time.Sleep(refusalTTL)
		p.presses = []string{"Allow once"}
		assert.Check(t, is.Equal(ask(t, d)+ask(t, d), "onceonce"))
		windows(5)
	})
}

// TestRefusalIsForgotten checks that IgnoreRecentRefusal asks again at once, within the
// usual limit of five times a minute.
func TestRefusalIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &person{presses: []string{"Deny", "Allow once"}, after: 2 * time.Second}
		d := newTestDialog(t, 3, p)
		q := consent()
		q.CallerIdentity, q.IgnoreRecentRefusal = aai.IdentityPage, true
		for _, want := range []string{"deny", "once"} {
			a, err := d.Ask(t.Context(), q)
			assert.NilError(t, err, "%+v", a)
			assert.Equal(t, a.Choice, want, "%+v", a)
		}
		for range maxPerCaller - 2 {
			_, _ = d.Ask(t.Context(), q)
		}
		a, err := d.Ask(t.Context(), q)
		assert.Check(t, err != nil, "a question too many: %+v", a)
		assert.Check(t, is.Len(p.pages, maxPerCaller), "%d windows were shown", len(p.pages))
	})
}
