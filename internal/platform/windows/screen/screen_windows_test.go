package screen

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/actingsign"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

func (p *program) window() win32.Window { return win32.Window(p.id) }

func codeOf(err error) aai.Code {
	if e, ok := errors.AsType[*aai.Error](err); ok {
		return e.Code
	}
	return ""
}

func TestWindowsOfProgramsAreListed(t *testing.T) {
	p := start(t, "Listed")
	w := p.info()
	assert.Equal(t, w.PID, p.pid)
	assert.Equal(t, w.Class, "aai.test.window")
	assert.Equal(t, w.Frame.W, 400)
	assert.Equal(t, w.Covered, 0.0)
	at, err := p.WindowAt(t.Context(), p.childPoint())
	assert.NilError(t, err)
	assert.Equal(t, at.ID, p.id)
	_, err = p.WindowAt(t.Context(), desktop.Point{X: 30000, Y: 30000})
	assert.Equal(t, codeOf(err), aai.InvalidParams)
}

func TestManageDoesNotTakeTheKeyboard(t *testing.T) {
	first := start(t, "First")
	second := start(t, "Second")
	assert.NilError(t, second.Activate(t.Context(), second.id))
	assert.Check(t, second.info().Active)
	assert.Check(t, first.info().Covered > 0, "%+v", first.info())

	assert.NilError(t, first.Manage(t.Context(), first.id, desktop.Raise))
	first.await("raised", func() bool { return first.info().Covered == 0 })
	assert.Check(t, second.info().Active)
	assert.NilError(t, first.Manage(t.Context(), first.id, desktop.Minimize))
	first.await("minimized", func() bool { return first.info().Minimized })
	assert.Check(t, second.info().Active)
	_, err := first.CaptureWindow(t.Context(), first.id)
	assert.Equal(t, codeOf(err), aai.AutomationNotSupported)
	assert.NilError(t, first.Manage(t.Context(), first.id, desktop.Restore))
	first.await("restored", func() bool { return !first.info().Minimized })
	assert.Check(t, second.info().Active)
	assert.NilError(t, first.Activate(t.Context(), first.id))
	assert.Check(t, first.info().Active)
	assert.NilError(t, first.Manage(t.Context(), first.id, desktop.Close))
	first.await("closed", func() bool { return first.said("closed") != "" })
	first.await("gone", func() bool { return codeOf(first.Manage(t.Context(), first.id, desktop.Raise)) == aai.AutomationFailed })
}

func TestPicturesShowTheWindowsColours(t *testing.T) {
	p := start(t, "Picture")
	want := map[desktop.Point]color.RGBA{p.childPoint(): {0x20, 0xc0, 0x40, 0xff}}
	corner := p.childPoint()
	corner.X += 200
	want[corner] = color.RGBA{0xc0, 0x40, 0x20, 0xff}
	frame := p.info().Frame
	for name, take := range map[string]func() (*image.RGBA, error){
		"window": func() (*image.RGBA, error) { return p.CaptureWindow(t.Context(), p.id) },
		"screen": func() (*image.RGBA, error) { return p.Capture(t.Context(), frame) },
	} {
		picture, err := take()
		assert.NilError(t, err, name)
		assert.Equal(t, picture.Bounds().Size(), image.Pt(frame.W, frame.H), name)
		assert.Check(t, picture.Opaque(), name)
		for at, colour := range want {
			assert.Equal(t, picture.RGBAAt(at.X-frame.X, at.Y-frame.Y), colour, "%s at %v", name, at)
		}
	}
	beyond, err := p.Capture(t.Context(), desktop.Rect{X: -10, Y: -10, W: 20, H: 20})
	assert.NilError(t, err)
	assert.Equal(t, beyond.RGBAAt(3, 3), color.RGBA{A: 0xff})
	keepPicture(t, p.Display)
}

// keepPicture keeps a picture of the whole screen for people, if the flag -picture names a file.
func keepPicture(t *testing.T, d *Display) {
	t.Helper()
	picture, err := d.Capture(t.Context(), win32.VirtualScreen())
	assert.NilError(t, err)
	var b bytes.Buffer
	assert.NilError(t, png.Encode(&b, picture))
	if file := flag.Lookup("picture").Value.String(); file != "" {
		assert.NilError(t, os.WriteFile(file, b.Bytes(), 0o600))
	}
}

