// Package dialog asks the person at this computer in a window of its own. It is
// the gateway's Asker for questions that no agent and no client may answer: it
// shows plain text, takes no for the default, and bounds how often people are
// asked.
//
// On Linux it uses programs that are made to be trusted with a question: pinentry,
// kdialog or zenity, the first that is installed and has a screen. On macOS it is
// osascript, on Windows a message box; those two are built and vetted, and were
// never seen running by this project's tests.
//
// A window keeps a model from answering for a person. It does not keep out another
// program of the same person, which can press buttons: that the gateway's own
// tools leave the window alone is the policy's part (see [Dialog.IsShowing]).
//
// The package touches the screen, processes of those programs, and a file that
// the gateways of one person share. It imports the root package and nothing else
// of ours.
package dialog

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// How long people have, and need.
const (
	// patience is how long one question is open. Nobody's answer is no. Many clients give
	// up on a call after a minute: they are to hear of it before.
	patience = 50 * time.Second
	// readable is how long a person needs at the least to see what is asked, from when
	// its window has the keyboard. A faster answer was meant for another window, or came
	// from a program.
	readable = 700 * time.Millisecond
	// assumedOpenAfter is after how long the window of a program counts as open where it cannot be
	// seen. A program that fails ends before.
	assumedOpenAfter = 2 * time.Second
	// focusPollInterval is the time between two looks at who has the keyboard.
	focusPollInterval = 20 * time.Millisecond
	// maxRetries is how often an answer that came too fast, or is void, is asked for again.
	maxRetries = 3
)

// Config is what a Dialog needs.
type Config struct {
	// Getenv looks up DISPLAY and the like. It must not be nil.
	Getenv func(string) string
	// Folder is where the gateways of one person agree on who asks; it is made when
	// it is needed.
	Folder string
	// Language says in which language the gateway's own words are, "zh" or English; it
	// is asked for each question. Nil: English.
	Language func() string
	// InputLock is the person's pointer, keyboard and focus, which a question has as long as
	// it is open; nil where no gateway makes input.
	InputLock *inputlock.Lock
	// Focus says which process has the person's keyboard, 0 for none that is known; nil
	// where that cannot be seen.
	Focus func(context.Context) (pid int, err error)
	// Shown reports whether the process shows a window; nil, or with an error, where that
	// cannot be seen.
	Shown func(ctx context.Context, pid int) (bool, error)
	Log   *slog.Logger // nil: nowhere
}

// A Dialog puts questions in windows, one at a time. It is safe for concurrent
// use, by several gateways of one person too.
type Dialog struct {
	getenv         func(string) string
	messages       func() messages
	scheduler      *scheduler
	inputLock      *inputlock.Lock
	focus          func(context.Context) (int, error)
	shown          func(context.Context, int) (bool, error)
	failed         atomic.Int64 // when no program showed a window, in Unix nanoseconds; 0 after one did
	log            *slog.Logger
	findPresenters func() []presenter
	readable       time.Duration
	patience       time.Duration
}

// New returns the dialog. It does no I/O.
func New(cfg Config) *Dialog {
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if cfg.Language == nil {
		cfg.Language = func() string { return "" }
	}
	d := &Dialog{
		getenv: cfg.Getenv, messages: func() messages { return messagesIn(cfg.Language()) }, scheduler: newScheduler(cfg.Folder), log: log,
		inputLock: cfg.InputLock, focus: cfg.Focus, shown: cfg.Shown, readable: readable, patience: patience,
	}
	if d.focus == nil {
		d.focus = func(context.Context) (int, error) { return 0, errors.ErrUnsupported }
	}
	if d.shown == nil {
		d.shown = func(context.Context, int) (bool, error) { return false, errors.ErrUnsupported }
	}
	d.findPresenters = func() []presenter { return presenters(cfg.Getenv) }
	return d
}

// A shower shows one page and waits for the person.
type presenter struct {
	name       string
	maxButtons int  // how many buttons one page may have
	isList     bool // they are the lines of a list: there need not be as many on each page
	maxBytes   int  // how many bytes of text one page may have
	// appearTime is how long it takes until its window can be seen.
	appearTime time.Duration
	// otherProcess says that the window belongs to another process.
	otherProcess bool
	// show returns the index of what was chosen. Escape, a closed window and the
	// default are 0. It tells the process of the window, and ends when ctx does, with
	// its error. Any other error means that nothing could be shown.
	show func(ctx context.Context, p page, process func(pid int)) (int, error)
}

// Why nobody was asked.
var (
	errNoPresenter = errors.New("no dialog can be shown here: there is no screen, or neither pinentry, kdialog nor zenity is installed")
	errTooFast     = errors.New("the answers came faster than a person can read")
	errDisturbed   = errors.New("input was made while the question was open, so its answers may be nobody's")
	errTooLong     = errors.New("the question is too long to be shown whole")
)

// Ready implements aai.ReadyAsker: it fails where no window can be shown.
func (d *Dialog) Ready(context.Context) error {
	if len(d.findPresenters()) == 0 {
		return errNoPresenter
	}
	return nil
}

