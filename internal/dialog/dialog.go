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
		seat: cfg.Seat, focus: cfg.Focus, readable: readable, patience: patience,
	}
	d.find = func() []shower { return showers(cfg.Getenv) }
	return d
}

// A shower shows one page and waits for the person.
type shower struct {
	name string
	most int // how many choices one page may have
	room int // how many bytes of text one page may have
	// appears is how long it takes until its window can be seen.
	appears time.Duration
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
)

// Ready implements aai.ReadyAsker: it fails where no window can be shown.
func (d *Dialog) Ready(context.Context) error {
	if len(d.find()) == 0 {
		return errNoWay
	}
	return nil
}

// Ask implements aai.Asker. The answer's channel is aai.Native. An *aai.Error with
// code CONSENT_REQUIRED is the last word: nobody answered in time, or the person
// was asked too often. Any other error says that no dialog could be shown, so that
// another channel may be tried.
func (d *Dialog) Ask(ctx context.Context, q aai.Question) (aai.Answer, error) {
	ways := d.find()
	if len(ways) == 0 || len(q.Choices) < 2 {
		return aai.Answer{}, errNoWay
	}
	turn, err := d.turns.take(ctx, q.By)
	if err != nil {
		return aai.Answer{}, err
	}
	defer turn.end()
	disturbed, end, err := d.takeSeat(ctx)
	if err != nil {
		return aai.Answer{}, err
	}
	defer end()
	asking, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	var failures error
	for _, way := range ways {
		chosen, err := d.put(asking, way, q, showing{turn.shows, disturbed})
		switch {
		case err == nil:
			return aai.Answer{Choice: q.Choices[chosen].ID, Seal: q.Seal, Channel: aai.Native}, nil
		case ctx.Err() != nil:
			return aai.Answer{}, ctx.Err()
		case asking.Err() != nil:
			return aai.Answer{}, unanswered(d.patience)
		}
		d.log.Info("a dialog could not be shown", "by", way.name, "cause", err)
		failures = errors.Join(failures, err)
		if errors.Is(err, errHasty) || errors.Is(err, errVoid) {
			break // whoever answers so fast would do so everywhere
		}
	}
	return aai.Answer{}, failures
}

// Shows reports whether the process shows a dialog of a gateway of this person
// at this moment. It is never to be operated by a tool.
func (d *Dialog) Shows(pid int) bool { return d.turns.showing(pid) }

// Open reports whether any gateway of this person shows a dialog at this moment.
func (d *Dialog) Open() bool { return d.turns.open() }

func unanswered(patience time.Duration) error {
	e := aai.Errorf(aai.ConsentRequired, "nobody answered the gateway's dialog within %s", patience)
	e.Hint = "Ask the person at this computer to look at their screen, and call again then."
	return e
}

// put shows the question page by page until something is chosen.
func (d *Dialog) put(ctx context.Context, way shower, q aai.Question, s showing) (int, error) {
	labels := make([]string, len(q.Choices))
	for i, c := range q.Choices {
		labels[i] = aai.CleanLabel(c.Label, maxLabel)
	}
	text := d.body(q, way.room)
	for first := 1; ; {
		p := page{title: d.words().title, text: text, buttons: labels[:1]}
		rest := labels[first:]
		all := len(rest) <= way.most-1
		if !all {
			rest = rest[:way.most-2]
		}
		p.buttons = append(p.buttons[:1:1], rest...)
		if !all {
			p.buttons = append(p.buttons, d.words().more)
		}
		chosen, err := d.slowly(ctx, way, p, s)
		switch {
		case err != nil || chosen == 0:
			return 0, err
		case !all && chosen == len(p.buttons)-1:
			first += len(rest)
		default:
			return first + chosen - 1, nil
		}
	}
}
