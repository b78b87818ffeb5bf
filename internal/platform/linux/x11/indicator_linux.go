package x11

import (
	"context"
	"image"
	"math"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/actingsign"
)

// signSelection is the selection whose owner is the sign. It ensures one sign for each screen.
const signSelection = "_AAI_GATEWAY_SIGN"

// Indicator returns an indicator on the display, and reserves its stop key for the person. Call it
// before the first input.
func (d *Display) Indicator(c actingsign.Config) *actingsign.Indicator {
	d.stopChord = c.StopKey
	c.Log = d.config.Log
	return actingsign.New(c, d.openSign)
}

// openSign connects to the X server, and watches for the stop key.
func (d *Display) openSign(ctx context.Context) (actingsign.Screen, error) {
	key := newStopKey()
	s, err := d.connect(ctx, key.heard)
	if err != nil {
		return nil, err
	}
	w := &signWindow{server: s, display: d, key: key, watched: d.stopChord.Key != ""}
	if w.watched {
		if err := key.watch(ctx, s, d.stopChord); err != nil {
			w.Close()
			return nil, wrapError("watching for the stop key", err)
		}
	}
	return w, nil
}

// A signWindow is the sign's window. It catches no clicks, and window managers ignore it. It
// owns signSelection.
type signWindow struct {
	*server
	display *Display
	key     *stopKey
	watched bool // the stop key
	id      xid  // none before it is shown
	label   string
}

// Pressed implements actingsign.Screen.
func (w *signWindow) Pressed() <-chan struct{} {
	if !w.watched {
		return nil
	}
	return w.key.pressed
}

// Gone implements actingsign.Screen.
func (w *signWindow) Gone() <-chan struct{} { return w.gone }

// Close implements actingsign.Screen.
func (w *signWindow) Close() { w.lose(context.Canceled) }

// Draw shows the sign with the label above all windows, unless another gateway shows one.
func (w *signWindow) Draw(ctx context.Context, label string) error {
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
	picture := actingsign.Picture(label, monitor.Scale)
	size := picture.Bounds().Size()
	margin := int(math.Round(actingsign.Margin * monitor.Scale))
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
