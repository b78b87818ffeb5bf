package catalog

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestProgramClassInConsent checks that the words which the question shows begin with the class that runs programs.
func TestProgramClassInConsent(t *testing.T) {
	app := func(progID string) string {
		return withPlatforms(`{"windows": {"automation": "com", "progid": "A.B", "tools": [{"name": "t", "description": "Does it.",
			"script": [{"action": "create", "var": "a", "progid": "A.B"}, {"action": "create", "var": "w", "progid": "` + progID + `"}]}]}}`)
	}
	for progID, want := range map[string]bool{"WScript.Shell.1": true, "Scripting.Dictionary": false} {
		read := mustParse(t, app(progID), Options{HostPlatform: "windows"})
		summary := read.App.Tools[0].Implementation.Summary
		assert.Equal(t, strings.HasPrefix(summary, "can run any program, by "+progID), want, summary)
	}
}