func TestMonitorsAndLayers(t *testing.T) {
	p := start(t, "Layers")
	monitors, err := p.Monitors(t.Context())
	assert.NilError(t, err)
	assert.Check(t, monitors[0].Primary && monitors[0].Scale > 0 && monitors[0].Frame.W > 0, "%+v", monitors)
	layers, err := p.Layers(t.Context())
	assert.NilError(t, err)
	last := layers[len(layers)-1]
	assert.Equal(t, last.PID, p.pid)
	assert.Equal(t, len(last.OpaqueRegion), 1)
	assert.Check(t, !last.Unmanaged)
	assert.Equal(t, p.PauseReason(t.Context()), "")
}

func TestOwnSeatLeavesPointerAndKeyboardAlone(t *testing.T) {
	p := start(t, "Background")
	other := start(t, "The person's")
	assert.NilError(t, other.Activate(t.Context(), other.id))
	before := win32.Pointer()
	p.forget()
	assert.NilError(t, p.Click(t.Context(), desktop.OwnSeat, p.id, p.childPoint(), desktop.LeftButton, 2))
	p.await("clicked", func() bool { return p.count("child 0x202 0x0 0x1e0014") == 2 })
	assert.Equal(t, p.count("child 0x201 0x1 0x1e0014"), 1)
	assert.Equal(t, p.count("child 0x203 0x1 0x1e0014"), 1, "the second click is a double click")
	assert.NilError(t, p.Scroll(t.Context(), desktop.OwnSeat, p.id, p.childPoint(), 0, 2))
	p.await("scrolled", func() bool { return p.count("child 0x20a 0xff880000") == 2 })
	assert.Equal(t, win32.Pointer(), before)
	assert.Check(t, other.info().Active)

	title := desktop.Point{X: p.info().Frame.X + 100, Y: p.info().Frame.Y + 10}
	for name, err := range map[string]error{
		"title bar":    p.Click(t.Context(), desktop.OwnSeat, p.id, title, desktop.LeftButton, 1),
		"right button": p.Click(t.Context(), desktop.OwnSeat, p.id, p.childPoint(), desktop.RightButton, 1),
		"drag":         p.Drag(t.Context(), desktop.OwnSeat, p.id, title, p.childPoint(), 0),
		"modifiers":    p.Key(t.Context(), desktop.OwnSeat, p.id, desktop.Chord{Key: "a", Modifiers: []string{"ctrl"}}),
		"no focus":     p.Type(t.Context(), desktop.OwnSeat, p.id, "x"),
	} {
		assert.Equal(t, codeOf(err), aai.AutomationNotSupported, name)
	}
	err := p.Key(t.Context(), desktop.OwnSeat, p.id, desktop.Chord{Key: "no such key"})
	assert.Equal(t, codeOf(err), aai.InvalidParams)
}

func TestOwnSeatTypesWhereTheProgramHasTheFocus(t *testing.T) {
	p := start(t, "Focused")
	assert.NilError(t, p.Activate(t.Context(), p.id))
	p.forget()
	assert.NilError(t, p.Type(t.Context(), desktop.OwnSeat, p.id, "é🙂\n"))
	p.await("typed", func() bool { return p.count("window 0x101 0xd") == 1 })
	for _, unit := range []string{"0xe9", "0xd83d", "0xde42", "0xd"} { // the program makes the last one of the key Return
		assert.Equal(t, p.count("window 0x102 "+unit+" "), 1, unit)
	}
	assert.NilError(t, p.Key(t.Context(), desktop.OwnSeat, p.id, desktop.Chord{Key: "left"}))
	p.await("pressed", func() bool { return p.count("window 0x100 0x25 0x14b0001") == 1 })
}

