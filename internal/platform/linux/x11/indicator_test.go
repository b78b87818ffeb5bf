//go:build linux

package x11

import (
	"context"
	"image"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/actingsign"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// sign returns the sign's window on the screen, or none.
func sign(ctx context.Context, t *testing.T, s *server) xid {
	t.Helper()
	atom := internAtom(signSelection)
	assert.NilError(t, s.must(ctx, atom))
	owner := getSelectionOwner(from(atom.reply, 8).u32())
	assert.NilError(t, s.must(ctx, owner))
	return from(owner.reply, 8).u32()
}

// until waits for the condition.
func until(ctx context.Context, t testing.TB, what string, is func() bool) {
	t.Helper()
	for !is() {
		if ctx.Err() != nil {
			t.Fatal("waiting for " + what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// stopChord is the chord of the tests.
func stopChord() desktop.Chord { return desktop.Chord{Key: "escape", Modifiers: []string{"super"}} }

// newIndicator returns an indicator with the stop chord, and a channel of its presses.
func newIndicator(t *testing.T, d *Display) (*actingsign.Indicator, <-chan struct{}) {
	stops := make(chan struct{}, 100)
	n := d.Indicator(actingsign.Config{Sign: true, StopKey: stopChord(), OnStop: func() { stops <- struct{}{} }, Linger: 50 * time.Millisecond})
	t.Cleanup(n.Close)
	return n, stops
}

// testSign checks that the sign is there during an action, hides nothing from clicks,
// is no window of a program, and goes afterwards.
func testSign(t *testing.T, s *linuxtest.Session, _ *linuxtest.Fixture) {
	d, conn, ctx := inside(t, s)
	n, _ := newIndicator(t, d)
	before, err := d.Windows(ctx)
	assert.NilError(t, err)
	hide := n.Show("claude acts in Mousepad")
	until(ctx, t, "the sign", func() bool { return sign(ctx, t, conn) != none })
	id := sign(ctx, t, conn)
	geometry := getGeometry(id)
	assert.NilError(t, conn.must(ctx, geometry))
	frame := geometryOf(geometry)
	shot, err := d.Capture(ctx, frame)
	assert.NilError(t, err)
	assert.Check(t, hasRed(shot), "the sign's dot is not on the screen")
	at, err := d.WindowAt(ctx, desktop.Point{X: frame.X + frame.W/2, Y: frame.Y + frame.H/2})
	assert.Check(t, err != nil || at.ID != desktop.WindowID(id), "a click would hit the sign")
	windows, err := d.Windows(ctx)
	assert.NilError(t, err)
	assert.Check(t, is.Len(windows, len(before)), "with the sign there are the windows %+v, before %+v", windows, before)
	hide()
	until(ctx, t, "the sign to go", func() bool { return sign(ctx, t, conn) == none })
}

// hasRed reports whether the picture has a pixel of the sign's dot.
func hasRed(p *image.RGBA) bool {
	for i := 0; i < len(p.Pix); i += 4 {
		if p.Pix[i] == 0xff && p.Pix[i+1] == 0x4d && p.Pix[i+2] == 0x4d {
			return true
		}
	}
	return false
}

// testOneSign checks that two gateways show one sign, and that the second takes over when the first
// has ended.
func testOneSign(t *testing.T, s *linuxtest.Session) {
	d, conn, ctx := inside(t, s)
	other, _, _ := inside(t, s)
	one, _ := newIndicator(t, d)
	two, _ := newIndicator(t, other)
	width := func() int {
		geometry := getGeometry(sign(ctx, t, conn))
		assert.NilError(t, conn.do(ctx, geometry))
		if geometry.err != nil {
			return 0
		}
		return geometryOf(geometry).W
	}
	defer one.Show("short")()
	until(ctx, t, "the sign", func() bool { return width() > 0 })
	first := width()
	defer two.Show("a label that is longer")()
	one.Close()
	until(ctx, t, "the second gateway's sign", func() bool { return width() > first })
}

// testStopKey checks that only the chord of the person's keyboard stops, whatever window has the focus.
func testStopKey(t *testing.T, s *linuxtest.Session, _ *linuxtest.Fixture) {
	d, conn, ctx := inside(t, s)
	n, stops := newIndicator(t, d)
	defer n.Show("claude acts in Mousepad")()
	until(ctx, t, "the sign", func() bool { return sign(ctx, t, conn) != none })
	l, err := conn.layout(ctx)
	assert.NilError(t, err)
	code := func(name string, of func(string) (keysym.Sym, error)) byte {
		sym, err := of(name)
		assert.NilError(t, err)
		return l.codesOf(sym)[0]
	}
	modifier := func(name string) (keysym.Sym, error) { return keysym.Modifier(name) }
	escape, super, shift := code("escape", keysym.Key), code("super", modifier), code("shift", modifier)
	press := func(codes ...byte) {
		t.Helper()
		var calls []*call
		for _, c := range codes {
			calls = append(calls, conn.fakeInput(keyPress, c, desktop.Point{}))
		}
		for _, c := range slices.Backward(codes) {
			calls = append(calls, conn.fakeInput(keyRelease, c, desktop.Point{}))
		}
		assert.NilError(t, conn.must(ctx, calls...))
	}
	press(escape)
	press(shift, escape)
	press(super)
	press(super, escape)
	select {
	case <-stops:
	case <-ctx.Done():
		t.Fatal("super+escape did not stop")
	}
	assert.Check(t, is.Equal(len(stops), 0), "%d more stops", len(stops))
}

// testAgentsStopKey checks that the gateway refuses to press the stop chord with the
// person's keyboard, also with more modifiers, and presses other chords.
func testAgentsStopKey(t *testing.T, s *linuxtest.Session, _ *linuxtest.Fixture) {
	d, conn, ctx := inside(t, s)
	_, stops := newIndicator(t, d)
	sc, err := conn.look(ctx)
	assert.NilError(t, err, "%+v", sc)
	assert.Assert(t, is.Len(sc.clients, 1), "%+v", sc)
	for _, c := range []struct {
		chord desktop.Chord
		want  aai.Code
	}{
		{desktop.Chord{Key: "escape", Modifiers: []string{"meta"}}, aai.PermissionDenied},
		{desktop.Chord{Key: "Esc", Modifiers: []string{"cmd", "shift"}}, aai.PermissionDenied},
		{desktop.Chord{Key: "escape"}, ""},
	} {
		err := d.Key(ctx, desktop.PersonSeat, sc.clients[0].ID, c.chord)
		assert.Check(t, c.want != "" || err == nil, "%+v %v %q", c.chord, err, c.want)
		assert.Check(t, c.want == "" || err != nil && aai.AsError(err).Code == c.want, "%+v %v %q", c.chord, err, c.want)
	}
	assert.Check(t, is.Equal(len(stops), 0))
}

// testPauseForACover checks that a window that covers the screen past the window manager pauses
// actions, and one that covers a part, or a managed one, does not.
func testPauseForACover(t *testing.T, s *linuxtest.Session, _ *linuxtest.Fixture) {
	d, conn, ctx := inside(t, s)
	managed, err := conn.managed(ctx)
	assert.NilError(t, err, managed)
	assert.Assert(t, managed, "managed %v, %v", managed, err)
	assert.Check(t, is.Equal(d.PauseReason(ctx), ""))
	geometry := getGeometry(conn.root)
	assert.NilError(t, conn.must(ctx, geometry))
	screen := geometryOf(geometry)
	const overrideRedirectValue, inputOutput = 1 << 9, 1
	for _, c := range []struct {
		name    string
		width   int
		bypass  bool
		catches bool
		want    bool
	}{
		{"a part of the screen", screen.W / 2, true, true, false},
		{"the whole screen", screen.W, true, true, true},
		{"a managed window", screen.W, false, true, false},
		{"an overlay without clicks", screen.W, true, false, false},
	} {
		id := conn.newID()
		redirect := uint32(0)
		if c.bypass {
			redirect = 1
		}
		calls := []*call{command(1, copyFromParent, id, conn.root, int16(0), int16(0), uint16(c.width), uint16(screen.H), uint16(0), uint16(inputOutput),
			uint32(copyFromParent), uint32(overrideRedirectValue), redirect)}
		if !c.catches {
			const setShape, inputSet = 1, 2
			calls = append(calls, command(conn.shape, setShape, byte(0), byte(inputSet), byte(0), pad(1), id, int16(0), int16(0)))
		}
		assert.NilError(t, conn.must(ctx, append(calls, mapWindow(id))...))
		until(ctx, t, c.name, func() bool {
			a := getWindowAttributes(id)
			return conn.must(ctx, a) == nil && a.reply[26] == viewable
		})
		// The frame of a managed window that was destroyed stays for a moment.
		until(ctx, t, c.name, func() bool { return (d.PauseReason(ctx) != "") == c.want })
		assert.NilError(t, conn.must(ctx, destroyWindow(id)))
	}
}
