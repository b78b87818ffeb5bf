package dialog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// TestReadableFromTheFocusOn checks that the reading time counts from the keyboard focus
// of the window, without a break, if the focus is known.
func TestReadableFromTheFocusOn(t *testing.T) {
	const soon = readable - 100*time.Millisecond
	for name, c := range map[string]struct {
		has   func(since time.Duration) bool // the window has the keyboard
		after time.Duration                  // time of the answer
		pages int                            // number of times it is shown
	}{
		"at once":          {func(time.Duration) bool { return true }, readable + focusPollInterval, 1},
		"too early":        {func(time.Duration) bool { return true }, soon, maxRetries},
		"slow window":      {func(d time.Duration) bool { return d > 2*time.Second }, 2*time.Second + soon, maxRetries},
		"taken and back":   {func(d time.Duration) bool { return d < time.Second || d > 3*time.Second }, 3*time.Second + soon, maxRetries},
		"read and left":    {func(d time.Duration) bool { return d < time.Second }, 3 * time.Second, 1},
		"never, too early": {func(time.Duration) bool { return false }, 2*readable - focusPollInterval, maxRetries},
		"never":            {func(time.Duration) bool { return false }, 2*readable + focusPollInterval, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &person{presses: []string{"Allow once"}, after: c.after}
				d := newTestDialog(t, 3, p)
				var shown time.Time
				d.findPresenters = showing(func(ctx context.Context, page page, process func(int)) (int, error) {
					shown = time.Now()
					return p.show(ctx, page, process)
				})
				d.focus = func(context.Context) (int, error) {
					if c.has(time.Since(shown)) {
						return 4711, nil
					}
					return 1, nil
				}
				answer, err := d.Ask(t.Context(), consent())
				assert.Assert(t, is.Len(p.pages, c.pages), "%+v %v", answer, err)
				assert.Equal(t, (err == nil), (c.pages == 1), "%+v %v", answer, err)
				assert.Equal(t, (answer.Choice == "once"), (err == nil), "%+v %v", answer, err)
			})
		})
	}
}

// TestAnswersAreVoidAfterInput checks that an answer is void if a gateway made input
// meanwhile, for example after losing the locks. The question is repeated with the reason.
func TestAnswersAreVoidAfterInput(t *testing.T) {
	for disturbed, want := range map[int]string{1: "once", 2: ""} {
		folder := t.TempDir()
		shared := func() *inputlock.Lock {
			return inputlock.New(inputlock.Config{Folder: func() (string, error) { return folder, nil }, Getenv: func(string) string { return "" }})
		}
		d := newTestDialog(t, 3)
		d.inputLock, d.readable = shared(), 0
		var said []string
		d.findPresenters = showing(func(_ context.Context, p page, _ func(int)) (int, error) {
			said = append(said, p.text)
			if len(said) <= disturbed {
				stroke(t, folder, shared())
			}
			return 1, nil
		})
		answer, err := d.Ask(t.Context(), consent())
		assert.Check(t, is.Equal(answer.Choice, want), "%d %+v %v", disturbed, answer, err)
		assert.Check(t, is.Equal((err == nil), (want != "")), "%d %+v %v", disturbed, answer, err)
		assert.Check(t, err == nil || errors.Is(err, errDisturbed) && aai.AsError(err).Code == aai.ConsentRequired, "%d times: %+v, %v", disturbed, answer, err)
		void := messagesIn("").disturbed
		assert.Assert(t, is.Len(said, 2), "%d", disturbed)
		assert.Assert(t, !strings.Contains(said[0], void), "%d times: it said %q", disturbed, said)
		assert.Assert(t, strings.HasPrefix(said[1], void+"\n"), "%d times: it said %q", disturbed, said)
	}
}

// stroke makes input despite the locks: their files are removed first.
func stroke(t *testing.T, folder string, s *inputlock.Lock) {
	t.Helper()
	locks, err := filepath.Glob(filepath.Join(folder, "*.*"))
	assert.Check(t, err)
	for _, lock := range locks {
		if filepath.Ext(lock) != ".json" {
			_ = os.Remove(lock)
		}
	}
	g, err := s.Acquire(t.Context(), nil)
	if err != nil {
		t.Error(err)
		return
	}
	g.Release()
}

// TestNoInputLockNoQuestion checks that a question without the input lock fails with a final error.
func TestNoInputLockNoQuestion(t *testing.T) {
	p := &person{presses: []string{"Allow once"}}
	d := newTestDialog(t, 3, p)
	none := func() (string, error) { return "", errors.New("no folder") }
	d.inputLock = inputlock.New(inputlock.Config{Folder: none, Getenv: func(string) string { return "" }})
	_, err := d.Ask(t.Context(), consent())
	if e, ok := errors.AsType[*aai.Error](err); !ok || e.Code != aai.ConsentRequired || len(p.pages) != 0 {
		t.Errorf("%v, put %d times", err, len(p.pages))
	}
}