func TestPersonSeatClicksAndTypes(t *testing.T) {
	p := start(t, "Person")
	assert.NilError(t, p.Activate(t.Context(), p.id))
	p.forget()
	assert.NilError(t, p.Click(t.Context(), desktop.PersonSeat, p.id, p.childPoint(), desktop.RightButton, 1))
	p.await("clicked", func() bool { return p.count("child 0x205 0x0 0x1e0014") == 1 })
	assert.Equal(t, win32.Pointer(), p.childPoint())
	assert.NilError(t, p.Type(t.Context(), desktop.PersonSeat, p.id, "ß日🙂"))
	p.await("typed", func() bool { return p.count("window 0x102 0xde42") == 1 })
	for _, unit := range []string{"0xdf", "0x65e5", "0xd83d"} {
		assert.Equal(t, p.count("window 0x102 "+unit+" "), 1, unit)
	}
	assert.NilError(t, p.Key(t.Context(), desktop.PersonSeat, p.id, desktop.Chord{Key: "a", Modifiers: []string{"ctrl"}}))
	p.await("pressed", func() bool { return p.count("window 0x102 0x1 ") == 1 })
	assert.NilError(t, p.Scroll(t.Context(), desktop.PersonSeat, p.id, p.childPoint(), 0, -1))
	p.await("scrolled", func() bool { return p.count("child 0x20a 0x780000")+p.count("window 0x20a 0x780000") > 0 })
	to := p.childPoint()
	to.X += 40
	assert.NilError(t, p.Drag(t.Context(), desktop.PersonSeat, p.id, p.childPoint(), to, 50*time.Millisecond))
	p.await("dragged", func() bool { return p.count("child 0x202 0x0 0x1e003c") == 1 })

	other := start(t, "Another")
	assert.NilError(t, other.Activate(t.Context(), other.id))
	err := p.Type(t.Context(), desktop.PersonSeat, p.id, "x")
	assert.Equal(t, codeOf(err), aai.AutomationFailed)
	err = p.Click(t.Context(), desktop.PersonSeat, p.id, p.childPoint(), desktop.LeftButton, 1)
	assert.ErrorContains(t, err, "another window lies over it")
	err = other.WithKeyboard(t.Context(), desktop.PersonSeat, other.id, func(ctx context.Context, input desktop.Input) error {
		assert.NilError(t, input.Type(ctx, desktop.PersonSeat, other.id, "y"))
		return input.Click(ctx, desktop.PersonSeat, other.id, other.childPoint(), desktop.LeftButton, 1)
	})
	assert.Equal(t, codeOf(err), aai.AutomationNotSupported)
	other.await("typed", func() bool { return other.count("window 0x102 0x79") == 1 })
}

func TestInputWaitsForQuestions(t *testing.T) {
	p := start(t, "Question")
	lease, err := p.cfg.InputLock.AcquireForQuestion(t.Context())
	assert.NilError(t, err)
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	p.forget()
	err = p.Click(short, desktop.OwnSeat, p.id, p.childPoint(), desktop.LeftButton, 1)
	assert.Equal(t, codeOf(err), aai.RateLimited)
	lease.Release()
	assert.NilError(t, p.Click(t.Context(), desktop.OwnSeat, p.id, p.childPoint(), desktop.LeftButton, 1))
	p.await("clicked", func() bool { return p.count("child 0x202") == 1 })
	assert.Equal(t, p.count("child 0x201"), 1)
	none := New(Config{})
	assert.Equal(t, codeOf(none.Click(t.Context(), desktop.OwnSeat, p.id, p.childPoint(), desktop.LeftButton, 1)), aai.AutomationNotSupported)
}

func TestButtonsOfDeadGatewaysAreReleased(t *testing.T) {
	d := New(Config{InputLock: inputlock.New(inputlock.Config{})})
	held := []inputlock.HeldInput{{Process: os.Getpid(), Buttons: []byte{1}}, {Process: 1 << 29}}
	rest := d.releaseDead(t.Context(), nil, held)
	assert.Equal(t, len(rest), 1)
	assert.Equal(t, rest[0].Process, os.Getpid())
}

