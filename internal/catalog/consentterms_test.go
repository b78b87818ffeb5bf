package catalog

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

const agreedApp = `{
  "schema_version": "1.0", "appId": "org.example.Notes", "name": "Notes", "description": "Keeps notes.",
  "platforms": {"linux": {"automation": "dbus", "service": "org.example.Notes", "object": "/notes", "interface": "org.example.Notes1", "tools": [
    {"name": "add", "description": "Adds a note.", "method": "Add", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}},
    {"name": "count", "description": "Counts them.", "property": "Count", "access": "get", "returns": {"type": "integer"}}
  ]}}
}`

const agreedWebApp = `{
  "schema_version": "1.0", "platform": "web", "app": {"id": "org.example.web", "name": "Web", "description": "x"},
  "execution": {"type": "http", "base_url": "https://api.example.org/v1"},
  "auth": {"type": "oauth2", "oauth2": {"authorization_endpoint": "https://example.org/auth", "token_endpoint": "https://example.org/token", "scopes": ["read"], "pkce": {"method": "S256"}}},
  "tools": [{"name": "list", "description": "Lists.", "execution": {"path": "/items", "method": "GET", "headers": {"X-A": "1"}}, "parameters": {"type": "object"}}]
}`

// digests returns those of the tools, after replacing parts of the descriptor.
func digests(t *testing.T, source string, o Options, replace ...string) []string {
	t.Helper()
	changed := strings.NewReplacer(replace...).Replace(source)
	assert.Assert(t, len(replace) <= 0 || changed != source, "%q is not in the descriptor", replace)
	o.HostPlatform = "linux"
	var all []string
	for _, tool := range mustParse(t, changed, o).App.Tools {
		if b, err := hex.DecodeString(tool.Implementation.Digest()); err != nil || len(b) != 32 {
			t.Fatalf("%s has the digest %q", tool.Name, tool.Implementation.Digest())
		}
		all = append(all, tool.Implementation.Digest())
	}
	return all
}

// TestToolDigests checks that the digest of a tool changes exactly with its own content: other
// tools and the formatting of the file do not matter.
func TestToolDigests(t *testing.T) {
	was := digests(t, agreedApp, Options{})
	assert.Assert(t, was[0] != was[1], "two tools have one digest")
	for name, c := range map[string]struct {
		replace     []string
		first, both bool // has changed
	}{
		"white space":      {replace: []string{`"parameters": {`, "\"parameters\":\n  {  "}},
		"the app's words":  {replace: []string{"Keeps notes.", "Keeps all notes."}},
		"another version":  {replace: []string{`"name": "Notes",`, `"name": "Notes", "version": "7",`}},
		"order of members": {replace: []string{`"name": "add", "description": "Adds a note.",`, `"description": "Adds a note.", "name": "add",`}},
		"description":      {replace: []string{"Adds a note.", "Adds a note!"}, first: true},
		"method":           {replace: []string{`"Add"`, `"Wipe"`}, first: true},
		"parameter":        {replace: []string{`"text": {"type": "string"}`, `"text": {"type": "string", "default": "x"}`}, first: true},
		"effect":           {replace: []string{`"method": "Add"`, `"method": "Add", "effect": "reads"`}, first: true},
		"service":          {replace: []string{`"service": "org.example.Notes"`, `"service": "org.example.Other"`}, first: true, both: true},
		"name of the app":  {replace: []string{`"name": "Notes"`, `"name": "Bank"`}, first: true, both: true},
		"id of the app":    {replace: []string{`"appId": "org.example.Notes"`, `"appId": "org.example.Bank"`}, first: true, both: true},
	} {
		t.Run(name, func(t *testing.T) {
			is := digests(t, agreedApp, Options{}, c.replace...)
			if first := is[0] != was[0]; first != c.first {
				t.Errorf("the tool's digest has changed: %v", first)
			}
			if other := is[1] != was[1]; other != c.both {
				t.Errorf("the other tool's digest has changed: %v", other)
			}
		})
	}
}

