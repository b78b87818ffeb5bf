//go:build linux

package x11

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestSeatStaysUntilInputIsRead checks that the own seat stays until a slow GTK 3 program
// has read its events, since that queries the pointer and exits if it is gone.
func TestSeatStaysUntilInputIsRead(t *testing.T) {
	s := linuxtest.Start(t)
	f := s.Fixture(t, linuxtest.GTK3)
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

// TestOwnSeatWhereThePersonWorks checks that the person's window does not take the own
// seat's leaving for the person's. The seat stays in GTK windows, since GTK 3 may exit
// without it. It leaves others, since Chromium ignores the person's keys meanwhile.
func TestOwnSeatWhereThePersonWorks(t *testing.T) {
	for kind, stays := range map[linuxtest.Kind]int{linuxtest.GTK3: 1, linuxtest.GTK4: 1, linuxtest.Qt6: 0, linuxtest.Chromium: 0} {
		t.Run(string(kind), func(t *testing.T) {
			s := linuxtest.Start(t)
			f := s.Fixture(t, kind)
			d, conn, ctx := inside(t, s)
			w, err := strconv.ParseUint(f.Window(t), 0, 32)
			assert.NilError(t, err)
			f.Press(t, "Full name")
			f.WaitState(t, "focused", true)
			assert.NilError(t, d.Key(ctx, desktop.OwnSeat, desktop.WindowID(w), desktop.Chord{Key: "a"}))
			f.WaitState(t, "name", "a")
			for end := time.Now().Add(testPatience); stays == 0 && len(seats(ctx, t, conn)) > 0; time.Sleep(20 * time.Millisecond) {
				assert.Assert(t, !time.Now().After(end), "the seat stays")
			}
			if stays == 1 {
				time.Sleep(3 * (seatRest + leavePatience + readSoon)) // in which it would have gone
			}
			names := seats(ctx, t, conn)
			assert.Check(t, is.Len(names, stays), "there are the seats %q, want %d", names, stays)
			assert.NilError(t, s.Launch(t, "xdotool", "type", "b").Wait(t))
			f.WaitState(t, "name", "ab")
			f.WaitState(t, "focused", true)
		})
	}
}
