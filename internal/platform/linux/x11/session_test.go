//go:build linux

package x11

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// testPatience is the limit for expected events. No test waits for it to expire.
const testPatience = 2 * time.Minute

// inside returns a display and its connection.
func inside(t testing.TB, s *linuxtest.Session) (*Display, *server, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testPatience)
	t.Cleanup(cancel)
	d := New(Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
	t.Cleanup(func() { _ = d.Close() })
	conn, err := d.server(ctx)
	assert.NilError(t, err)
	return d, conn, ctx
}

// seats returns the names of all pointers of gateways.
func seats(ctx context.Context, t *testing.T, s *server) (names []string) {
	t.Helper()
	devices, err := (&ownSeat{server: s}).masters(ctx)
	assert.NilError(t, err)
	for name := range devices {
		if strings.HasPrefix(name, seatName) && strings.HasSuffix(name, " pointer") {
			names = append(names, name)
		}
	}
	return names
}

// testSeatsEnd checks that Close removes a seat, and that the next gateway removes those
// of dead ones, but not those of live ones.
func testSeatsEnd(t *testing.T, s *linuxtest.Session) {
	d, conn, ctx := inside(t, s)
	lost, err := d.seat(ctx)
	assert.NilError(t, err)
	if names := seats(ctx, t, conn); len(names) != 1 {
		t.Fatalf("there are the seats %q", names)
	}
	other, _, _ := inside(t, s)
	lost.lose(errors.New("as if it had died"))
	for {
		process, err := conn.processOf(ctx, lost.setup.idBase)
		assert.NilError(t, err)
		if process == 0 {
			break // the server has noticed it too
		}
	}
	stranger := "aai-gateway 1 1fe00000"
	add := command(conn.xinput, xiChangeHierarchy, byte(1), pad(3), uint16(1), uint16(8), uint16(len(stranger)), true, true, stranger)
	err = conn.must(ctx, add)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(seats(ctx, t, conn), 2))
	_, err = other.seat(ctx)
	assert.NilError(t, err)
	names := seats(ctx, t, conn)
	assert.Check(t, is.Len(names, 1), "after one died and another came there are %q", names)
	again, err := d.seat(ctx)
	assert.NilError(t, err)
	assert.Assert(t, again != lost, "the lost seat was not made again: %v", err)
	both := seats(ctx, t, conn)
	assert.Assert(t, is.Len(both, 2))
	assert.Assert(t, is.Contains(both, names[0]))
	assert.NilError(t, other.Close())
	left := seats(ctx, t, conn)
	assert.Assert(t, is.Len(left, 1))
	assert.Assert(t, left[0] != names[0], "after one closed there are %q", left)
}

// testKeysGoBack checks that Close restores the keyboard map, even after cancelled typing,
// but keeps later changes by other programs.
func testKeysGoBack(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	_, watcher, ctx := inside(t, s)
	before, err := watcher.layout(ctx)
	assert.NilError(t, err)
	d, _, _ := inside(t, s)
	window := front(t, s, d, f)
	f.Suspend(t)
	short, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	assert.Check(t, d.Type(short, desktop.PersonSeat, window, "αβγ") != nil, "it was typed before the program had learned of new keys")
	f.Continue(t)
	assert.NilError(t, d.Type(ctx, desktop.PersonSeat, window, "日本🙂"))
	f.WaitState(t, "name", "日本🙂")
	during, err := watcher.layout(ctx)
	assert.NilError(t, err)
	assert.Assert(t, !slices.Equal(during.keysyms, before.keysyms), "no key was borrowed: %v", err)
	assert.NilError(t, d.Close())
	after, err := watcher.layout(ctx)
	assert.NilError(t, err)
	assert.Assert(t, slices.Equal(trimmed(after), trimmed(before)), "the map of the keyboard is another one afterwards: %v", err)
}

// trimmed returns the first two keysyms of all keys: a map may get wider.
func trimmed(l *layout) (syms []keysym.Sym) {
	for _, code := range l.codes() {
		syms = append(syms, l.at(code, 0), l.at(code, 1))
	}
	return syms
}

// testReconnects checks that a lost connection fails one call at most.
func testReconnects(t *testing.T, s *linuxtest.Session) {
	d, conn, ctx := inside(t, s)
	conn.lose(errors.New("lost"))
	if _, err := d.Windows(ctx); err != nil {
		t.Error(err)
	}
	if _, err := d.Capture(ctx, desktop.Rect{W: 100, H: 100}); err != nil {
		t.Error(err)
	}
	again, err := d.server(ctx)
	assert.NilError(t, err)
	again.lose(errors.New("lost"))
	_, err = d.Capture(ctx, desktop.Rect{W: 100, H: 100})
	assert.Check(t, err)
}

