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
// tools leave the window alone is the policy's part (see [Dialog.Shows]).
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

	"aai"
	"aai/internal/seat"
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
	// unseen is after how long the window of a program counts as open where it cannot be
	// seen. A program that fails ends before.
	unseen = 2 * time.Second
	// blink is the time between two looks at who has the keyboard.
	blink = 20 * time.Millisecond
	// hasty is how often an answer that came too fast, or is void, is asked for again.
	hasty = 3
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
	// Seat is the person's pointer, keyboard and focus, which a question has as long as
	// it is open; nil where no gateway makes input.
	Seat *seat.Seat
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
	getenv   func(string) string
	words    func() words
	turns    *turns
	seat     *seat.Seat
	focus    func(context.Context) (int, error)
	shown    func(context.Context, int) (bool, error)
	failed   atomic.Int64 // when no program showed a window, in Unix nanoseconds; 0 after one did
	log      *slog.Logger
	find     func() []shower
	readable time.Duration
	patience time.Duration
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
		getenv: cfg.Getenv, words: func() words { return wordsIn(cfg.Language()) }, turns: newTurns(cfg.Folder), log: log,
		seat: cfg.Seat, focus: cfg.Focus, shown: cfg.Shown, readable: readable, patience: patience,
	}
	if d.focus == nil {
		d.focus = func(context.Context) (int, error) { return 0, errors.ErrUnsupported }
	}
	if d.shown == nil {
		d.shown = func(context.Context, int) (bool, error) { return false, errors.ErrUnsupported }
	}
	d.find = func() []shower { return showers(cfg.Getenv) }
	return d
}

// A shower shows one page and waits for the person.
type shower struct {
	name string
	most int  // how many buttons one page may have
	list bool // they are the lines of a list: there need not be as many on each page
	room int  // how many bytes of text one page may have
	// appears is how long it takes until its window can be seen.
	appears time.Duration
	// elsewhere says that the window belongs to another process.
	elsewhere bool
	// show returns the index of what was chosen. Escape, a closed window and the
	// default are 0. It tells the process of the window, and ends when ctx does, with
	// its error. Any other error means that nothing could be shown.
	show func(ctx context.Context, p page, process func(pid int)) (int, error)
}

// Why nobody was asked.
var (
	errNoWay = errors.New("no dialog can be shown here: there is no screen, or neither pinentry, kdialog nor zenity is installed")
	errHasty = errors.New("the answers came faster than a person can read")
	errVoid  = errors.New("input was made while the question was open, so its answers may be nobody's")
	errLong  = errors.New("the question is too long to be shown whole")
)

// Ready implements aai.ReadyAsker: it fails where no window can be shown.
func (d *Dialog) Ready(context.Context) error {
	if len(d.find()) == 0 {
		return errNoWay
	}
	return nil
}

// Ask implements aai.Asker. The answer's channel is aai.Native. An *aai.Error with
// code CONSENT_REQUIRED is the last word: nobody answered in time, or surely, or the person
// was asked too often. What the person said no to a moment ago is answered so without being
// put again, unless it is asked anew. Any other error says that no dialog could be shown, so that
// another channel may be tried.
func (d *Dialog) Ask(ctx context.Context, q aai.Question) (aai.Answer, error) {
	ways := d.find()
	if len(ways) == 0 || len(q.Choices) < 2 {
		return aai.Answer{}, errNoWay
	}
	about := digest(strings.Join([]string{q.By, q.ID, q.Title, q.Text}, "\x00"))
	if q.Anew {
		about = ""
	}
	turn, err := d.turns.take(ctx, q.By, about)
	if errors.Is(err, errSaidNo) {
		return aai.Answer{Choice: q.Choices[0].ID, Seal: q.Seal, Channel: aai.Native}, nil
	}
	if err != nil {
		return aai.Answer{}, err
	}
	defer turn.end()
	asking, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	announce, announced := d.announcement(ctx)
	chosen, err := d.ask(asking, ways, q, showing{shows: turn.shows, opened: announce})
	if errors.Is(err, errVoid) {
		chosen, err = d.ask(asking, ways, q, showing{shows: turn.shows, opened: announce, again: d.words().void})
	}
	switch {
	case err == nil:
		d.failed.Store(0)
		if q.Refused(q.Choices[chosen].ID) {
			turn.refused(about)
		}
		return aai.Answer{Choice: q.Choices[chosen].ID, Seal: q.Seal, Channel: aai.Native}, nil
	case ctx.Err() != nil:
		return aai.Answer{}, ctx.Err()
	case asking.Err() != nil:
		return aai.Answer{}, unanswered(d.patience)
	case errors.Is(err, errLong):
		return aai.Answer{}, unread()
	case errors.Is(err, errHasty), errors.Is(err, errVoid):
		return aai.Answer{}, uncertain(err)
	}
	if announced() {
		return aai.Answer{}, uncertain(err)
	}
	d.failed.Store(time.Now().UnixNano())
	return aai.Answer{}, err
}

// Fails reports whether, a moment ago, no installed program showed a window.
func (d *Dialog) Fails() bool { return time.Since(time.Unix(0, d.failed.Load())) < stands }

// ask puts the question by the first of the ways that can, with the seat in hand.
func (d *Dialog) ask(ctx context.Context, ways []shower, q aai.Question, s showing) (int, error) {
	disturbed, end, err := d.takeSeat(ctx)
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
			if chosen, err = d.put(ctx, way, pages, s); err == nil {
				return chosen, nil
			}
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		d.log.Info("a dialog could not be shown", "by", way.name, "cause", err)
		failures = errors.Join(failures, err)
		if errors.Is(err, errHasty) || errors.Is(err, errVoid) {
			break // whoever answers so fast would do so everywhere
		}
	}
	return 0, failures
}

// Shows reports whether the process shows a dialog of a gateway of this person
// at this moment. It is never to be operated by a tool.
func (d *Dialog) Shows(pid int) bool { return d.turns.showing(pid) }

// Open reports whether any gateway of this person shows a dialog at this moment.
func (d *Dialog) Open() bool { return d.turns.open() }

func unanswered(patience time.Duration) error {
	e := aai.Errorf(aai.ConsentRequired, "nobody answered the gateway's dialog within %s", patience)
	e.Hint = "Ask the person at this computer to look at their screen, and call again then. What may be allowed for longer they can allow beforehand with aai-gateway consent grant."
	return e
}

// uncertain is the error of a question that was answered, but who knows by whom.
func uncertain(why error) error {
	e := aai.Errorf(aai.ConsentRequired, "the answer to the gateway's dialog does not count: %w", why)
	e.Hint = "Ask the person at this computer to read the question and to answer it, and call again."
	return e
}

func unread() error {
	e := aai.Errorf(aai.ConsentRequired, "nobody was asked: the question does not fit on %d pages of a window, and nobody may be asked what cannot be read", most)
	e.Hint = "Make a call with shorter arguments first: what the person allows for the session or always covers longer ones."
	return e
}

// put shows the question page by page until something is chosen.
func (d *Dialog) put(ctx context.Context, way shower, pages []page, s showing) (int, error) {
	for at := 0; ; {
		chosen, err := d.slowly(ctx, way, pages[at], s)
		if err != nil {
			return 0, err
		}
		switch means := pages[at].means[chosen]; means {
		case onward:
			at = (at + 1) % len(pages)
		case stay:
		default:
			return means, nil
		}
	}
}
