package recording

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Config configures a Recorder.
type Config struct {
	Backend desktop.Backend
	App     desktop.App
	// IsApp reports whether a process belongs to the program.
	IsApp func(pid int) bool
	// Strokes counts the keys and clicks of agents: input that arrives together with one is not the person's. Nil: none.
	Strokes func() int
	// Acts counts the calls of agents that act, and reports whether one does now. It serves where no
	// presses of the person are reported. Nil: there are none.
	Acts func() (n int, now bool)
	// Write keeps the nth step, from 1, or nil in its place if it turned out to be a part of another.
	Write func(n int, step *recorded.Step) error
	// Picture returns a picture of the window with the place on the screen, as PNG, in which the elements to hide are black; nil
	// if it may not or cannot be taken. Keep keeps the picture of the nth step and returns its name, "" if it does not; without a
	// picture it removes that. Nil: no picture is taken.
	Picture func(ctx context.Context, at desktop.Rect, hide func(*desktop.Element) bool) []byte
	Keep    func(n int, picture []byte) string
}

const (
	// quiet is how long nothing must change after a click or key before its effect is read. It is longer than the pause
	// in a double click.
	quiet = 450 * time.Millisecond
	// maxEffect limits the wait for that.
	maxEffect = 2500 * time.Millisecond
	// typingPause is the pause after which a text counts as typed.
	typingPause = 1500 * time.Millisecond
	// lookPause is the pause between an event and the look that it causes.
	lookPause = 80 * time.Millisecond
	// lookTimeout limits a look at a program that hangs.
	lookTimeout = 5 * time.Second
	// agentTick is how often the strokes of agents are counted.
	agentTick = 100 * time.Millisecond
)

// A Recorder records the person's acts in one program. Create one with [New], and run it once.
type Recorder struct {
	config Config

	mu    sync.Mutex
	steps []*recorded.Step // nil for those that were dropped

	current    *desktop.Snapshot // the last look
	changed    bool              // since then
	changedAt  time.Time         // the first change since then
	focusMoved bool              // since then
	lookedAt   time.Time         // its begin
	focus      []focusChange     // the last ones
	gone       bool              // the program has ended
	lastEvent  time.Time
	pending    *act
	last       *act // the act of the last step
	keys       keyHistory
	strokes    int
	secrets    map[desktop.ID]bool // fields that got text meant for another place
	err        error

	byEvents atomic.Bool // no presses of the person are reported
	burst    *burst
	acts     int
}

// An act is an act of the person with an effect that is not known yet.
type act struct {
	begun, last time.Time
	before      *desktop.Snapshot
	index       int        // of the element in before; -1: unknown
	id          desktop.ID // of the element
	step        int        // the number of its step; 0: none
	picture     <-chan []byte

	button    int // 0 for keys
	count     int
	from      desktop.Point
	isDrag    bool
	modifiers []string

	typing  bool
	secret  bool // the typed text is secret
	late    bool // before may have a part of the text already
	value   string
	valueAt time.Time
	chord   desktop.Chord
	unknown bool // a key outside of text fields, which is not told
	inMenu  bool // the keys went to an open menu; chord is the last one
}

// New returns a recorder.
func New(c Config) *Recorder {
	return &Recorder{config: c, secrets: map[desktop.ID]bool{}}
}

// Steps returns the steps so far.
func (r *Recorder) Steps() (steps []recorded.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.steps {
		if s != nil {
			steps = append(steps, *s)
		}
	}
	return steps
}

// Run records until ctx or the program ends. It calls ready once it listens.
func (r *Recorder) Run(ctx context.Context, ready func()) error {
	if r.config.Backend.Events == nil {
		e := aai.Errorf(aai.AutomationNotSupported, "nothing reports here what happens in programs")
		e.Delivery = aai.NotDelivered
		return e
	}
	done := ctx.Done()
	ctx = context.WithoutCancel(ctx) // the last act counts, too
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changes, err := r.config.Backend.Events.Watch(watching, r.config.App)
	if err != nil {
		return err
	}
	if err := r.look(ctx); err != nil {
		return err
	}
	facts, failed := make(chan desktop.PersonFact, 256), make(chan error, 1)
	go func() { failed <- r.watchPerson(watching, ready, facts) }()
	tick := time.NewTicker(agentTick)
	defer tick.Stop()
	var end <-chan time.Time
	for r.err == nil && !r.gone {
		select {
		case f := <-facts:
			for len(changes) > 0 { // the focus of the moment of the fact
				r.event(ctx, <-changes)
			}
			r.fact(ctx, f)
		case e, ok := <-changes:
			if r.gone = !ok; ok {
				r.event(ctx, e)
			}
		case <-tick.C:
			r.due(ctx)
		case err := <-failed:
			if !errors.Is(err, errUnreported) {
				r.finish(ctx)
				return err
			}
			failed = nil
			r.byEvents.Store(true)
			ready()
		case <-done: // facts and changes from before may still arrive
			done, end = nil, time.After(quiet)
		case <-end:
			r.finish(ctx)
			return r.err
		}
	}
	r.finish(ctx)
	return r.err
}