// testHungLocks checks that Caps Lock is restored, even if the program does not
// read its keys.
func testHungLocks(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d, conn, ctx := inside(t, s)
	w := front(t, s, d, f)
	assert.NilError(t, conn.must(ctx, conn.setLocks(capsLock, 0)))
	f.Suspend(t)
	assert.Check(t, d.Type(ctx, desktop.PersonSeat, w, "ab"))
	h := inputConn{server: conn, person: conn}
	was, err := h.lockState(ctx)
	assert.NilError(t, err, "%+v", was)
	assert.Assert(t, was.modifiers == capsLock, "%+v", was)
	f.Continue(t)
	f.WaitState(t, "name", "ab")
	assert.NilError(t, conn.must(ctx, conn.setLocks(0, 0)))
}

// testWornOut checks that a connection that has used up its IDs is closed and replaced.
func testWornOut(t *testing.T, s *linuxtest.Session) {
	d, old, ctx := inside(t, s)
	own, err := d.seat(ctx)
	assert.NilError(t, err)
	for _, c := range []*conn{old.conn, own.conn} {
		c.lastID = c.setup.idMask - 1
	}
	_, err = d.Windows(ctx)
	assert.Check(t, err)
	again, err := d.seat(ctx)
	assert.NilError(t, err)
	assert.Assert(t, again != own, "the seat was not made again: %v", err)
	assert.Assert(t, !old.conn.alive(), "the old connections were not closed")
	assert.Assert(t, !own.conn.alive(), "the old connections were not closed")
	current, err := d.server(ctx)
	assert.NilError(t, err)
	assert.Check(t, is.Len(seats(ctx, t, current), 1))
}

// testWithoutSharedMemory checks that a capture over the connection is the same.
func testWithoutSharedMemory(t *testing.T, s *linuxtest.Session) {
	d, conn, ctx := inside(t, s)
	area := desktop.Rect{X: 3, Y: 5, W: 1500, H: 900}
	shared, err := d.captureDrawable(ctx, conn, conn.root, area)
	assert.NilError(t, err)
	assert.Assert(t, d.memory.data != nil, "memory is not shared: %v", err)
	conn.shm = 0
	sent, err := d.captureDrawable(ctx, conn, conn.root, area)
	assert.NilError(t, err)
	assert.Assert(t, slices.Equal(sent.Pix, shared.Pix), "the pictures differ: %v", err)
}

// testShadow checks that a program's own shadow is not part of the Frame.
func testShadow(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d, conn, ctx := inside(t, s)
	before, err := d.Windows(ctx)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(before, 1))
	assert.Equal(t, before[0].Title, f.Title)
	id, frame := before[0].ID, before[0].Frame
	err = conn.must(ctx, changeProperty(replaceProperty, xid(id), conn.atoms["_GTK_FRAME_EXTENTS"], 6, 32, numbers(10, 20, 30, 40)))
	assert.NilError(t, err)
	after, err := d.Windows(ctx)
	want := desktop.Rect{X: frame.X + 10, Y: frame.Y + 30, W: frame.W - 30, H: frame.H - 70}
	assert.NilError(t, err, "%+v", after)
	assert.Equal(t, after[0].Frame, want, "%+v", after)
	origin, err := d.Origin(ctx, id)
	assert.NilError(t, err)
	assert.Equal(t, origin, (desktop.Point{X: frame.X, Y: frame.Y}))
	picture, err := d.CaptureWindow(ctx, id)
	if err != nil || picture.Bounds().Dx() != want.W || picture.Bounds().Dy() != want.H {
		t.Errorf("its picture is %v, %v", picture.Bounds(), err)
	}
}

// testUnreadInput checks that the own seat stays until a slow GTK 3 program
// has read its events, since that queries the pointer and exits if it is gone.
func testUnreadInput(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d, conn, ctx := inside(t, s)
	all, err := d.Windows(ctx)
	assert.NilError(t, err)
	at := slices.IndexFunc(all, func(w desktop.WindowInfo) bool { return w.Title == f.Title })
	list := f.ControlRect(t, "Fruits")
	f.Suspend(t)
	assert.NilError(t, d.Scroll(ctx, desktop.OwnSeat, all[at].ID, desktop.Point{X: list.X + 50, Y: list.Y + 60}, 0, 3))
	assert.Assert(t, is.Len(seats(ctx, t, conn), 1), "there is no seat of our own")
	time.Sleep(3 * (seatRest + leavePatience + readSoon)) // in which it would have gone
	assert.Check(t, is.Len(seats(ctx, t, conn), 1), "the seat has gone, and the program has read nothing of it")
	f.Continue(t)
	f.WaitFor(t, "the list scrolls", func(state map[string]any) bool { return state["scroll"].(float64) > 0 })
	for end := time.Now().Add(testPatience); len(seats(ctx, t, conn)) > 0; time.Sleep(10 * time.Millisecond) {
		assert.Assert(t, !time.Now().After(end), "the seat stays")
	}
}
