package dialog

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func consent() aai.Question {
	return aai.Question{
		ID: "consent", Title: "Allow mcp:claude-ai to use wipe of Notes?", Text: "Effect: may delete\n" + aai.QuoteMark + "Notes, 笔记, Ğürültü, " + strings.Repeat("as its long name says ", 4),
		Choices: []aai.Choice{
			{ID: "deny", Label: "Deny"}, {ID: "once", Label: "Allow once"}, {ID: "session", Label: "Allow in this session"},
			{ID: "always", Label: "Always allow"}, {ID: "all", Label: "Always allow all"}, {ID: "never", Label: "Never allow", IsRefusal: true},
		},
		Seal: "seal",
	}
}

// A person presses the named buttons, one a page, after a delay.
type person struct {
	presses []string
	after   time.Duration
	pages   []page
	err     error
}

func (p *person) show(ctx context.Context, shown page, process func(int)) (int, error) {
	p.pages = append(p.pages, shown)
	process(4711)
	if p.err != nil {
		return 0, p.err
	}
	select {
	case <-time.After(p.after):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	press := p.presses[min(len(p.pages), len(p.presses))-1]
	if press == "Escape" {
		return 0, nil
	}
	return slices.IndexFunc(shown.buttons, func(label string) bool { return strings.Trim(label, blank) == press }), nil
}

// newTestDialog returns a Dialog with these persons at its windows.
func newTestDialog(t *testing.T, most int, persons ...*person) *Dialog {
	t.Helper()
	d := New(Config{Getenv: func(string) string { return "" }, Folder: t.TempDir(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	d.findPresenters = func() []presenter {
		var ways []presenter
		for _, p := range persons {
			ways = append(ways, presenter{name: "person", maxButtons: most, maxBytes: 4000, show: p.show})
		}
		return ways
	}
	return d
}

// showing returns the presenter of a test.
func showing(show func(context.Context, page, func(int)) (int, error)) func() []presenter {
	return func() []presenter { return []presenter{{maxButtons: 3, maxBytes: 4000, show: show}} }
}

func TestEveryChoiceCanBeReached(t *testing.T) {
	for _, c := range []struct {
		most    int
		presses string
		want    string
		pages   int
	}{
		{3, "Deny", "deny", 1},
		{3, "Escape", "deny", 1},
		{3, "Allow once", "once", 1},
		{3, "More…,Allow in this session", "session", 2},
		{3, "More…,Deny", "deny", 2},
		{3, "More…,Escape", "deny", 2},
		{3, "More…,More…,Always allow", "always", 3},
		{3, "More…,More…,More…,Always allow all", "all", 4},
		{3, "More…,More…,More…,More…,Never allow", "never", 5},
		{3, "More…,More…,More…,More…,Escape", "never", 5},
		{3, "More…,More…,More…,More…,Back,Allow once", "once", 6},
		{12, "Deny", "deny", 1},
		{12, "Allow once", "once", 1},
		{12, "Never allow", "never", 1},
		{4, "More…,More…,Never allow", "never", 3},
	} {
		t.Run(c.presses, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &person{presses: strings.Split(c.presses, ","), after: 2 * time.Second}
				got, err := newTestDialog(t, c.most, p).Ask(t.Context(), consent())
				assert.NilError(t, err)
				assert.Check(t, is.DeepEqual(aai.Answer{Choice: c.want, Seal: "seal", Channel: aai.DesktopDialog}, got))
				assert.Check(t, is.Len(p.pages, c.pages))
				for _, shown := range p.pages {
					assert.Assert(t, is.Contains("Deny, Never allow", strings.Trim(shown.buttons[0], blank)), "%q", shown.buttons)
					assert.Assert(t, len(shown.buttons) <= c.most, "the buttons are %q", shown.buttons)
				}
			})
		})
	}
}

// TestTooFastAnswers checks that an answer too fast for a person is asked for again, and
// is finally rejected.
func TestTooFastAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &person{presses: []string{"Allow once"}, after: 2*readable - time.Millisecond}
		answer, err := newTestDialog(t, 3, p).Ask(t.Context(), consent())
		assert.Assert(t, is.ErrorIs(err, errTooFast))
		assert.Equal(t, answer, (aai.Answer{}))
		// The error is final: no other presenter is tried.
		e, final := errors.AsType[*aai.Error](err)
		assert.Assert(t, final, "another way to ask may be tried after %v", err)
		assert.Equal(t, e.Code, aai.ConsentRequired, err)
		assert.Assert(t, e.Hint != "", "another way to ask may be tried after %v", err)
		assert.Check(t, is.Len(p.pages, maxRetries), "it was asked %d times", len(p.pages))
		again := messagesIn("").retryText
		assert.Assert(t, !strings.Contains(p.pages[0].text, again), "the pages say %+v", p.pages)
		assert.Assert(t, strings.HasPrefix(p.pages[1].text, again+"\n"), "the pages say %+v", p.pages)
	})
}

func TestOneTooFastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &person{presses: []string{"Allow once", "Deny"}}
		d := newTestDialog(t, 3, p)
		show := p.show
		d.findPresenters = showing(func(ctx context.Context, shown page, process func(int)) (int, error) {
			p.after = time.Duration(len(p.pages)) * time.Second // at once, then slowly
			return show(ctx, shown, process)
		})
		answer, err := d.Ask(t.Context(), consent())
		assert.NilError(t, err, "%+v", answer)
		assert.Equal(t, answer.Choice, "deny", "%+v", answer)
	})
}

// TestNobodyThere checks that no answer results in a final error: no other presenter is tried.
func TestNobodyThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &person{presses: []string{"Allow once"}, after: time.Hour}
		other := &person{presses: []string{"Allow once"}, after: 2 * time.Second}
		begun := time.Now()
		answer, err := newTestDialog(t, 3, p, other).Ask(t.Context(), consent())
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, err)
		assert.Equal(t, e.Code, aai.ConsentRequired, err)
		assert.Equal(t, answer, (aai.Answer{}), err)
		assert.Assert(t, is.Len(other.pages, 0), err)
		took := time.Since(begun)
		assert.Check(t, took == 50*time.Second, "it was open for %s", took)
	})
}

// TestWhoWaitsIsTold checks that the caller's terminal is notified once, after a window is open.
func TestWhoWaitsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []time.Time
		begun := time.Now()
		ctx := aai.WithClientCapabilities(t.Context(), aai.ClientCapabilities{OnDialogShown: func(string) { told = append(told, time.Now()) }})
		p := &person{presses: []string{"More…", "More…", "Always allow"}, after: 5 * time.Second}
		d := newTestDialog(t, 3, p)
		const slowly = 4 * time.Second
		d.shown = func(context.Context, int) (bool, error) { return time.Since(begun) >= slowly, nil }
		answer, err := d.Ask(ctx, consent())
		assert.NilError(t, err, "%+v", answer)
		assert.Equal(t, answer.Choice, "always", "%+v", answer)
		want := begun.Add(slowly)
		assert.Check(t, slices.Equal(told, []time.Time{want}), "told at %v, want once, at %v", told, want)
	})
}

// TestAFailureIsNotAnnounced checks that the caller's terminal is not notified if no
// program shows a window, and that IsFailing then returns true for a while.
func TestAFailureIsNotAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := aai.WithClientCapabilities(t.Context(), aai.ClientCapabilities{OnDialogShown: func(string) { t.Error("a window is announced") }})
		d := newTestDialog(t, 3, &person{err: errors.New("broken")})
		assert.Check(t, !d.IsFailing(), "it fails before it was tried")
		_, err := d.Ask(ctx, consent())
		assert.Check(t, err != nil, "it was answered")
		assert.Check(t, d.IsFailing(), "the failure is not known")
		time.Sleep(refusalTTL)
		assert.Check(t, !d.IsFailing(), "the failure is known for ever")
	})
}

// TestTheTimeIsForAllPages checks that the time limit covers all pages of a question.
func TestTheTimeIsForAllPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &person{presses: []string{"More…", "More…", "Always allow"}, after: 20 * time.Second}
		answer, err := newTestDialog(t, 3, p).Ask(t.Context(), consent())
		assert.Check(t, err != nil, "%+v", answer)
	})
}

// TestOtherPresenters checks that the next program is tried after a failure, and that the
// error is not final if all fail.
func TestOtherPresenters(t *testing.T) {
	broken := errors.New("broken")
	synctest.Test(t, func(t *testing.T) {
		first, second := &person{err: broken}, &person{presses: []string{"Allow once"}, after: 2 * time.Second}
		if answer, err := newTestDialog(t, 3, first, second).Ask(t.Context(), consent()); err != nil || answer.Choice != "once" {
			t.Errorf("%+v, %v", answer, err)
		}
		_, err := newTestDialog(t, 3, first).Ask(t.Context(), consent())
		_, final := errors.AsType[*aai.Error](err)
		assert.Assert(t, is.ErrorIs(err, broken))
		assert.Assert(t, !final)
		_, err = newTestDialog(t, 3).Ask(t.Context(), consent())
		assert.Check(t, is.ErrorIs(err, errNoPresenter))
	})
}

// TestQuestionsWithoutChoices checks that a question with only a refusal is not shown.
func TestQuestionsWithoutChoices(t *testing.T) {
	q := consent()
	q.Choices = q.Choices[:1]
	p := &person{presses: []string{"Deny"}, after: 2 * time.Second}
	_, err := newTestDialog(t, 3, p).Ask(t.Context(), q)
	assert.Assert(t, err != nil, err)
	assert.Assert(t, is.Len(p.pages, 0), err)
}

func TestChinese(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &person{presses: []string{"更多…", "Deny"}, after: 2 * time.Second}
		d := newTestDialog(t, 3, p)
		d.messages = func() messages { return messagesIn("zh") }
		_, err := d.Ask(t.Context(), consent())
		assert.NilError(t, err)
		assert.Assert(t, strings.HasPrefix(p.pages[0].text, "AAI Gateway 请求权限"+blank), "%+v", p.pages[0])
		assert.Assert(t, is.Contains(strings.Join(p.pages[0].buttons, ","), "更多…"), "%+v", p.pages[0])
	})
}
