package actingsign

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// A Config configures an Indicator.
type Config struct {
	// Sign reports whether a window with the label is shown.
	Sign bool
	// StopKey is the chord that calls OnStop while an agent acts; without a Key there is none.
	StopKey desktop.Chord
	// OnStop stops the agents. It must be quick.
	OnStop func()
	// Linger is the time that the sign stays after the last action; 0 means the default.
	Linger time.Duration
	// Compositor opens the screen of a Wayland session; nil, nil means that there is none, or that it cannot show the
	// sign.
	Compositor func(ctx context.Context) (Screen, error)
	Log        *slog.Logger // nil drops messages
}

const (
	defaultLinger = 2 * time.Second
	// interval is the time after which the sign is raised again, and after which a gateway takes over the sign of
	// another one that has ended.
	interval = 500 * time.Millisecond
)

// A Screen shows the sign over one connection, and reports the stop key.
type Screen interface {
	// Draw shows the text, or shows it again.
	Draw(ctx context.Context, text string) error
	// Pressed returns a channel that reports the stop key; nil if the screen cannot watch for it.
	Pressed() <-chan struct{}
	// Gone returns a channel that is closed when the connection is lost.
	Gone() <-chan struct{}
	// Close removes the sign.
	Close()
}

// An Indicator shows a small sign on the screen while an agent acts on windows, and watches the person's keyboard for
// the stop key meanwhile. It has its own connection, which exists only then. It is safe for concurrent use.
type Indicator struct {
	config  Config
	open    func(ctx context.Context) (Screen, error)
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

// New returns an indicator on the screens that open opens.
func New(c Config, open func(ctx context.Context) (Screen, error)) *Indicator {
	if c.Linger == 0 {
		c.Linger = defaultLinger
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	ctx, closeAll := context.WithCancel(context.Background())
	return &Indicator{config: c, open: open, changed: make(chan struct{}, 1), ctx: ctx, close: closeAll}
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

// state returns the text of the sign and whether an action is under way. The text names the stop key if there is one.
func (n *Indicator) state(hasKey bool) (text string, active bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.stopped:
		return "Stopped. Agents go on after: aai-gateway start", n.users > 0
	case !hasKey || n.config.StopKey.Key == "":
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
		level := slog.LevelWarn
		if aai.AsError(err).Code == aai.AutomationNotSupported { // as in each session of GNOME on Wayland
			level = slog.LevelDebug
		}
		n.config.Log.Log(n.ctx, level, "the person cannot see that an agent acts, or cannot stop it by key", "error", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.running = false
	if err == nil && n.users > 0 {
		n.running = true
		go n.run()
	}
}

// openScreen opens the compositor's screen, otherwise the X server's.
func (n *Indicator) openScreen(ctx context.Context) (Screen, error) {
	if n.config.Compositor != nil {
		if s, err := n.config.Compositor(ctx); s != nil || err != nil {
			return s, err
		}
	}
	return n.open(ctx)
}

// show is run for one connection.
func (n *Indicator) show(ctx context.Context) error {
	screen, err := n.openScreen(ctx)
	if err != nil {
		return err
	}
	defer screen.Close()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for idleSince := time.Now(); ; {
		text, active := n.state(screen.Pressed() != nil)
		if active {
			idleSince = time.Now()
		}
		if time.Since(idleSince) >= n.config.Linger {
			return nil
		}
		if n.config.Sign {
			if err := screen.Draw(ctx, text); err != nil {
				return aai.Errorf(aai.AsError(err).Code, "showing that an agent acts: %w", err)
			}
		}
		select {
		case <-n.changed:
		case <-tick.C:
		case <-screen.Pressed():
			n.stop()
			idleSince = time.Now()
		case <-ctx.Done():
			return ctx.Err()
		case <-screen.Gone():
			return aai.Errorf(aai.AutomationFailed, "showing that an agent acts: the connection to the screen is lost")
		}
	}
}