// errUnreported is the error where no presses of the person are reported, as on Wayland.
var errUnreported = errors.New("presses of the person are not reported")

// watchPerson passes on the facts about the person.
func (r *Recorder) watchPerson(ctx context.Context, ready func(), facts chan<- desktop.PersonFact) error {
	if r.config.Backend.Person == nil {
		return errUnreported
	}
	err := r.config.Backend.Person.WatchPerson(ctx, ready, func(f desktop.PersonFact) {
		select {
		case facts <- f:
		case <-ctx.Done():
		}
	})
	if err != nil && aai.AsError(err).Code == aai.AutomationNotSupported {
		return errUnreported
	}
	return err
}

func (r *Recorder) countStrokes() int {
	if r.config.Strokes == nil {
		return 0
	}
	return r.config.Strokes()
}

// event notes a change. The text of a field that is typed into is read at once: the field may empty itself.
func (r *Recorder) event(ctx context.Context, e desktop.Event) {
	if r.byEvents.Load() {
		r.noteEvent(e)
		return
	}
	if !r.changed {
		r.changedAt = e.At
	}
	r.changed, r.lastEvent = true, time.Now()
	switch e.Kind {
	case desktop.FocusMoved:
		r.focusMoved = true
		r.noteFocus(e.At, e.ID)
	case desktop.WindowChanged:
		r.focusMoved = true
	case desktop.StateChanged:
		r.focusMoved = r.focusMoved || e.Detail == "focused"
	case desktop.TextChanged, desktop.ValueChanged:
		if p := r.pending; p != nil && p.typing && p.id == e.ID {
			r.readTyped(ctx, p)
		}
	case desktop.NameChanged, desktop.ChildrenChanged, desktop.SelectionMoved, desktop.CaretMoved, desktop.BoundsChanged:
	case desktop.Lost:
		r.gone = r.gone || e.Detail == desktop.Ended
	}
}

// due looks at the program after changes, and finishes an act with a known effect.
func (r *Recorder) due(ctx context.Context) {
	if r.byEvents.Load() {
		r.dueBurst(ctx)
		return
	}
	r.strokes = r.countStrokes()
	if p := r.pending; p != nil {
		since := time.Since(later(r.lastEvent, p.last))
		switch {
		case p.typing && time.Since(p.last) > typingPause, !p.typing && (since > quiet || time.Since(p.last) > maxEffect):
			r.finish(ctx)
			return
		}
	}
	if r.changed && time.Since(r.lastEvent) > lookPause {
		_ = r.look(ctx) // a program that hangs is looked at later
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// look reads the program.
func (r *Recorder) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	r.changed, r.focusMoved, r.lookedAt = false, false, time.Now()
	s, err := r.config.Backend.Tree.Snapshot(ctx, r.config.App)
	if err != nil {
		r.changed = true
		return err
	}
	r.current = s
	if i := focused(s); i >= 0 && !hasMenu(s) { // the keys go to an open menu, but fields keep their state
		r.noteFocus(r.lookedAt, s.Elements[i].ID)
	}
	return nil
}

// add adds a step, and remembers its act.
func (r *Recorder) add(a *act, s recorded.Step) {
	r.mu.Lock()
	r.steps = append(r.steps, nil)
	n := len(r.steps)
	r.mu.Unlock()
	a.step, r.last = n, a
	r.keepPicture(a, &s)
	r.replace(n, &s)
}

// takePicture begins to take a picture of the act. An element that hides a secret is black in it.
func (r *Recorder) takePicture(ctx context.Context, a *act) {
	if r.config.Picture == nil || r.config.Keep == nil {
		return
	}
	var at desktop.Rect
	if a.index >= 0 {
		at = a.before.Elements[a.index].Frame
	}
	secrets, taken := maps.Clone(r.secrets), make(chan []byte, 1)
	a.picture = taken
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
		defer cancel()
		taken <- r.config.Picture(ctx, at, func(e *desktop.Element) bool {
			return (isText(e) || e.Role == desktop.Textbox) && hidesText(e, secrets)
		})
	}()
}

// keepPicture keeps the picture of an act with its step.
func (r *Recorder) keepPicture(a *act, s *recorded.Step) {
	if a.picture == nil {
		return
	}
	if picture := <-a.picture; len(picture) > 0 {
		s.Picture = r.config.Keep(a.step, picture)
	}
	a.picture = nil
}

// replace replaces the nth step; nil drops it.
func (r *Recorder) replace(n int, s *recorded.Step) {
	r.mu.Lock()
	r.steps[n-1] = s
	r.mu.Unlock()
	if s == nil && r.config.Keep != nil {
		r.config.Keep(n, nil)
	}
	if err := r.config.Write(n, s); err != nil && r.err == nil {
		r.err = err
	}
}
