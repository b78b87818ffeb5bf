package delta

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestTicks checks that a text with the right time before and after, in any zone, is a clock, and that a
// clock set by an action never is one.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		at       string // time of the first snapshot in UTC; the second is 3 s later
		was, is  string
		changing bool
	}{
		{"16:30:05", "16:30:05", "16:30:08", true},
		{"16:30:05", "18:30:04", "18:30:07", true}, // another zone, a little late
		{"16:30:05", "22:15:05 - 51.3 MB", "22:15:08 - 51.8 MB", true},
		{"16:30:05", "4:30:05 PM", "4:30:08 PM", true},
		{"16:30:58", "4:30", "4:31", true},
		{"23:59:58", "23:59:58", "00:00:01", true},
		{"12:59:58", "12:59:58", "1:00:01", true},
		{"16:30:05", "used 51.3 MB", "used 51.8 MB", true},
		{"16:30:05", "0:00", "5:00", false}, // each is the time in some zone
		{"16:30:05", "0:00:00", "5:00:00", false},
		{"16:30:05", "16:30:05", "16:45:08", false},
		{"16:41:05", "0:00", "5:00", false},
		{"16:41:05", "0:00:05", "0:00:08", false},
		{"16:30:05", "done 0", "done 1", false},
	} {
		at, err := time.Parse(time.TimeOnly, c.at)
		assert.NilError(t, err)
		shot := func(text string, after time.Duration) *desktop.Snapshot {
			return &desktop.Snapshot{Version: uint64(1 + after), Taken: at.Add(after), Elements: []desktop.Element{
				{ID: "window", Role: desktop.Window, Name: "Timer", States: desktop.Showing, Parent: -1, End: 2},
				{ID: "text", Role: desktop.Text, Name: text, States: desktop.Showing, Parent: 0, End: 2},
			}}
		}
		d := Between(shot(c.was, 0), shot(c.is, 3*time.Second), Options{Ref: func(int) string { return "" }})
		assert.Assert(t, is.Len(d.Changes, 1), "%s %q %q", c.at, c.was, c.is)
		assert.Equal(t, d.Changes[0].Ambient, c.changing, "%s %q %q", c.at, c.was, c.is)
	}
}

// TestTabsTellOfTheirMemory checks that a browser's tab may begin and stop to show its memory.
func TestTabsTellOfTheirMemory(t *testing.T) {
	shot := func(role desktop.Role, text string, version uint64) *desktop.Snapshot {
		return &desktop.Snapshot{Version: version, Elements: []desktop.Element{
			{ID: "window", Role: desktop.Window, Name: "Browser", States: desktop.Showing, Parent: -1, End: 2},
			{ID: "tab", Role: role, Name: text, States: desktop.Showing, Parent: 0, End: 2},
		}}
	}
	for _, c := range []struct {
		role     desktop.Role
		was, is  string
		changing bool
	}{
		{desktop.Tab, "Shop", "Shop - Memory usage - 38.2 MB", true}, {desktop.Tab, "Shop - Speichernutzung - 38,2 MB", "Shop", true},
		{desktop.Tab, "Shop", "Shop - 2 new", false}, {desktop.Tab, "Shop", "Mail - Memory usage - 38.2 MB", false}, {desktop.Button, "Shop", "Shop - Memory usage - 38.2 MB", false},
	} {
		d := Between(shot(c.role, c.was, 1), shot(c.role, c.is, 2), Options{})
		assert.Assert(t, is.Len(d.Changes, 1), "%s %q %q", c.role, c.was, c.is)
		assert.Equal(t, d.Changes[0].Ambient, c.changing, "%s %q %q", c.role, c.was, c.is)
	}
}
