package gui_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// TestRealLongList: a list of ten thousand rows costs its program and the reply no more than its
// visible part, and the reply says that there is more.
func TestRealLongList(t *testing.T) {
	t.Parallel() // it mostly waits
	w := newRealWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			w := w.on(t)
			f := w.Rows(t, kind, 10_000)
			app := w.process(f.App)
			w.awaitElement(app, rowNamed(kind, "Row 5"))
			a := w.quick("ax_get_tree", params{"app": app})
			n := tokencount.Count(w, a.Text)
			assert.Check(t, n <= firstPage, "the page has %d tokens", n)
			switch kind {
			case linuxtest.GTK4: // has only the rows that it shows, a few screens, and reports no total
			case linuxtest.Chromium:
				w.says(a.Text, "10000 items")
			default:
				w.says(a.Text, "not read)")
			}
			w.ok("ax_click", params{"app": app, "query": rowNamed(kind, "Row 7")})
			f.WaitState(t, "row", "Row 7")
			w.eventually("one row is shown as selected", func() bool {
				return strings.Count(w.quick("ax_get_tree", params{"app": app}).Text, " selected") == 1
			})
		})
	}
}

// TestRealSheet: a sheet has 2,147,483,647 cells, and its program tries to create each one that is
// read. Few are read.
func TestRealSheet(t *testing.T) {
	t.Parallel() // it mostly waits
	w := newRealWorld(t)
	_, pid := w.spreadsheet()
	app := strconv.Itoa(pid)
	w.awaitElement(app, "cell B3")
	before := residentMiB(t, pid)
	for range 5 {
		fresh := joined(t, w.Session, w.Getenv) // it has no cache, and reads everything
		a := fresh.ok("ax_get_tree", params{"app": app})
		w.says(a.Text, "not read)", "A1")
		n := tokencount.Count(w, a.Text)
		assert.Check(t, n <= firstPage, "the page has %d tokens", n)
	}
	const most = 50
	after := residentMiB(t, pid)
	t.Logf("%d MiB before, %d after", before, after)
	assert.Check(t, after-before <= most, "it had %d MiB before and %d after it was read, want at most %d more", before, after, most)
	w.ok("ax_set_value", params{"app": app, "query": "cell B3", "value": "42.5"})
	value := w.ok("ax_get_value", params{"app": app, "query": "cell B3"}).data["value"]
	assert.Check(t, is.Equal(value, "42.5"), "the cell holds %v", value)
	w.ok("ax_set_value", params{"app": app, "query": "cell C4", "value": "7"})
}

// residentMiB returns the memory of the process, from proc(5).
func residentMiB(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	assert.NilError(t, err)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			assert.NilError(t, err)
			return kib >> 10
		}
	}
	t.Fatalf("process %d has no memory", pid)
	return 0
}
