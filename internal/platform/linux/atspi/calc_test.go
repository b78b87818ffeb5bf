//go:build linux

package atspi_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// resident returns a process's resident memory in megabytes.
func resident(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	assert.NilError(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	assert.NilError(t, err)
	return pages * os.Getpagesize() >> 20
}

// TestSheetOfCalc checks that a sheet of 17 thousand million cells is read only in its visible part, and that the
// spreadsheet hardly grows and keeps answering.
func TestSheetOfCalc(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.app(t, w.Calc(t))
	s := w.await(t, app, "a cell is there", func(s *desktop.Snapshot) bool { return sheet(s) >= 0 })
	before := resident(t, app.PID)
	const most = 64 // megabytes
	for range 10 {
		s = w.fresh(t, app)
		desktoptest.WellFormed(t, s)
		grown := resident(t, app.PID) - before
		assert.Assert(t, grown <= most, "the spreadsheet has grown by %d MB", grown)
	}
	i := sheet(s)
	assert.Assert(t, i >= 0, "the sheet is gone")
	table := s.Elements[i]
	if cells := len(s.Children(i)); cells < 10 || cells > 2000 || table.UnreadChildren < 1<<30 || !table.States.Has(desktop.Virtual) {
		t.Errorf("the sheet has %d children, and %d that were not read; %v", cells, table.UnreadChildren, table.States.Words())
	}
	far, err := w.bus.Children(t.Context(), app, table.ID, 1<<30, 5)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(far, 5))
	first := s.Elements[s.Children(i)[0]]
	w.perform(t, app, first, desktop.Act{Verb: desktop.SetNumber, Number: 42})
	e, err := w.bus.Read(t.Context(), app, first.ID)
	assert.NilError(t, err, "%+v", e)
	assert.Assert(t, is.Contains(e.Value+e.Name, "42"), "%+v", e)
}

// sheet returns the index of the sheet, if its cells are present.
func sheet(s *desktop.Snapshot) int {
	for i, e := range s.Elements {
		if e.UnreadChildren > 1<<20 && len(s.Children(i)) > 0 {
			return i
		}
	}
	return -1
}

// TestManyRows checks that a list that is too long contains its visible rows, and that the other rows are
// counted and can be requested.
func TestManyRows(t *testing.T) {
	t.Parallel()
	const rows = 10_000
	w := newWorld(t)
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.GTK4, linuxtest.Qt6} {
		t.Run(string(kind), func(t *testing.T) {
			f := w.Rows(t, kind, rows)
			app := w.app(t, f.App)
			s := w.await(t, app, "the first row shows", func(s *desktop.Snapshot) bool {
				_, ok := named(s, "Row 1")
				return ok
			})
			desktoptest.WellFormed(t, s)
			assert.Check(t, len(s.Elements) <= 2500, "the snapshot has %d elements", len(s.Elements))
			if kind == linuxtest.GTK4 {
				return // it exposes only the rows that it has created
			}
			for _, e := range s.Elements {
				if e.UnreadChildren == 0 {
					continue
				}
				assert.Check(t, e.UnreadChildren >= rows-2500, "%d rows were not read", e.UnreadChildren)
				assert.Check(t, e.UnreadChildren <= rows+10, "%d rows were not read", e.UnreadChildren)
				some, err := w.bus.Children(t.Context(), app, e.ID, rows/2, 10)
				assert.NilError(t, err)
				assert.Assert(t, is.Len(some, 10))
				assert.Assert(t, strings.HasPrefix(some[0].Name, "Row "), "rows in the middle: %+v, %v", some, err)
				return
			}
			t.Error("all rows were read")
		})
	}
}
