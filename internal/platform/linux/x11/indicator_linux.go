package x11

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"golang.org/x/image/font"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"
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

// The look of the sign, in logical pixels.
const (
	signHeight  = 26
	signPadding = 10
	signDot     = 10 // diameter
	signMargin  = 12 // to the edges of the work area
	maxLabel    = 90 // characters
)

// A signWindow is the sign's window. It catches no clicks, and window managers ignore it. It
// owns signSelection.
type signWindow struct {
	*server
	display *Display
	id      xid // none before it is shown
	label   string
}

// draw shows the sign with the label above all windows, unless another gateway shows one.
func (w *signWindow) draw(ctx context.Context, label string) error {
	selection := internAtom(signSelection)
	if err := w.must(ctx, selection); err != nil {
		return err
	}
	atom := from(selection.reply, 8).u32()
	owner := getSelectionOwner(atom)
	if err := w.must(ctx, owner); err != nil {
		return err
	}
	switch from(owner.reply, 8).u32() {
	case none:
		if w.id != none { // another program took and dropped the selection
			return w.must(ctx, setSelectionOwner(w.id, atom, 0), raiseWindow(w.id))
		}
		return w.create(ctx, atom, label)
	case w.id:
		if label == w.label {
			return w.must(ctx, raiseWindow(w.id))
		}
		err := w.must(ctx, destroyWindow(w.id))
		w.id = none
		if err != nil {
			return err
		}
		return w.create(ctx, atom, label)
	}
	return nil
}

// create creates the window, and claims the selection.
func (w *signWindow) create(ctx context.Context, selection xid, label string) error {
	monitor, area, err := w.place(ctx)
	if err != nil {
		return err
	}
	picture := signPicture(label, monitor.Scale)
	size := picture.Bounds().Size()
	margin := int(math.Round(signMargin * monitor.Scale))
	x, y := area.X+max(0, area.W-size.X-margin), area.Y+max(0, area.H-size.Y-margin)
	id, pixmap, gc := w.newID(), w.newID(), w.newID()
	const (
		createPixmap, createGC, freeGC, inputOutput      = 53, 55, 60, 1
		backPixmap, overrideRedirect, setShape, inputSet = 1 << 0, 1 << 9, 1, 2
	)
	calls := []*call{
		command(createPixmap, w.setup.rootDepth, pixmap, w.root, uint16(size.X), uint16(size.Y)),
		command(createGC, 0, gc, pixmap, uint32(0)),
	}
	calls = append(calls, w.putPicture(pixmap, gc, picture)...)
	calls = append(calls,
		command(1, copyFromParent, id, w.root, int16(x), int16(y), uint16(size.X), uint16(size.Y), uint16(0), uint16(inputOutput),
			uint32(copyFromParent), uint32(backPixmap|overrideRedirect), pixmap, uint32(1)),
		changeProperty(replaceProperty, id, atomName, atomString, 8, []byte("aai-gateway: an agent acts")),
		changeProperty(replaceProperty, id, atomClass, atomString, 8, []byte("aai-gateway\x00aai-gateway\x00")),
	)
	if w.shape != 0 { // an empty region for input: clicks pass through
		calls = append(calls, command(w.shape, setShape, byte(0), byte(inputSet), byte(0), pad(1), id, int16(0), int16(0)))
	}
	calls = append(calls, mapWindow(id), setSelectionOwner(id, selection, 0), freePixmap(pixmap), command(freeGC, 0, gc))
	w.id, w.label = id, label
	return w.must(ctx, calls...)
}

// place returns the monitor for the sign, and the part of it that panels leave free.
func (w *signWindow) place(ctx context.Context) (desktop.Monitor, desktop.Rect, error) {
	monitors, err := w.display.Monitors(ctx)
	if err != nil {
		return desktop.Monitor{}, desktop.Rect{}, err
	}
	workArea := internAtom("_NET_WORKAREA")
	if err := w.must(ctx, workArea); err != nil {
		return desktop.Monitor{}, desktop.Rect{}, err
	}
	free := getProperty(w.root, from(workArea.reply, 8).u32(), 16, false)
	if err := w.must(ctx, free); err != nil {
		return desktop.Monitor{}, desktop.Rect{}, err
	}
	area := monitors[0].Frame
	if n := free.property().numbers(); len(n) == 4 {
		r := desktop.Rect{X: int(int32(n[0])), Y: int(int32(n[1])), W: int(n[2]), H: int(n[3])}
		if r = r.Intersect(area); !r.Empty() {
			area = r
		}
	}
	return monitors[0], area, nil
}

// putPicture copies the picture to a drawable, in strips that fit a request.
func (w *signWindow) putPicture(drawable, gc xid, picture *image.RGBA) (calls []*call) {
	const putImage, zPixmap, stripBytes = 72, 2, 128 << 10
	size := picture.Bounds().Size()
	rows := max(1, stripBytes/(4*size.X))
	for y := 0; y < size.Y; y += rows {
		n := min(rows, size.Y-y)
		pixels := make([]byte, 0, 4*size.X*n)
		for row := y; row < y+n; row++ {
			for x := range size.X {
				c := picture.RGBAAt(x, row)
				if w.setup.bigEndianImages {
					pixels = append(pixels, 0xff, c.R, c.G, c.B)
				} else {
					pixels = append(pixels, c.B, c.G, c.R, 0xff)
				}
			}
		}
		calls = append(calls, command(putImage, zPixmap, drawable, gc, uint16(size.X), uint16(n), int16(0), int16(y), byte(0), w.setup.rootDepth, pad(2), pixels))
	}
	return calls
}

// signPicture returns the picture of the sign: a red dot and the label.
func signPicture(label string, scale float64) *image.RGBA {
	face := inconsolata.Regular8x16
	label = drawable(label)
	width := 3*signPadding + signDot + font.MeasureString(face, label).Ceil()
	small := image.NewRGBA(image.Rect(0, 0, width, signHeight))
	ground, edge, dot := color.RGBA{0x22, 0x22, 0x26, 0xff}, color.RGBA{0x77, 0x77, 0x80, 0xff}, color.RGBA{0xff, 0x4d, 0x4d, 0xff}
	draw.Draw(small, small.Bounds(), image.NewUniform(edge), image.Point{}, draw.Src)
	draw.Draw(small, small.Bounds().Inset(1), image.NewUniform(ground), image.Point{}, draw.Src)
	const top = (signHeight - signDot) / 2
	for y := range signDot {
		for x := range signDot {
			if dx, dy := 2*x+1-signDot, 2*y+1-signDot; dx*dx+dy*dy <= signDot*signDot {
				small.SetRGBA(signPadding+x, top+y, dot)
			}
		}
	}
	text := font.Drawer{Dst: small, Src: image.White, Face: face, Dot: fixed.P(2*signPadding+signDot, 18)}
	text.DrawString(label)
	return enlarge(small, max(1, int(math.Round(scale))))
}

// drawable returns the label with only characters that the font has, and cut to maxLabel.
func drawable(label string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, label))
	if len(runes) > maxLabel {
		runes = append(runes[:maxLabel-3], '.', '.', '.')
	}
	return string(runes)
}

// enlarge returns the picture with each pixel repeated.
func enlarge(small *image.RGBA, times int) *image.RGBA {
	if times == 1 {
		return small
	}
	size := small.Bounds().Size()
	large := image.NewRGBA(image.Rect(0, 0, times*size.X, times*size.Y))
	for y := range times * size.Y {
		for x := range times * size.X {
			large.SetRGBA(x, y, small.RGBAAt(x/times, y/times))
		}
	}
	return large
}
