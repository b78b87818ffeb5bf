package x11

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// An IndicatorConfig configures an Indicator.
type IndicatorConfig struct {
	// Sign reports whether a window with the label is shown.
	Sign bool
	// StopKey is the chord that calls OnStop while an agent acts; without a Key there is none.
	StopKey desktop.Chord
	// OnStop stops the agents. It must be quick.
	OnStop func()
	// Linger is the time that the sign stays after the last action; 0 means the default.
	Linger time.Duration
}

const (
	defaultLinger = 2 * time.Second
	// signInterval is the time after which the sign is raised again, and after which a gateway takes
	// over the sign of another one that has ended.
	signInterval = 500 * time.Millisecond
	// signSelection is the selection whose owner is the sign. It ensures one sign for each screen.
	signSelection = "_AAI_GATEWAY_SIGN"
)

// An Indicator shows a small sign on the screen while an agent acts on windows, and watches the
// person's keyboard for the stop key meanwhile. It has its own connection, which exists only then.
// It is safe for concurrent use.
type Indicator struct {
	display *Display
	config  IndicatorConfig
	changed chan struct{} // signals a new label or count
	ctx     context.Context
	close   context.CancelFunc

	mu      sync.Mutex
	label   string
	users   int  // calls of Show without their hide
	stopped bool // the person has pressed the stop key; until the next Show
	running bool
}

var _ desktop.Indicator = (*Indicator)(nil)

// Indicator returns an indicator on the display, and reserves its stop key for the person. Call it
// before the first input.
func (d *Display) Indicator(c IndicatorConfig) *Indicator {
	if c.Linger == 0 {
		c.Linger = defaultLinger
	}
	d.stopChord = c.StopKey
	ctx, closeAll := context.WithCancel(context.Background())
	return &Indicator{display: d, config: c, changed: make(chan struct{}, 1), ctx: ctx, close: closeAll}
}

// Close removes the sign. The Indicator shows nothing afterwards.
func (n *Indicator) Close() { n.close() }

// Show implements desktop.Indicator.
func (n *Indicator) Show(label string) (hide func()) {
	n.update(func() {
		n.users++
		n.label, n.stopped = label, false
	})
	return sync.OnceFunc(func() { n.update(func() { n.users-- }) })
}

// update changes the state, and starts run if necessary.
func (n *Indicator) update(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
	if !n.running && n.users > 0 {
		n.running = true
		go n.run()
	}
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

// state returns the text of the sign and whether an action is under way.
func (n *Indicator) state() (text string, active bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.stopped:
		return "Stopped. Agents go on after: aai-gateway start", n.users > 0
	case n.config.StopKey.Key == "":
		return n.label, n.users > 0
	}
	return n.label + " - " + strings.Join(append(slices.Clone(n.config.StopKey.Modifiers), n.config.StopKey.Key), "+") + " stops all agents", n.users > 0
}

// stop calls OnStop, and shows that.
func (n *Indicator) stop() {
	n.config.OnStop()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopped = true
}

// run shows the sign and watches the keyboard until no action was under way for Linger.
func (n *Indicator) run() {
	err := n.show(n.ctx)
	if err != nil && n.ctx.Err() == nil {
		n.display.config.Log.Warn("the person cannot see that an agent acts, or cannot stop it by key", "error", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.running = false
	if err == nil && n.users > 0 {
		n.running = true
		go n.run()
	}
}

// show is run for one connection.
func (n *Indicator) show(ctx context.Context) error {
	key := newStopKey()
	s, err := n.display.connect(ctx, key.heard)
	if err != nil {
		return err
	}
	defer s.lose(context.Canceled)
	if n.config.StopKey.Key != "" {
		if err := key.watch(ctx, s, n.config.StopKey); err != nil {
			return wrapError("watching for the stop key", err)
		}
	}
	w := &signWindow{server: s, display: n.display}
	tick := time.NewTicker(signInterval)
	defer tick.Stop()
	for idleSince := time.Now(); ; {
		text, active := n.state()
		if active {
			idleSince = time.Now()
		}
		if time.Since(idleSince) >= n.config.Linger {
			return nil
		}
		if n.config.Sign {
			if err := w.draw(ctx, text); err != nil {
				return wrapError("showing that an agent acts", err)
			}
		}
		select {
		case <-n.changed:
		case <-tick.C:
		case <-key.pressed:
			n.stop()
			idleSince = time.Now()
		case <-ctx.Done():
			return ctx.Err()
		case <-s.gone:
			return wrapError("showing that an agent acts", s.lostError())
		}
	}
}
