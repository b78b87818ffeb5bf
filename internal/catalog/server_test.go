package catalog

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// server returns a descriptor of a Linux server, with the text as its execution.
func server(execution, more string) string {
	return `{"schema_version": "1.0", "platform": "linux", "app": {"id": "org.example.Server", "name": "Server", "description": "D"},
		"execution": {"type": "mcp", ` + execution + `}` + more + `}`
}

// TestServers checks that a server without listed tools is an app that lists them when it runs.
func TestServers(t *testing.T) {
	var d recorder
	for source, want := range map[string]string{
		server(`"command": "npx", "args": ["-y", "a b", "${KEY}"], "env": ["KEY"]`, ``): `MCP server npx -y "a b" ${KEY}`,
		server(`"command": "npx"`, `, "tools": []`):                                     `MCP server npx`,
		server(`"url": "https://example.com/mcp"`, ``):                                  `MCP server https://example.com/mcp`,
	} {
		for _, o := range []Options{{HostPlatform: "linux", Drivers: drivers(&d, "mcp")}, {HostPlatform: "linux"}, {HostPlatform: "macos", Drivers: drivers(&d, "mcp")}} {
			got := mustParse(t, source, o)
			runs := o.Drivers != nil && (o.HostPlatform == "linux" || strings.Contains(source, "url"))
			assert.Equal(t, (got.App.Server != nil), runs, "%s %s %+v", source, o.HostPlatform, got.App)
			assert.Assert(t, is.Len(got.Warnings, 0), "%s %s %+v", source, o.HostPlatform, got.App)
			assert.Assert(t, is.Len(got.App.Tools, 0), "%s %s %+v", source, o.HostPlatform, got.App)
			if s := got.App.Server; s != nil && describeMCP(s) != want {
				t.Errorf("%q, expected %q", describeMCP(s), want)
			}
		}
	}
	got := mustParse(t, server(`"url": "https://example.com/mcp"`, `, "auth": {"type": "bearer"}`), Options{HostPlatform: "linux", Drivers: drivers(&d, "mcp")})
	a := got.App
	assert.Equal(t, a.Site.BaseURL, "https://example.com/mcp", "%+v", a)
	assert.Assert(t, a.Site.Auth != nil, "%+v", a)
	assert.Equal(t, a.Server.MCP.Auth, a.Site.Auth, "%+v", a)
	assert.Assert(t, is.Len(a.Site.Hosts, 1), "%+v", a)
	assert.Equal(t, a.Site.Hosts[0], "example.com", "%+v", a)
	_, err := Parse([]byte(server(`"url": "https://example.com/mcp"`, ``)), Options{Origin: "https://example.com"})
	assert.Check(t, is.ErrorContains(err, "only a descriptor that a person placed on this computer"))
}

// TestListedToolsOfAServer checks that listed tools are the only ones, with the descriptor's texts.
func TestListedToolsOfAServer(t *testing.T) {
	var d recorder
	got := mustParse(t, server(`"command": "x"`, `, "tools": [{"name": "read", "description": "R", "effect": "reads", "parameters": {"type": "object"}}, {"name": "write"}]`),
		Options{HostPlatform: "linux", Drivers: drivers(&d, "mcp")})
	read, write := got.App.Tool("read"), got.App.Tool("write")
	assert.Assert(t, got.App.Server == nil, "%+v %+v", read, write)
	assert.Assert(t, read.Run != nil, "%+v %+v", read, write)
	assert.Equal(t, read.Effect, aai.Reads, "%+v %+v", read, write)
	assert.Equal(t, write.Effect, aai.Destroys, "%+v %+v", read, write)
	assert.Equal(t, read.Implementation.Summary, "MCP server x: read", "%+v %+v", read, write)
	r := got.Recipes[0]
	assert.Check(t, is.Equal(r.Kind, "mcp"), "%+v", r)
	assert.Check(t, is.Equal(r.MCP.Tool, "read"), "%+v", r)
	assert.Check(t, is.Equal(r.MCP.Command, "x"), "%+v", r)
}
