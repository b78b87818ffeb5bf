package programs

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestTargetsByTheirIDs: a name with the prefix of ids is an id or a PID. For the program's own
// name after the prefix, the error contains the id.
func TestTargetsByTheirIDs(t *testing.T) {
	apps := []desktop.App{{PID: 70, ID: "qt", Name: "calm"}, {PID: 71, ID: "qt", Name: "busy"}, {PID: 72, ID: "xterm", Name: "xterm"}}
	for name, want := range map[string][]int{"calm": {70}, "70": {70}, "desktop/71": {71}, "desktop/qt": {70, 71}, "desktop/calm": nil} {
		var got []int
		for _, app := range matchingApps(apps, name) {
			got = append(got, app.PID)
		}
		assert.Check(t, slices.Equal(got, want), "%s means %v, want %v", name, got, want)
	}
	for name, want := range map[string]string{"desktop/calm": "desktop/qt", "desktop/xtrem": "desktop/xterm", "xtrem": "xterm"} {
		got := aai.AsError(notRunning(name, apps)).Candidates
		assert.Assert(t, len(got) != 0, "for %s it proposes %q, want first %s", name, got, want)
		assert.Equal(t, got[0], want, "%s %q", name, got)
	}
}
