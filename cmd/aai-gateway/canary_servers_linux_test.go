package main

import (
	"archive/zip"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
)

const (
	echoApp = "org.example.server" // an MCP server in a process
	farApp  = "org.example.far"    // an MCP server at an address
	// echoDescriptor runs echoProgram.
	echoDescriptor = `{"schema_version": "1.0", "platform": "linux", "app": {"id": "org.example.server", "name": "Server", "description": "Repeats."},
  "execution": {"type": "mcp", "command": "/usr/bin/python3", "args": ["$HOME/echo.py"], "env": ["SERVER_KEY"]}}`
	farDescriptor = `{"schema_version": "1.0", "platform": "web", "app": {"id": "org.example.far", "name": "Far", "description": "Repeats."},
  "execution": {"type": "mcp", "url": "$SITE/mcp"}, "auth": {"type": "bearer", "bearer": {"env_var": "FAR_KEY"}}}`
	// echoProgram is an MCP server that repeats its variable in several forms, also on standard error.
	echoProgram = `import base64, json, os, sys, urllib.parse
key = os.environ["SERVER_KEY"]
forms = [key, json.dumps(key), urllib.parse.quote(key, safe=""), base64.b64encode(key.encode()).decode()]
print(*forms, file=sys.stderr, flush=True)
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    r = {}
    if m["method"] == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "echo", "version": key}}
    elif m["method"] == "tools/list":
        r = {"tools": [{"name": "repeat", "description": "Repeats " + key, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]}
    elif m["method"] == "tools/call":
        open(os.path.join(os.path.dirname(__file__), "got"), "a").write(key)
        content = [{"type": "text", "text": f} for f in forms] + [{"type": "resource_link", "uri": "x://" + f, "name": f} for f in forms]
        r = {"content": content, "structuredContent": {f: [f] for f in forms}}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`
)

// far starts an MCP server that repeats the token of the request.
func (w *canaryWorld) far() string {
	server := mcp.NewServer(&mcp.Implementation{Name: "far", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "repeat", Description: "Repeats.", InputSchema: map[string]any{"type": "object"}, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			token := strings.TrimPrefix(r.Extra.Header.Get("Authorization"), "Bearer ")
			forms := []string{token, asJSON(token), url.QueryEscape(token), base64.StdEncoding.EncodeToString([]byte(token))}
			result := &mcp.CallToolResult{StructuredContent: map[string]any{"all": forms}}
			for _, f := range forms {
				result.Content = append(result.Content, &mcp.TextContent{Text: f}, &mcp.ResourceLink{URI: "x://" + f, Name: f, MIMEType: f})
			}
			return result, nil
		})
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}))
	return w.site(mux)
}

// importServers imports a client's servers with keys in their arguments, and writes a damaged
// descriptor; a bundle of both must not have them. The client's own file is removed afterwards.
func (w *canaryWorld) importServers() {
	w.t.Helper()
	inner := base64.StdEncoding.EncodeToString([]byte(asJSON(map[string]string{"key": string(imported)})))
	w.home.write(w.t, ".claude.json", asJSON(map[string]any{"mcpServers": map[string]any{
		"one":   map[string]any{"command": "npx", "args": []string{"mcp-remote", "https://h.example/sse", "--header", "X-Api: " + string(imported)}},
		"two":   map[string]any{"command": "server", "args": []string{"--k", string(imported), "--db", "postgres://u:" + string(imported) + "@h/db"}},
		"three": map[string]any{"command": "server", "args": []string{"--config", inner}},
	}}))
	w.trail.add("import", w.run("", "import", "--from", "claude-code", "--dry-run"))
	w.trail.add("import", w.run("", "import", "--from", "claude-code", "--format", "json"))
	assert.NilError(w.t, os.Remove(filepath.Join(w.home.folder, ".claude.json")))
	broken := filepath.Join(w.home.folder, ".aai/org.example.broken/aai.json")
	w.home.write(w.t, ".aai/org.example.broken/aai.json", `{"app": {"id": "org.example.broken", "password": `+string(damaged))
	for _, args := range [][]string{{"--scan"}, {"doctor"}, {"doctor", "--bundle", filepath.Join(w.home.folder, "second.zip")}, {"exec", "org.example.broken", "x"}} {
		w.trail.add(strings.Join(args[:1], " "), w.run("", args...))
	}
	assert.NilError(w.t, os.Remove(broken))
	for _, name := range []string{"bundle.zip", "second.zip"} {
		w.addZip(filepath.Join(w.home.folder, name))
	}
}

// addZip adds the unpacked files of an archive to the trail.
func (w *canaryWorld) addZip(path string) {
	w.t.Helper()
	archive, err := zip.OpenReader(path)
	assert.NilError(w.t, err)
	defer func() { _ = archive.Close() }()
	for _, f := range archive.File {
		file, err := f.Open()
		assert.NilError(w.t, err)
		text, err := io.ReadAll(file)
		_ = file.Close()
		assert.NilError(w.t, err)
		w.trail.add(path+" "+f.Name, string(text))
	}
}
