//go:build linux

package atspi_test

import (
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestScrolledByPages checks that rows show in a GTK 3 viewport that lost SHOWING because its content was
// scrolled by more than a page.
func TestScrolledByPages(t *testing.T) {
	w := newWorld(t)
	f, app := w.fixture(t, linuxtest.GTK3)
	w.shows(t, app, desktop.Option, "Fruit 1")
	s := w.snapshot(t, app)
	for i, e := range s.Elements {
		if e.Role == desktop.Scrollbar && e.States.Has(desktop.Vertical) && s.IsVisible(i) {
			w.perform(t, app, e, desktop.Act{Verb: desktop.SetNumber, Number: 285})
		}
	}
	f.WaitState(t, "scroll", 285)
	w.await(t, app, "Fruit 15 to Fruit 22 are in view, and no others", func(s *desktop.Snapshot) bool {
		return len(matches(s, desktop.Option, "Fruit 1")) == 0 && len(matches(s, desktop.Option, "Fruit 15")) == 1 &&
			len(matches(s, desktop.Option, "Fruit 22")) == 1 && len(matches(s, desktop.Option, "Fruit 30")) == 0
	})
	w.perform(t, app, find(t, w.snapshot(t, app), desktop.Option, "Fruit 16"), desktop.Act{Verb: desktop.SelectItem})
	f.WaitState(t, "fruit", "Fruit 16")
}
