package dialog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

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
		if e.Code != aai.ConsentRequired || e.RetryAfter <= 0 || e.RetryAfter > silenceTime || answer != (aai.Answer{}) {
			t.Errorf("%+v, %+v", answer, e)
		}
		return "left in peace"
	}
	if err != nil {
		t.Fatal(err)
	}
	return answer.Choice
}

func patient() *person { return &person{presses: []string{"Allow once"}, after: 2 * time.Second} }

// TestRateLimit checks the limit of five a minute, and the minute without questions after it.
func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := patient()
		d := newTestDialog(t, 3, p)
		for range maxPerCaller {
			if got := ask(t, d); got != "once" {
				t.Fatal(got)
			}
		}
		for range 10 {
			if got := ask(t, d); got != "left in peace" {
				t.Error(got)
			}
			time.Sleep(5 * time.Second)
		}
		if len(p.pages) != maxPerCaller {
			t.Errorf("%d windows were shown", len(p.pages))
		}
		time.Sleep(10 * time.Second)
		if got := ask(t, d); got != "once" {
			t.Error(got)
		}
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
			if _, err := d.Ask(gone, q); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			cancel()
		}
		for range 20 {
			if got := askFor(t, d, "/home/u/evil"); got != "left in peace" {
				t.Fatal(got)
			}
		}
		for i := range maxTotal - maxPerCaller {
			if got := askFor(t, d, "/usr/bin/good"); got != "once" {
				t.Fatalf("question %d of another: %s", i, got)
			}
		}
		if got := askFor(t, d, "/usr/bin/third"); got != "left in peace" {
			t.Error("an eleventh question in a minute")
		}
		time.Sleep(rateWindow)
		if got := askFor(t, d, "/usr/bin/third"); got != "once" {
			t.Error(got)
		}
	})
}

// TestSlowQuestionsGoOnForEver checks that occasional questions meet no limit.
func TestSlowQuestionsGoOnForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestDialog(t, 3, patient())
		for range 30 {
			if got := ask(t, d); got != "once" {
				t.Fatal(got)
			}
			time.Sleep(13 * time.Second)
		}
	})
}

// TestGatewaysCountTogether checks that several gateways of one person share the limits.
func TestGatewaysCountTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newTestDialog(t, 3, patient()), newTestDialog(t, 3, patient())
		two.scheduler.folder = one.scheduler.folder
		for i := range maxPerCaller {
			if got := ask(t, []*Dialog{one, two}[i%2]); got != "once" {
				t.Fatal(got)
			}
		}
		if got := ask(t, two); got != "left in peace" {
			t.Error(got)
		}
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
		if err := take(); err != nil {
			t.Fatal(err)
		}
	}
	if err := take(); err == nil {
		t.Fatal("a sixth question in no time")
	}
	at = at.AddDate(-4, 0, 0)
	if err := take(); err != nil {
		t.Error(err)
	}
}

// TestADamagedFile checks that an invalid file does not prevent questions.
func TestADamagedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestDialog(t, 3, patient())
		if err := os.WriteFile(d.scheduler.filePath(), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, d); got != "once" {
			t.Error(got)
		}
	})
}

// TestOneAtATime checks that one dialog is open at a time, in one gateway and in several,
// and that waiting too long is an error.
func TestOneAtATime(t *testing.T) {
	open := newTestDialog(t, 3, patient())
	turn, err := open.scheduler.take(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	other := newTestDialog(t, 3, patient())
	other.scheduler.folder = open.scheduler.folder
	for _, d := range []*Dialog{open, other} {
		d.scheduler.wait = 10 * time.Millisecond
		_, err := d.scheduler.take(t.Context(), "", "")
		if e, ok := errors.AsType[*aai.Error](err); !ok || e.Code != aai.ConsentRequired {
			t.Errorf("a second dialog: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.scheduler.take(gone, "", ""); !errors.Is(err, context.Canceled) {
			t.Errorf("who has gone got %v", err)
		}
	}
	turn.end()
	for _, d := range []*Dialog{open, other} {
		turn, err := d.scheduler.take(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
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
			if want && !d.IsOpen() {
				t.Error("no dialog is said to be open")
			}
			if d.IsShowing(4711) != want || d.IsShowing(4712) || d.IsShowing(0) {
				t.Errorf("the window of 4711 is shown: %v, %v, %v", d.IsShowing(4711), d.IsShowing(4712), d.IsShowing(0))
			}
		}
	}
	shown(false)
	turn, err := d.scheduler.take(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	shown(false)
	turn.shows(4711)
	shown(true)
	b, err := os.ReadFile(d.scheduler.filePath())
	if err != nil {
		t.Fatal(err)
	}
	turn.end()
	shown(false)
	if d.IsOpen() || other.IsOpen() {
		t.Error("a dialog is said to be open still")
	}
	// A dead gateway left the file behind, and no lock.
	if err := os.WriteFile(d.scheduler.filePath(), b, 0o600); err != nil {
		t.Fatal(err)
	}
	shown(false)
}

// TestNewTouchesNothing checks that no file is written before the first question.
func TestNewTouchesNothing(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "aai")
	d := New(Config{Getenv: func(string) string { return "" }, Folder: folder})
	if d.IsShowing(1) {
		t.Error("a window")
	}
	if err := d.Ready(t.Context()); !errors.Is(err, errNoPresenter) {
		t.Errorf("ready: %v", err)
	}
	if _, err := d.Ask(t.Context(), consent()); !errors.Is(err, errNoPresenter) {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
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
			if len(p.pages) != want {
				t.Errorf("%d windows were shown, want %d", len(p.pages), want)
			}
		}
		for range 10 {
			if got := ask(t, d) + ask(t, other); got != "denydeny" {
				t.Error(got)
			}
		}
		windows(1)
		q := consent()
		q.CallerIdentity, q.Text = "/usr/bin/agent", q.Text+"\nAnd more."
		if a, err := d.Ask(t.Context(), q); err != nil || a.Choice != "deny" || a.Seal != q.Seal {
			t.Errorf("%+v, %v", a, err)
		}
		windows(2)
		_ = askFor(t, d, "/usr/bin/another")
		windows(3)
		time.Sleep(refusalTTL)
		p.presses = []string{"Allow once"}
		if got := ask(t, d) + ask(t, d); got != "onceonce" {
			t.Error(got)
		}
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
			if a, err := d.Ask(t.Context(), q); err != nil || a.Choice != want {
				t.Errorf("%+v, %v, want %s", a, err, want)
			}
		}
		for range maxPerCaller - 2 {
			_, _ = d.Ask(t.Context(), q)
		}
		if a, err := d.Ask(t.Context(), q); err == nil {
			t.Errorf("a question too many: %+v", a)
		}
		if len(p.pages) != maxPerCaller {
			t.Errorf("%d windows were shown", len(p.pages))
		}
	})
}
