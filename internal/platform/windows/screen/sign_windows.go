package screen

import (
	"context"
	"errors"
	"math"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/actingsign"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// signClass is the class of the sign's window, by which gateways find each other's: one sign is enough.
const signClass = "aai-gateway.sign"

// Indicator returns an indicator on the screen, and reserves its stop key for the person. Call it before the first input.
func (d *Display) Indicator(c actingsign.Config) *actingsign.Indicator {
	d.stopChord = c.StopKey
	c.Log = d.cfg.Log
	return actingsign.New(c, d.openSign)
}

// A signWindow is the sign's window, which no click and no keyboard reaches.
type signWindow struct {
	window  win32.Window
	canvas  *win32.Canvas
	label   string
	pressed chan struct{}
	watched bool
	gone    chan struct{}
	close   context.CancelFunc
}

// openSign makes the window, which does not show yet, and watches for the stop key. Without the key there is still a sign.
func (d *Display) openSign(context.Context) (actingsign.Screen, error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &signWindow{pressed: make(chan struct{}, 1), gone: make(chan struct{}), close: cancel}
	begun := make(chan error, 1)
	go func() {
		defer close(s.gone)
		err := win32.RunLoop(ctx, func() error {
			err := s.begin(d)
			begun <- err
			return err
		}, s.received)
		if err != nil && ctx.Err() == nil {
			d.cfg.Log.Warn("screen: the sign that an agent acts is gone", "error", err)
		}
	}()
	if err := <-begun; err != nil {
		cancel()
		return nil, systemError("making the sign that an agent acts", err)
	}
	return s, nil
}

// begin makes the window on the loop's thread.
func (s *signWindow) begin(d *Display) (err error) {
	const above = win32.ExLayered | win32.ExTransparent | win32.ExTopmost | win32.ExNoActivate | win32.ExTool
	s.window, err = win32.NewWindow(win32.WindowSpec{Class: signClass, Title: "aai-gateway: an agent acts", Style: win32.StylePopup, Ex: above})
	if err != nil || d.stopChord.Key == "" {
		return err
	}
	if err := registerChord(d.stopChord); err != nil {
		d.cfg.Log.Warn("screen: the stop key does not work; another program may have it", "error", err)
		return nil
	}
	s.watched = true
	return nil
}

// registerChord makes the loop receive the chord.
func registerChord(chord desktop.Chord) error {
	sym, modifiers, err := keysym.Chord(chord.Key, chord.Modifiers)
	if err != nil {
		return err
	}
	key, ok := namedKey(sym)
	if !ok {
		code, _, known := win32.Foreground().KeyFor(character(sym))
		if !known {
			return errors.New("no key of this keyboard types it")
		}
		key.code = code
	}
	flags := uint32(0)
	for _, m := range modifiers {
		held, _ := namedKey(m)
		flags |= map[uint16]uint32{keyShift: win32.HotShift, keyControl: win32.HotControl, keyAlt: win32.HotAlt, keyWin: win32.HotWin}[held.code]
	}
	return win32.RegisterHotKey(flags, key.code)
}

func (s *signWindow) received(m win32.Message) {
	if m.ID == win32.MessageHotKey {
		select {
		case s.pressed <- struct{}{}:
		default:
		}
	}
}

// Pressed implements actingsign.Screen.
func (s *signWindow) Pressed() <-chan struct{} {
	if !s.watched {
		return nil
	}
	return s.pressed
}

// Gone implements actingsign.Screen.
func (s *signWindow) Gone() <-chan struct{} { return s.gone }

// Close implements actingsign.Screen.
func (s *signWindow) Close() {
	s.close()
	<-s.gone
	if s.canvas != nil {
		s.canvas.Close()
	}
}

// Draw implements actingsign.Screen: it shows the label at the bottom right of the main monitor, unless another gateway shows a sign.
func (s *signWindow) Draw(_ context.Context, label string) error {
	if !s.window.Exists() {
		return aai.Errorf(aai.AutomationFailed, "the window of the sign is gone")
	}
	if !s.window.IsVisible() && isSignShown() {
		return nil
	}
	if label == s.label && s.window.IsVisible() {
		return s.window.Raise()
	}
	scale := 1.0
	if monitors := win32.Monitors(); len(monitors) > 0 {
		scale = monitors[0].Scale
	}
	area := win32.WorkArea()
	picture := actingsign.Picture(label, scale)
	size, margin := picture.Bounds().Size(), int(math.Round(actingsign.Margin*scale))
	canvas, err := win32.NewCanvas(size)
	if err != nil {
		return err
	}
	canvas.Draw(picture)
	if s.canvas != nil {
		s.canvas.Close()
	}
	s.canvas, s.label = canvas, label
	s.window.ExcludeFromPictures()
	return canvas.Show(s.window, desktop.Point{X: area.X + max(0, area.W-size.X-margin), Y: area.Y + max(0, area.H-size.Y-margin)})
}

// isSignShown reports whether a gateway shows its sign.
func isSignShown() bool {
	for _, w := range win32.TopLevel() {
		if w.IsVisible() && w.Class() == signClass {
			return true
		}
	}
	return false
}
