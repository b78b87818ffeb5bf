package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/lint"
)

func TestCompareEvents(t *testing.T) {
	const notes = `{"schema_version": "1.0", "version": "1.0.0", "appId": "org.example.Notes", "name": "Notes", "description": "Keeps notes.",
  "platforms": {"linux": {"automation": "dbus", "service": "org.example.Notes", "object": "/n", "interface": "org.example.Notes",
    "tools": [{"name": "add", "description": "Adds a note", "method": "Add", "parameters": {"type": "object", "properties": {}}}],
    "events": [{"name": "added", "description": "A note was added", "signal": "Added", "fields": ["id"]}, {"name": "gone", "description": "A note is gone", "signal": "Gone"}]}}}`
	for change, want := range map[string]string{
		`"name": "gone"|"name": "deleted"`: "[MAJOR platforms.linux.events[1] was removed: the event gone MINOR platforms.linux.events[1] is new: the event deleted]",
		`["id"]|["number"]`:                "[MAJOR platforms.linux.events[0] has other fields]",
		`"Gone"}|"Deleted"}`:               "[PATCH platforms.linux.events[1] has another source]",
	} {
		from, to, _ := strings.Cut(change, "|")
		c, err := lint.Compare([]byte(notes), []byte(strings.Replace(notes, from, to, 1)), catalog.Options{HostPlatform: "linux"})
		assert.NilError(t, err)
		var got []string
		for _, one := range c.Changes {
			got = append(got, fmt.Sprint(one.Bump, " ", one.Path, " ", one.Problem))
		}
		slices.Sort(got)
		assert.Check(t, is.Equal(fmt.Sprint(got), want), "%s %v", change, got)
	}
}
