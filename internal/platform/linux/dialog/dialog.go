// Package dialog shows questions to the person at this computer in a desktop dialog. A
// [Dialog] is the gateway's Asker for questions that neither an agent nor a client may
// answer: it shows plain text, makes the refusal the default, and limits the number of
// questions.
//
// On Linux it uses programs that are made for such questions: pinentry, zenity or kdialog,
// the first that is installed and has a screen. All accounts can read the arguments of a
// program, so they contain no values of a call. On macOS it uses osascript, which the
// project's tests only build and vet; on Windows a task dialog, which they show on Wine.
//
// A dialog keeps a model from answering for a person. It does not keep out another program
// of the same person, which can press buttons. The policy keeps the gateway's own tools
// away from the window (see [Dialog.IsShowing]).
//
// The package uses the screen, processes of those programs, and a file that the gateways
// of one person share. It imports the root package, internal/desktop/inputlock,
// internal/files/atomicfile and internal/platform/windows/win32.
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

// Time limits for people.
const (
	// patience is the time for one question. No answer is a refusal. Many clients give up
	// on a call after a minute, so the gateway must answer before.
	patience = 50 * time.Second
	// readable is the minimum time for a person to read the question, from the time its
	// window gets the keyboard. A faster answer was meant for another window, or came from
	// a program.
	readable = 700 * time.Millisecond
	// assumedOpenAfter is the time after which a program's window counts as open if
	// windows cannot be listed. A program that fails exits earlier.
	assumedOpenAfter = 2 * time.Second
	// focusPollInterval is the time between two checks of the keyboard focus.
	focusPollInterval = 20 * time.Millisecond
	// maxRetries is the maximum number of repetitions after answers that were too fast or void.
	maxRetries = 3
)

// Config configures a Dialog.
type Config struct {
	// Getenv looks up DISPLAY and other variables. It must not be nil.
	Getenv func(string) string
	// Folder is the folder in which the gateways of one person coordinate dialogs. It is
	// created on demand.
	Folder string
	// Language returns the language of the gateway's own texts, "zh" or English. It is
	// called for each question. Nil means English.
	Language func() string
	// InputLock guards the person's pointer, keyboard and focus. A question holds it while
	// it is open. Nil means that no gateway makes input.
	InputLock *inputlock.Lock
	// FocusedPID returns the process that has the person's keyboard, or 0 if none is known. Nil
	// means that this cannot be determined.
	FocusedPID func(context.Context) (pid int, err error)
	// ShowsWindow reports whether the process shows a window. Nil, or an error, means that this
	// cannot be determined.
	ShowsWindow func(ctx context.Context, pid int) (bool, error)
	// FloatWindows waits for the windows of a process, and shows them in front of all others where the desktop would
	// put them into tiles. It may be nil.
	FloatWindows func(ctx context.Context, pid int) error
	Log          *slog.Logger // nil: nowhere
}

// A Dialog shows questions in windows, one at a time. It is safe for concurrent use, also
// by several gateways of one person.
type Dialog struct {
	getenv         func(string) string
	messages       func() messages
	scheduler      *scheduler
	inputLock      *inputlock.Lock
	focus          func(context.Context) (int, error)
	shown          func(context.Context, int) (bool, error)
	float          func(context.Context, int) error
	failed         atomic.Int64 // last time that no program showed a window, in Unix nanoseconds; 0 after an answer
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
		getenv: cfg.Getenv, messages: func() messages { return messagesIn(cfg.Language()) },
		scheduler: newScheduler(cfg.Folder), log: log,
		inputLock: cfg.InputLock, focus: cfg.FocusedPID, shown: cfg.ShowsWindow, readable: readable, patience: patience,
	}
	if d.focus == nil {
		d.focus = func(context.Context) (int, error) { return 0, errors.ErrUnsupported }
	}
	if d.shown == nil {
		d.shown = func(context.Context, int) (bool, error) { return false, errors.ErrUnsupported }
	}
	if d.float = cfg.FloatWindows; d.float == nil {
		d.float = func(context.Context, int) error { return nil }
	}
	d.findPresenters = func() []presenter { return presenters(cfg.Getenv) }
	return d
}

