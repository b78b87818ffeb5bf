package importers_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestReferencesInHeaders checks headers with references: the text before stays and the variable
// is read by name, or a note says what to do.
func TestReferencesInHeaders(t *testing.T) {
	for _, one := range []struct {
		header, value    string
		prefix, variable string
		note             string
	}{
		{"Authorization", "Bearer ${env:TOKEN}", "Bearer ", "TOKEN", "read from the variable TOKEN, if login.env"},
		{"Authorization", "Bearer ${TOKEN}", "Bearer ", "TOKEN", "read from the variable TOKEN, if login.env"},
		{"Authorization", "Bearer $TOKEN", "Bearer ", "TOKEN", "read from the variable TOKEN"},
		{"Authorization", "${env:TOKEN}", "", "TOKEN", "read from the variable TOKEN"},
		{"Authorization", "Token token=${env:TOKEN}", "Token token=", "TOKEN", "read from the variable TOKEN"},
		{"X-Api-Key", "Token ${TOKEN}", "Token ", "TOKEN", "read from the variable TOKEN"},
		{"Authorization", "Bearer ${TOKEN:-canary}", "Bearer ", "TOKEN", "the client's default for it is not taken over"},
		{"Authorization", "Bearer ${input:my-token}", "Bearer ", "", "asks for it (${input:my-token}); give it: aai-gateway auth login mcp.s"},
		{"X-Api-Key", "Token ${input:t}", "Token ", "", "asks for it (${input:t})"},
		{"Authorization", "Bearer canary-${env:TOKEN}", "Bearer ", "", `has ${env:TOKEN} among other words, which are not taken over; give all of it that follows \"Bearer\": aai-gateway auth login mcp.s`},
		{"X-Api-Key", "${env:A}canary", "", "", "has ${env:A} among other words, which are not taken over; give all of it: aai-gateway auth login mcp.s"},
		{"X-Api-Key", "canary ${input:a} canary", "", "", "has ${input:a} among other words"},
		{"Authorization", "${env:A} canary", "", "", "has ${env:A} among other words"},
	} {
		c := &client{servers: map[string]map[string]any{"s": {"url": "https://a.example/mcp", "headers": map[string]any{one.header: one.value}}}}
		shown, saved, left := takenServer(t, c, t.TempDir())
		if saved["s"] == nil {
			t.Errorf("%s: %s: left out: %v", one.header, one.value, left)
			continue
		}
		a := saved["s"].App.Site.Auth
		if a == nil || a.Prefix != one.prefix || a.EnvVar != one.variable || len(c.keys) > 0 {
			t.Errorf("%s: %s: %+v, kept %v", one.header, one.value, a, c.keys)
		}
		assert.Assert(t, is.Contains(shown, one.note), "%s %s", one.header, one.value)
		assert.Assert(t, !strings.Contains(shown, "canary"), "%s %s %s", one.header, one.value, shown)
	}
	c := &client{servers: map[string]map[string]any{"s": {"url": "https://a.example/mcp", "headers": map[string]any{"X-MCP-Toolsets": "${input:sets}"}}}}
	shown, saved, _ := takenServer(t, c, t.TempDir())
	assert.Assert(t, saved["s"] != nil, "a setting that is filled in: %s", shown)
	assert.Assert(t, saved["s"].Document.Sections[0].Headers == nil, "a setting that is filled in: %s", shown)
	assert.Assert(t, is.Contains(shown, "its header X-MCP-Toolsets has"))
}

// TestReferencesInVariables checks that a reference is not a value, and neither is the text
// around it.
func TestReferencesInVariables(t *testing.T) {
	for value, note := range map[string]string{
		"${env:KEY}":        "the variable KEY has no value in the client's file",
		"$KEY":              "the variable KEY has no value in the client's file",
		"${input:key}":      "the variable KEY has no value in the client's file",
		"${env:OTHER}":      "the value of the variable KEY is ${env:OTHER} in the client's file, which is not taken over; give it: aai-gateway mcp env mcp.s KEY",
		"${KEY:-canary}":    "the value of the variable KEY is ${KEY} in the client's file",
		"Bearer ${env:KEY}": "the value of the variable KEY has ${env:KEY} among other words",
		"canary${input:k}":  "the value of the variable KEY has ${input:k} among other words in the client's file, and is not taken over; give it whole: aai-gateway mcp env mcp.s KEY",
		"${a}canary${b}":    "the value of the variable KEY has ${a} among other words",
	} {
		c := &client{servers: map[string]map[string]any{"s": {"command": "x", "env": map[string]any{"KEY": value}}}}
		shown, saved, _ := takenServer(t, c, t.TempDir())
		if saved["s"] == nil || len(c.values) > 0 || !strings.Contains(shown, note) || strings.Contains(shown, "canary") {
			t.Errorf("%s: the vault has %v; no %q in\n%s", value, c.values, note, shown)
		}
	}
	c := &client{servers: map[string]map[string]any{"s": {"command": "x", "env": map[string]any{"KEY": "pa$$word{1}$"}}}}
	if takenServer(t, c, t.TempDir()); c.values["mcp-env/mcp.s"] != `{"KEY":"pa$$word{1}$"}` {
		t.Errorf("no reference: %v", c.values)
	}
}