// Ask implements aai.Asker. The answer's channel is aai.Native. An *aai.Error with
// code CONSENT_REQUIRED is the last word: nobody answered in time, or surely, or the person
// was asked too often. What the person said no to a moment ago is answered so without being
// put again, unless it is asked anew. Any other error says that no dialog could be shown, so that
// another channel may be tried.
func (d *Dialog) Ask(ctx context.Context, q aai.Question) (aai.Answer, error) {
	ways := d.findPresenters()
	if len(ways) == 0 || len(q.Choices) < 2 {
		return aai.Answer{}, errNoPresenter
	}
	about := digest(strings.Join([]string{q.CallerIdentity, q.ID, q.Title, q.Text}, "\x00"))
	if q.IgnoreRecentRefusal {
		about = ""
	}
	turn, err := d.scheduler.take(ctx, q.CallerIdentity, about)
	if errors.Is(err, errRecentRefusal) {
		return aai.Answer{Choice: q.Choices[0].ID, Seal: q.Seal, Channel: aai.DesktopDialog}, nil
	}
	if err != nil {
		return aai.Answer{}, err
	}
	defer turn.end()
	asking, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	announce, announced := d.announcement(ctx)
	chosen, err := d.ask(asking, ways, q, openQuestion{shows: turn.shows, opened: announce})
	if errors.Is(err, errDisturbed) {
		chosen, err = d.ask(asking, ways, q, openQuestion{shows: turn.shows, opened: announce, retryReason: d.messages().disturbed})
	}
	switch {
	case err == nil:
		d.failed.Store(0)
		if q.IsRefusal(q.Choices[chosen].ID) {
			turn.recordRefusal(about)
		}
		return aai.Answer{Choice: q.Choices[chosen].ID, Seal: q.Seal, Channel: aai.DesktopDialog}, nil
	case ctx.Err() != nil:
		return aai.Answer{}, ctx.Err()
	case asking.Err() != nil:
		return aai.Answer{}, unansweredError(d.patience)
	case errors.Is(err, errTooLong):
		return aai.Answer{}, unreadError()
	case errors.Is(err, errTooFast), errors.Is(err, errDisturbed):
		return aai.Answer{}, uncertainError(err)
	}
	if announced() {
		return aai.Answer{}, uncertainError(err)
	}
	d.failed.Store(time.Now().UnixNano())
	return aai.Answer{}, err
}

// IsFailing reports whether, a moment ago, no installed program showed a window.
func (d *Dialog) IsFailing() bool { return time.Since(time.Unix(0, d.failed.Load())) < refusalTTL }

// ask puts the question by the first of the ways that can, with the seat in hand.
func (d *Dialog) ask(ctx context.Context, ways []presenter, q aai.Question, s openQuestion) (int, error) {
	disturbed, end, err := d.takeInputLock(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	s.disturbed = disturbed
	var failures error
	for _, way := range ways {
		pages, err := d.layOut(q, way)
		if err == nil {
			var chosen int
			if chosen, err = d.showPages(ctx, way, pages, s); err == nil {
				return chosen, nil
			}
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		d.log.Info("a dialog could not be shown", "by", way.name, "cause", err)
		failures = errors.Join(failures, err)
		if errors.Is(err, errTooFast) || errors.Is(err, errDisturbed) {
			break // whoever answers so fast would do so everywhere
		}
	}
	return 0, failures
}

// IsShowing reports whether the process shows a dialog of a gateway of this person
// at this moment. It is never to be operated by a tool.
func (d *Dialog) IsShowing(pid int) bool { return d.scheduler.showing(pid) }

// IsOpen reports whether any gateway of this person shows a dialog at this moment.
func (d *Dialog) IsOpen() bool { return d.scheduler.open() }

func unansweredError(patience time.Duration) error {
	e := aai.Errorf(aai.ConsentRequired, "nobody answered the gateway's dialog within %s", patience)
	e.Hint = "Ask the person at this computer to look at their screen, and call again then. What may be allowed for longer they can allow beforehand with aai-gateway consent grant."
	return e
}

// uncertainError is the error of a question that was answered, but who knows by whom.
func uncertainError(why error) error {
	e := aai.Errorf(aai.ConsentRequired, "the answer to the gateway's dialog does not count: %w", why)
	e.Hint = "Ask the person at this computer to read the question and to answer it, and call again."
	return e
}

func unreadError() error {
	e := aai.Errorf(aai.ConsentRequired, "nobody was asked: the question does not fit on %d pages of a window, and nobody may be asked what cannot be read", maxPages)
	e.Hint = "Make a call with shorter arguments first: what the person allows for the session or always covers longer ones."
	return e
}

// showPages shows the question page by page until something is chosen.
func (d *Dialog) showPages(ctx context.Context, way presenter, pages []page, s openQuestion) (int, error) {
	for at := 0; ; {
		chosen, err := d.showReadable(ctx, way, pages[at], s)
		if err != nil {
			return 0, err
		}
		switch means := pages[at].choices[chosen]; means {
		case nextPage:
			at = (at + 1) % len(pages)
		case samePage:
		default:
			return means, nil
		}
	}
}
