package importers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/lint"
	"github.com/gybob/aai-gateway/internal/clients"
	"github.com/gybob/aai-gateway/internal/importers"
)

// scopedClient is a client with scopes.
type scopedClient struct {
	client
	scopes []clients.Scope
}

func (c *scopedClient) Scopes(string, string) ([]clients.Scope, clients.Client, error) {
	return c.scopes, clients.Client{ID: "cursor", Name: "Cursor", File: "/home/ann/.cursor/mcp.json"}, nil
}

// draftOf returns the preview of an import of the scopes.
func draftOf(t *testing.T, args map[string]any, scopes ...clients.Scope) *answer.DraftedServers {
	t.Helper()
	room := importers.New(importers.Config{Folder: t.TempDir(), Platform: "linux", Clients: &scopedClient{scopes: scopes}})
	args["client"] = "cursor"
	result, err := toolIn(t, room, importers.ShowServersTool).Run(t.Context(), &aai.Call{Args: args})
	assert.NilError(t, err)
	return result.Data.(*answer.DraftedServers)
}

func oneServer(folder string, entry string) clients.Scope {
	var fields map[string]any
	if err := json.Unmarshal([]byte(entry), &fields); err != nil {
		panic(err)
	}
	return clients.Scope{Place: "the file", Folder: folder, Servers: map[string]map[string]any{"one": fields}}
}

// TestServerFolders checks that relative places of an entry are resolved in the project's folder and named,
// and that a server whose folder is unknown is left out.
func TestServerFolders(t *testing.T) {
	const files = `{"command": "npx", "args": ["-y", "server-filesystem", "."]}`
	for name, test := range map[string]struct {
		folder, project, entry string
		place                  string // the lines of the preview about the start
		note                   string
		left                   string
	}{
		"a project's server":         {folder: "/p", entry: files, place: "npx -y server-filesystem .\n+starts in /p\n", note: `it starts in the folder /p, by which "." in its entry is resolved`},
		"a project's plain server":   {folder: "/p", entry: `{"command": "uvx", "args": ["x"]}`, place: "uvx x\n+starts in /p\n", note: "it starts in the folder /p"},
		"its command":                {folder: "/p", entry: `{"command": "./bin/s"}`, place: "/p/bin/s\n+starts in /p\n", note: `"./bin/s"`},
		"its folder":                 {folder: "/p", entry: `{"command": "python", "args": ["./s.py"], "cwd": "./sub"}`, place: "python ./s.py\n+starts in /p/sub\n", note: `"./sub ./s.py"`},
		"its absolute folder":        {folder: "/p", entry: `{"command": "python", "args": ["./s.py"], "cwd": "/q"}`, place: "python ./s.py\n+starts in /q\n", note: "it starts in the folder /q"},
		"a flag":                     {folder: "/p", entry: `{"command": "s", "args": ["--root=../x"]}`, place: "s --root=../x\n+starts in /p\n", note: `"--root=../x"`},
		"the client's own name":      {folder: "/p", entry: `{"command": "s", "args": ["${workspaceFolder}/a"]}`, place: "s /p/a\n+starts in /p\n"},
		"for all projects, named":    {project: "/p", entry: files, place: "server-filesystem .\n+starts in /p\n", note: `"."`},
		"for all projects, absolute": {entry: `{"command": "s", "args": ["/srv"]}`, place: "linux mcp s /srv\n"},
		"for all projects, unknown":  {entry: files, left: `"." is in the folder where the client starts it; name that folder by --project`},
		"a folder in the home":       {entry: `{"command": "s", "cwd": "./x"}`, left: `"./x" is in the folder`},
	} {
		t.Run(name, func(t *testing.T) {
			args := map[string]any{}
			if test.project != "" {
				args["project"] = test.project
			}
			draft := draftOf(t, args, oneServer(test.folder, test.entry))
			if test.left != "" {
				assert.Assert(t, is.Len(draft.Left, 1))
				assert.Assert(t, is.Contains(draft.Left[0].Reason, test.left))
				return
			}
			assert.Assert(t, is.Len(draft.Apps, 1), "%+v", draft)
			assert.Check(t, is.Contains(draft.Apps[0].Diff+"\n", test.place))
			notes := strings.Join(draft.Apps[0].Notes, "\n")
			assert.Assert(t, is.Contains(notes, test.note))
			assert.Assert(t, (test.note == "") == (notes == "") || test.folder != "", "got the notes %s; want %s", notes, test.note)
		})
	}
}

// TestServersOfOneName checks that servers of one name in several projects become apps of their own.
func TestServersOfOneName(t *testing.T) {
	draft := draftOf(t, map[string]any{}, oneServer("", `{"url": "https://a.example.com/mcp"}`),
		oneServer("/home/ann/shop", `{"url": "https://b.example.com/mcp"}`), oneServer("/srv/shop", `{"url": "https://c.example.com/mcp"}`))
	var ids []string
	for _, app := range draft.Apps {
		ids = append(ids, app.App)
	}
	assert.Check(t, is.Equal(strings.Join(ids, " "), "mcp.one mcp.one-shop"))
	assert.Assert(t, is.Len(draft.Left, 1))
	assert.Equal(t, draft.Left[0], (answer.SkippedServer{Server: "one, of the file", Reason: "another of them has the id mcp.one-shop"}))
}

// TestOwnWordsAreNotSuspicious: lint does not warn of the words that an import writes itself.
func TestOwnWordsAreNotSuspicious(t *testing.T) {
	c := &client{servers: map[string]map[string]any{"files": {"command": "npx", "args": []any{"-y", "x"}}}}
	_, saved, _ := takenServer(t, c, t.TempDir())
	for name, d := range saved {
		text, err := d.Document.Marshal()
		assert.NilError(t, err)
		for _, f := range lint.Check(text, catalog.Options{}).Findings {
			assert.Check(t, f.Severity != answer.SeverityWarning, "%s %s %s", name, f.Path, f.Problem)
		}
	}
}
