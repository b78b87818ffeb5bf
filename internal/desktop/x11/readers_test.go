//go:build linux

package x11

import (
	"slices"
	"testing"
	"time"

	"aai/internal/desktop"
	"aai/internal/desktop/linuxtest"
)

// TestTheSeatStaysUntilItIsRead: a program of GTK 3 that reads late what our own seat did
// asks where its pointer is, and ends if that is no more. Afterwards the seat goes.
func TestTheSeatStaysUntilItIsRead(t *testing.T) {
	s := linuxtest.Start(t)
	f := s.Fixture(t, linuxtest.GTK3)
	d, conn, ctx := inside(t, s)
	all, err := d.Windows(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(w desktop.WindowInfo) bool { return w.Title == f.Title })
	list := f.Where(t, "Fruits")
	f.Stop(t)
	if err := d.Scroll(ctx, desktop.OwnSeat, all[at].ID, desktop.Point{X: list.X + 50, Y: list.Y + 60}, 0, 3); err != nil {
		t.Fatal(err)
	}
	if len(seats(ctx, t, conn)) != 1 {
		t.Fatal("there is no seat of our own")
	}
	time.Sleep(3 * (seatRest + leavePatience + readSoon)) // in which it would have gone
	if len(seats(ctx, t, conn)) != 1 {
		t.Error("the seat has gone, and the program has read nothing of it")
	}
	f.Continue(t)
	f.WaitFor(t, "the list scrolls", func(state map[string]any) bool { return state["scroll"].(float64) > 0 })
	for end := time.Now().Add(testPatience); len(seats(ctx, t, conn)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the seat stays")
		}
	}
}
