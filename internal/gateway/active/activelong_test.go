package active_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
)

// TestLongNamesHideNothing: calls with long third-party names are listed or counted. A file above
// the limit would hide all of them.
func TestLongNamesHideNothing(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "running")
	var g activeCalls
	teller := active.NewPublisher(folder, g.Underway, slog.Default())
	defer teller.Close() //nolint:errcheck // the folder goes too
	var calls []gateway.ActiveCall
	for i := range 200 {
		c := call(fmt.Sprint("m", i), time.Minute)
		c.App, c.Target, c.Caller.Identity = strings.Repeat("\x00", 300), strings.Repeat("é\"", 200), "/"+strings.Repeat("\"", 4000)
		c.Element.Name, c.Message = strings.Repeat("\u2028", 400), strings.Repeat("\u2028", 400)
		calls = append(calls, c)
	}
	g.set(calls...)
	teller.StageChanged()
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		rows, more, err := active.ListActive(folder)
		assert.NilError(t, err)
		if len(rows) > 20 && len(rows)+more == len(calls) {
			return
		}
		assert.Assert(t, !time.Now().After(late), "%d calls are told and %d more, of %d", len(rows), more, len(calls))
	}
}
