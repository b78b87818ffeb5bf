package discovery_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog/discovery"
)

func TestProgramsOfWindows(t *testing.T) {
	report := look(t, discovery.ScannerConfig{
		Programs: func(context.Context) []discovery.InstalledProgram {
			return []discovery.InstalledProgram{
				{Name: "Notes", Path: `C:\Apps\Notes.exe`, Comment: "Writes notes\u202e"},
				{Name: "notes again", Path: `c:\apps\notes.exe`},
				{Name: "Secret", Path: `C:\secret.exe`},
				{Name: "Manual", Path: `C:\Apps\manual.html`},
			}
		},
		Denied: func(names []string) bool { return slices.Contains(names, "Secret") },
	})
	assert.Check(t, is.Len(report.Integrations, 2))
	notes := find(t, report, "program", "Notes")
	assert.Check(t, is.Equal(notes.State, discovery.StateInstalled))
	assert.Check(t, is.Equal(notes.Benefit, "starts it, for use of its windows: Writes notes"))
	assert.Check(t, is.DeepEqual(notes.Locations, []string{`C:\Apps\Notes.exe`}))
	assert.Check(t, is.Equal(find(t, report, "program", "Secret").HowTo, discovery.DeniedHowTo))
}

func TestServersOfWindowsRegistry(t *testing.T) {
	const list = `{"content":[],"structuredContent":{"servers":[
		{"server":{"name":"files","description":"Finds files","version":"1","packages":[{"identifier":"MSIX_files_1","registryType":"mcpb"}]},"_meta":{}},
		{"server":{"name":"no package"}},
		{"server":{"name":"se\u202ecret\n","packages":[{"identifier":"x y"}]}}]}}`
	of := func(text []byte, err error) *discovery.ScanReport {
		return look(t, discovery.ScannerConfig{ServerRegistry: func(context.Context) ([]byte, error) { return text, err }})
	}
	report := of([]byte(list), nil)
	assert.Check(t, is.Len(report.Integrations, 2))
	files := find(t, report, "mcp-server", "files")
	assert.Check(t, is.Equal(files.HowTo, "A descriptor with this command makes an app of it: odr.exe mcp run --proxy MSIX_files_1"))
	assert.Check(t, is.Contains(files.Benefit, "Finds files"))
	assert.Check(t, is.Len(of(nil, nil).Notes, 0))
	for name, c := range map[string]struct {
		text string
		err  error
		want string
	}{
		"no JSON":       {"Usage: odr", nil, "wrote no JSON"},
		"another form":  {`{"servers":[]}`, nil, "no structuredContent"},
		"another kind":  {`[]`, nil, "wrote no JSON"},
		"no answer":     {"", errors.New("it took too long"), "it took too long"},
		"strange lists": {`{"structuredContent":{"servers":"none"}}`, nil, "wrote no JSON"},
	} {
		notes := of([]byte(c.text), c.err).Notes
		assert.Check(t, is.Len(notes, 1), name)
		assert.Check(t, is.Contains(notes[0], c.want), name)
	}
}