// TestToolDigestsStay: grants keep digests for years, so they must not change by themselves.
func TestToolDigestsStay(t *testing.T) {
	got := digests(t, agreedApp, Options{})
	want := []string{
		"8b0bf287fe667d53a15c5f6b459b27cd1bdc00518ebcfb372c57bb7cf2ccc01b",
		"68f6c3bc7b9cbe6bb94cc10a33fe0eaa557d75ca006680b641c3601bf878d538",
	}
	assert.Check(t, is.Equal(got[0], want[0]), "%q", got)
	assert.Check(t, is.Equal(got[1], want[1]), "%q", got)
}

// TestWebToolDigests checks that the digest of a web tool covers the origin and the hosts.
func TestWebToolDigests(t *testing.T) {
	home := Options{Origin: "https://example.org"}
	was := digests(t, agreedWebApp, home)[0]
	assert.Check(t, digests(t, agreedWebApp, Options{Origin: "https://example.net"})[0] != was, "another origin")
	for _, replace := range [][]string{
		{"https://api.example.org/v1", "https://evil.example"}, {"/items", "/items/all"}, {`"GET"`, `"POST"`}, {`"X-A": "1"`, `"X-A": "2"`},
	} {
		assert.Check(t, digests(t, agreedWebApp, home, replace...)[0] != was, "%q is not a part of it", replace)
	}
}

// TestAuthIsAgreedTo checks that the digest covers the authentication.
func TestAuthIsAgreedTo(t *testing.T) {
	digest := func(change func(*aai.AuthRecipe)) string {
		auth := aai.AuthRecipe{Kind: aai.AuthOAuth2, TokenEndpoint: "https://example.org/token", Scopes: []string{"read"}, ExpiresIn: time.Hour}
		change(&auth)
		return digestOf(consentTerms{Recipe: &aai.Recipe{HTTP: &aai.HTTPRecipe{Auth: &auth}}})
	}
	was := digest(func(*aai.AuthRecipe) {})
	assert.Equal(t, len(was), 64, "%q", was)
	for name, change := range map[string]func(*aai.AuthRecipe){
		"endpoint": func(a *aai.AuthRecipe) { a.TokenEndpoint += "2" },
		"scopes":   func(a *aai.AuthRecipe) { a.Scopes = append(a.Scopes, "write") },
		"time":     func(a *aai.AuthRecipe) { a.ExpiresIn *= 2 },
	} {
		assert.Check(t, digest(change) != was, "%s is not a part of it", name)
	}
}

func TestRuns(t *testing.T) {
	tools := mustParse(t, agreedApp, Options{HostPlatform: "linux"}).App.Tools
	assert.Check(t, is.Equal(tools[0].Implementation.Summary, "D-Bus org.example.Notes /notes org.example.Notes1.Add"))
	assert.Check(t, is.Equal(tools[1].Implementation.Summary, "D-Bus get org.example.Notes /notes property org.example.Notes1.Count"))
	for want, r := range map[string]*aai.Recipe{
		"":                               {},
		"the app itself org.example.App": {IPC: &aai.IPCRecipe{Service: "org.example.App"}},
		"applescript beep":               {Script: &aai.ScriptRecipe{Language: "applescript", Script: "beep"}},
		"can run any program, by $; jxa $.system('id')": {Script: &aai.ScriptRecipe{Language: "jxa", Script: "$.system('id')"}},
		"COM Excel.Application call Quit":               {COM: &aai.COMRecipe{ProgID: "Excel.Application", Steps: []aai.COMStep{{Action: "call", Method: "Quit"}}}},
		"Android intent org.example VIEW":               {Intent: &aai.IntentRecipe{Package: "org.example", Action: "VIEW"}},
		"opens notes notes://add":                       {URL: &aai.URLRecipe{Scheme: "notes", Template: "notes://add"}},
		"GET https://example.org/items":                 {HTTP: &aai.HTTPRecipe{Method: "GET", BaseURL: "https://example.org", Path: "/items"}},
	} {
		assert.Check(t, is.Equal(describeRecipe(kinds(), r), want))
	}
}