func TestClipboardKeepsTextAndPictures(t *testing.T) {
	d := New(Config{})
	for _, text := range []string{"Grüße\n日本 €🙂", strings.Repeat("long ", 100_000), "x"} {
		_, err := d.Set(t.Context(), desktop.Clip{Text: text})
		assert.NilError(t, err)
		clip, err := d.Get(t.Context())
		assert.NilError(t, err)
		assert.Equal(t, clip.Text, text)
		assert.Equal(t, len(clip.PNG), 0)
	}
	picture := pngOf(t, 40, 30)
	stays, err := d.Set(t.Context(), desktop.Clip{PNG: picture})
	assert.NilError(t, err)
	assert.Check(t, stays != "")
	clip, err := d.Get(t.Context())
	assert.NilError(t, err)
	assert.DeepEqual(t, clip.PNG, picture)
	_, err = onClipboard(t.Context(), "testing", func(c *win32.Clipboard) (struct{}, error) {
		data, err := c.Read(win32.ClipBitmap, maxClip)
		assert.NilError(t, err)
		bitmap, err := pngFromDIB(data)
		assert.NilError(t, err)
		size, err := png.DecodeConfig(bytes.NewReader(bitmap))
		assert.NilError(t, err)
		assert.Equal(t, size.Width, 40)
		return struct{}{}, nil
	})
	assert.NilError(t, err)
	_, err = d.Set(t.Context(), desktop.Clip{})
	assert.NilError(t, err)
	clip, err = d.Get(t.Context())
	assert.NilError(t, err)
	assert.DeepEqual(t, clip, desktop.Clip{})
	for name, faulty := range map[string]desktop.Clip{"zero": {Text: "a\x00b"}, "bytes": {Text: "\xff"}, "picture": {PNG: []byte("no")}} {
		_, err = d.Set(t.Context(), faulty)
		assert.Equal(t, codeOf(err), aai.InvalidParams, name)
	}
}

func TestChangesAreReported(t *testing.T) {
	d := New(Config{})
	ctx, cancel := context.WithCancel(t.Context())
	windows, clips := make(chan struct{}, 1000), make(chan struct{}, 1000)
	ended := make(chan error, 2)
	go func() { ended <- d.WatchWindows(ctx, func() { windows <- struct{}{} }) }()
	go func() { ended <- d.WatchClipboard(ctx, func() { clips <- struct{}{} }) }()
	<-windows
	<-clips
	start(t, "Change")
	select {
	case <-windows:
	case <-time.After(30 * time.Second):
		t.Error("no change of a window was reported")
	}
	_, err := d.Set(t.Context(), desktop.Clip{Text: "changed"})
	assert.NilError(t, err)
	select {
	case <-clips:
	case <-time.After(30 * time.Second):
		t.Error("no change of the clipboard was reported")
	}
	cancel()
	assert.ErrorIs(t, <-ended, context.Canceled)
	assert.ErrorIs(t, <-ended, context.Canceled)
	assert.Equal(t, codeOf(d.WatchNotifications(t.Context(), nil)), aai.AutomationNotSupported)
}

func TestSignShowsAndItsKeyStops(t *testing.T) {
	p := start(t, "Sign")
	assert.NilError(t, p.Activate(t.Context(), p.id))
	stops := make(chan struct{}, 10)
	indicator := p.Indicator(actingsign.Config{
		Sign: true, StopKey: desktop.Chord{Key: "f9", Modifiers: []string{"ctrl", "alt"}}, OnStop: func() { stops <- struct{}{} }, Linger: 300 * time.Millisecond,
	})
	defer indicator.Close()
	hide := indicator.Show("an agent acts on Notes")
	p.await("shown", isSignShown)
	assert.Check(t, p.info().Active, "the sign takes no keyboard")
	s := look()
	assert.Equal(t, s.windows[0].window.Class(), signClass)
	frame := s.windows[0].layer.frame
	picture, err := p.Capture(t.Context(), frame)
	assert.NilError(t, err)
	t.Logf("the picture of the screen has at the sign's place %v", picture.RGBAAt(15, 13))
	keepPicture(t, p.Display)

	err = p.Key(t.Context(), desktop.PersonSeat, p.id, desktop.Chord{Key: "f9", Modifiers: []string{"alt", "ctrl"}})
	assert.Equal(t, codeOf(err), aai.PermissionDenied)
	_, err = win32.SendInput(win32.Key(keyControl, 0, 0), win32.Key(keyAlt, 0, 0), win32.Key(0x78, 0, 0),
		win32.Key(0x78, 0, win32.KeyUp), win32.Key(keyAlt, 0, win32.KeyUp), win32.Key(keyControl, 0, win32.KeyUp))
	assert.NilError(t, err)
	select {
	case <-stops:
	case <-time.After(30 * time.Second):
		t.Error("the stop key did nothing")
	}
	hide()
	p.await("hidden", func() bool { return !isSignShown() })
}