// A presenter shows one page and waits for the person.
type presenter struct {
	name       string
	maxButtons int  // maximum number of buttons on one page
	isList     bool // buttons are lines of a list, whose number may differ between pages
	maxBytes   int  // maximum number of bytes of text on one page
	// appearTime is the time until its window is visible.
	appearTime time.Duration
	// otherProcess means that the window belongs to another process.
	otherProcess bool
	// hasPublicText and hasPublicLabels mean that all accounts can read the text or the labels.
	hasPublicText, hasPublicLabels bool
	// show returns the index of the chosen button. Escape, a closed window and the default
	// are 0. It passes the window's process to process, and ends with ctx and its error.
	// Any other error means that nothing could be shown.
	show func(ctx context.Context, p page, process func(pid int)) (int, error)
	// hidden asks for a value that the window does not show, and returns whether the person entered one. Nil: it cannot.
	// All accounts can read its text if hasPublicHidden is set.
	hasPublicHidden bool
	hidden          func(ctx context.Context, p page, process func(pid int)) (value string, entered bool, err error)
}

// The reasons for the lack of a valid answer.
var (
	errNoPresenter = errors.New("no dialog can be shown here: there is no screen, or neither pinentry, kdialog nor " +
		"zenity is installed")
	errTooFast   = errors.New("the answers came faster than a person can read")
	errDisturbed = errors.New("input was made while the question was open, so its answers may not be the person's")
	errTooLong   = errors.New("the question is too long to be shown whole")
)

// Ready implements aai.ReadyAsker: it fails without a screen or an installed program for
// dialogs.
func (d *Dialog) Ready(context.Context) error {
	if len(d.findPresenters()) == 0 {
		return errNoPresenter
	}
	return nil
}

// Ask implements aai.Asker. The answer's channel is aai.DesktopDialog. An *aai.Error with
// code CONSENT_REQUIRED is final: there was no answer in time or no reliable one, or there
// were too many questions. A recent refusal of the same question is returned again without
// a dialog, unless IgnoreRecentRefusal is set. Any other error means that no dialog could
// be shown, so that another channel may be tried.
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
		chosen, err = d.ask(asking, ways, q, openQuestion{shows: turn.shows, opened: announce,
			retryReason: d.messages().disturbed})
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

// IsFailing reports whether a question failed within the last minute because no installed
// program showed a window.
func (d *Dialog) IsFailing() bool { return time.Since(time.Unix(0, d.failed.Load())) < refusalTTL }

// ask shows the question with the first presenter that works, and holds the input lock.
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
			break // such fast answers would come in any window
		}
	}
	return 0, failures
}

// IsShowing reports whether the process now shows a dialog of a gateway of this person.
// Tools must never operate it.
func (d *Dialog) IsShowing(pid int) bool { return d.scheduler.showing(pid) }

// IsOpen reports whether any gateway of this person now shows a dialog.
func (d *Dialog) IsOpen() bool { return d.scheduler.open() }

func unansweredError(patience time.Duration) error {
	e := aai.Errorf(aai.ConsentRequired, "the person did not answer the gateway's dialog within %s", patience)
	e.Hint = "Ask the person at this computer to look at their screen, and call again then. They can give longer " +
		"permissions beforehand with aai-gateway consent grant."
	return e
}

// uncertainError returns the error for an answer that may not be the person's.
func uncertainError(why error) error {
	e := aai.Errorf(aai.ConsentRequired, "the answer to the gateway's dialog does not count: %w", why)
	e.Hint = "Ask the person at this computer to read the question and to answer it, and call again."
	return e
}

func unreadError() error {
	e := aai.Errorf(aai.ConsentRequired, "the person was not asked: the question does not fit on %d pages of a window",
		maxPages)
	e.Hint = "Make a call with shorter arguments first: what the person allows for the session or always covers " +
		"longer ones."
	return e
}

// showPages shows the question page by page until a choice is made.
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
