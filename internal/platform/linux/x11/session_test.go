//go:build linux

package x11

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// testPatience is the limit for expected events. No test waits for it to expire.
const testPatience = 2 * time.Minute

// inside returns a display and its connection.
func inside(t *testing.T, s *linuxtest.Session) (*Display, *server, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testPatience)
	t.Cleanup(cancel)
	d := New(Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
	t.Cleanup(func() { _ = d.Close() })
	conn, err := d.server(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return d, conn, ctx
}

// seats returns the names of all pointers of gateways.
func seats(ctx context.Context, t *testing.T, s *server) (names []string) {
	t.Helper()
	devices, err := (&ownSeat{server: s}).masters(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for name := range devices {
		if strings.HasPrefix(name, seatName) && strings.HasSuffix(name, " pointer") {
			names = append(names, name)
		}
	}
	return names
}

// TestSeatsEnd checks that Close removes a seat, and that the next gateway removes those
// of dead ones, but not those of live ones.
func TestSeatsEnd(t *testing.T) {
	s := linuxtest.Start(t)
	d, conn, ctx := inside(t, s)
	lost, err := d.seat(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if names := seats(ctx, t, conn); len(names) != 1 {
		t.Fatalf("there are the seats %q", names)
	}
	other, _, _ := inside(t, s)
	lost.lose(errors.New("as if it had died"))
	for {
		process, err := conn.processOf(ctx, lost.setup.idBase)
		if err != nil {
			t.Fatal(err)
		}
		if process == 0 {
			break // the server has noticed it too
		}
	}
	stranger := "aai-gateway 1 1fe00000"
	add := command(conn.xinput, xiChangeHierarchy, byte(1), pad(3), uint16(1), uint16(8), uint16(len(stranger)), true, true, stranger)
	if err := conn.must(ctx, add); err != nil || len(seats(ctx, t, conn)) != 2 {
		t.Fatalf("%v, %q", err, seats(ctx, t, conn))
	}
	if _, err := other.seat(ctx); err != nil {
		t.Fatal(err)
	}
	names := seats(ctx, t, conn)
	if len(names) != 1 {
		t.Errorf("after one died and another came there are %q", names)
	}
	again, err := d.seat(ctx)
	if err != nil || again == lost {
		t.Fatalf("the lost seat was not made again: %v", err)
	}
	if both := seats(ctx, t, conn); len(both) != 2 || !slices.Contains(both, names[0]) {
		t.Errorf("with two gateways there are %q", both)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if left := seats(ctx, t, conn); len(left) != 1 || left[0] == names[0] {
		t.Errorf("after one closed there are %q", left)
	}
}

// TestKeysGoBack checks that Close restores the keyboard map, even after cancelled typing,
// but keeps later changes by other programs.
func TestKeysGoBack(t *testing.T) {
	s := linuxtest.Start(t)
	f := s.Fixture(t, linuxtest.GTK3)
	_, watcher, ctx := inside(t, s)
	before, err := watcher.layout(ctx)
	if err != nil {
		t.Fatal(err)
	}
	d, conn, _ := inside(t, s)
	sc, err := conn.look(ctx)
	if err != nil || len(sc.clients) != 1 {
		t.Fatalf("%+v, %v", sc, err)
	}
	f.Press(t, "Full name")
	window := sc.clients[0].ID
	f.Suspend(t)
	short, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	if err := d.Type(short, desktop.PersonSeat, window, "αβγ"); err == nil {
		t.Error("it was typed before the program had learned of new keys")
	}
	f.Continue(t)
	if err := d.Type(ctx, desktop.PersonSeat, window, "日本🙂"); err != nil {
		t.Fatal(err)
	}
	f.WaitState(t, "name", "日本🙂")
	during, err := watcher.layout(ctx)
	if err != nil || slices.Equal(during.keysyms, before.keysyms) {
		t.Errorf("no key was borrowed: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := watcher.layout(ctx)
	if err != nil || !slices.Equal(trimmed(after), trimmed(before)) {
		t.Errorf("the map of the keyboard is another one afterwards: %v", err)
	}
}

// trimmed returns the first two keysyms of all keys: a map may get wider.
func trimmed(l *layout) (syms []keysym.Sym) {
	for _, code := range l.codes() {
		syms = append(syms, l.at(code, 0), l.at(code, 1))
	}
	return syms
}

// TestReconnects checks that a lost connection fails one call at most.
func TestReconnects(t *testing.T) {
	s := linuxtest.Start(t)
	d, conn, ctx := inside(t, s)
	conn.lose(errors.New("lost"))
	if _, err := d.Windows(ctx); err != nil {
		t.Error(err)
	}
	if _, err := d.Capture(ctx, desktop.Rect{W: 100, H: 100}); err != nil {
		t.Error(err)
	}
	again, err := d.server(ctx)
	if err != nil {
		t.Fatal(err)
	}
	again.lose(errors.New("lost"))
	if _, err := d.Capture(ctx, desktop.Rect{W: 100, H: 100}); err != nil {
		t.Error(err)
	}
}

// TestHungProgramAndLocks checks that Caps Lock is restored, even if the program does not
// read its keys.
func TestHungProgramAndLocks(t *testing.T) {
	s := linuxtest.Start(t)
	d, conn, ctx := inside(t, s)
	f := s.Fixture(t, linuxtest.GTK3)
	f.Press(t, "Full name")
	windows, err := d.Windows(ctx)
	if err != nil || len(windows) != 1 {
		t.Fatalf("%+v, %v", windows, err)
	}
	if err := conn.must(ctx, conn.setLocks(capsLock, 0)); err != nil {
		t.Fatal(err)
	}
	f.Suspend(t)
	if err := d.Type(ctx, desktop.PersonSeat, windows[0].ID, "ab"); err != nil {
		t.Error(err)
	}
	h := inputConn{server: conn, person: conn}
	if was, err := h.lockState(ctx); err != nil || was.modifiers != capsLock {
		t.Errorf("%+v, %v", was, err)
	}
	f.Continue(t)
	f.WaitState(t, "name", "ab")
}

// TestWornOut checks that a connection that has used up its IDs is closed and replaced.
func TestWornOut(t *testing.T) {
	s := linuxtest.Start(t)
	d, old, ctx := inside(t, s)
	own, err := d.seat(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*conn{old.conn, own.conn} {
		c.lastID = c.setup.idMask - 1
	}
	if _, err := d.Windows(ctx); err != nil {
		t.Error(err)
	}
	if again, err := d.seat(ctx); err != nil || again == own {
		t.Errorf("the seat was not made again: %v", err)
	}
	if old.conn.alive() || own.conn.alive() {
		t.Error("the old connections were not closed")
	}
	current, err := d.server(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if names := seats(ctx, t, current); len(names) != 1 {
		t.Errorf("there are the seats %q", names)
	}
}

// TestWithoutSharedMemory checks that a capture over the connection is the same.
func TestWithoutSharedMemory(t *testing.T) {
	s := linuxtest.Start(t)
	d, conn, ctx := inside(t, s)
	area := desktop.Rect{X: 3, Y: 5, W: 1500, H: 900}
	shared, err := d.captureDrawable(ctx, conn, conn.root, area)
	if err != nil || d.memory.data == nil {
		t.Fatalf("memory is not shared: %v", err)
	}
	conn.shm = 0
	sent, err := d.captureDrawable(ctx, conn, conn.root, area)
	if err != nil || !slices.Equal(sent.Pix, shared.Pix) {
		t.Errorf("the pictures differ: %v", err)
	}
}

// TestWithoutWindowManager checks that windows are listed, and that a click in the
// background is possible.
func TestWithoutWindowManager(t *testing.T) {
	s := linuxtest.Start(t)
	f := s.Fixture(t, linuxtest.GTK3)
	d, conn, ctx := inside(t, s)
	quiet(t, conn)
	windows, err := d.Windows(ctx)
	i := slices.IndexFunc(windows, func(w desktop.WindowInfo) bool { return w.Title == f.Title })
	if err != nil || i < 0 || windows[i].PID != f.PID {
		t.Fatalf("%+v, %v", windows, err)
	}
	if err := d.Activate(ctx, windows[i].ID); err != nil {
		t.Fatal(err)
	}
	x, y := f.ControlRect(t, "Press").Centre()
	if err := d.Click(ctx, desktop.OwnSeat, windows[i].ID, desktop.Point{X: x, Y: y}, desktop.LeftButton, 1); err != nil {
		t.Fatal(err)
	}
	f.WaitState(t, "presses", 1)
}

// TestShadow checks that a program's own shadow is not part of the Frame.
func TestShadow(t *testing.T) {
	s := linuxtest.Start(t)
	f := s.Fixture(t, linuxtest.GTK3)
	d, conn, ctx := inside(t, s)
	before, err := d.Windows(ctx)
	if err != nil || len(before) != 1 || before[0].Title != f.Title {
		t.Fatalf("%+v, %v", before, err)
	}
	id, frame := before[0].ID, before[0].Frame
	err = conn.must(ctx, changeProperty(replaceProperty, xid(id), conn.atoms["_GTK_FRAME_EXTENTS"], 6, 32, numbers(10, 20, 30, 40)))
	if err != nil {
		t.Fatal(err)
	}
	after, err := d.Windows(ctx)
	want := desktop.Rect{X: frame.X + 10, Y: frame.Y + 30, W: frame.W - 30, H: frame.H - 70}
	if err != nil || after[0].Frame != want {
		t.Errorf("%+v, %v; want %v", after, err, want)
	}
	if origin, err := d.Origin(ctx, id); err != nil || origin != (desktop.Point{X: frame.X, Y: frame.Y}) {
		t.Errorf("its origin is %v, %v", origin, err)
	}
	picture, err := d.CaptureWindow(ctx, id)
	if err != nil || picture.Bounds().Dx() != want.W || picture.Bounds().Dy() != want.H {
		t.Errorf("its picture is %v, %v", picture.Bounds(), err)
	}
}

// TestOwnSeatIsRemoved checks that the own seat is removed soon after its use, so that the
// person can type into Chromium, which ignores their keys meanwhile.
func TestOwnSeatIsRemoved(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	page := s.Fixture(t, linuxtest.Chromium)
	d, conn, ctx := inside(t, s)
	other := s.Fixture(t, linuxtest.GTK3)
	if err := s.Launch(t, "xdotool", "windowmove", "--sync", other.Window(t), "850", "20").Wait(t); err != nil {
		t.Fatal(err)
	}
	w, err := strconv.ParseUint(page.Window(t), 0, 32)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Key(ctx, desktop.OwnSeat, desktop.WindowID(w), desktop.Chord{Key: "escape"}); err != nil {
		t.Fatal(err)
	}
	if names := seats(ctx, t, conn); len(names) != 1 {
		t.Fatalf("after a key there are the seats %q", names)
	}
	for len(seats(ctx, t, conn)) > 0 {
		if ctx.Err() != nil {
			t.Fatal("the seat stays")
		}
		time.Sleep(20 * time.Millisecond)
	}
	page.Press(t, "Full name")
	page.WaitState(t, "focused", true)
	if err := s.Launch(t, "xdotool", "type", "Ada").Wait(t); err != nil {
		t.Fatal(err)
	}
	page.WaitState(t, "name", "Ada")
	if got := other.State(t)["name"]; got != "" {
		t.Errorf("the other window got %q", got)
	}
}
