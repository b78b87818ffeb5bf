package catalog

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

// An appView is everything that a person, an agent and a driver see of an app.
type appView struct {
	ID, Name, Description, Version, Platform, BaseURL string
	Aliases, Hosts                                    []string
	Auth                                              *aai.AuthRecipe
	Tools                                             []toolView
	Document                                          Document // with schemas in their canonical form
}

type toolView struct {
	Name, Title, Description, Runs, Digest string
	Effect                                 aai.Effect
	Natural, Starts, Private, Run          bool
	Kind                                   aai.Kind
	Secret, Order                          []string
	Timeout                                time.Duration
}

func viewOf(t tester, d *Descriptor) appView {
	t.Helper()
	a := d.App
	whole := appView{
		ID: a.ID, Name: a.Name, Description: a.Description, Version: a.Descriptor.Version, Platform: a.Platform, BaseURL: a.Site.BaseURL,
		Aliases: a.Aliases, Hosts: a.Site.Hosts, Auth: a.Site.Auth, Document: *d.Document,
	}
	for _, tool := range a.Tools {
		whole.Tools = append(whole.Tools, toolView{
			Name: tool.Name, Title: tool.Title, Description: tool.Description, Runs: tool.Implementation.Summary, Digest: tool.Implementation.Digest(),
			Effect: tool.Effect, Natural: tool.Assessment(nil).EffectInherent, Starts: tool.Assessment(nil).MayStartProgram, Private: tool.Privacy.Result, Run: tool.Run != nil,
			Kind: tool.Assessment(nil).Kind, Secret: tool.Privacy.Secret, Order: tool.Params.Order, Timeout: tool.Limits.Timeout,
		})
	}
	whole.Document.Sections = slices.Clone(d.Document.Sections)
	for i := range whole.Document.Sections {
		s := &whole.Document.Sections[i]
		s.Tools = slices.Clone(s.Tools)
		for j := range s.Tools {
			for _, schema := range []*[]byte{(*[]byte)(&s.Tools[j].Params), (*[]byte)(&s.Tools[j].Returns)} {
				if *schema == nil {
					continue
				}
				value := jsontext.Value(bytes.Clone(*schema))
				if err := value.Canonicalize(); err != nil {
					t.Fatalf("%v", err)
				}
				*schema = value
			}
		}
	}
	return whole
}

// A tester is the common interface of tests and properties.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// writtenAgain checks that the marshalled form parses as the same app, with the same texts and
// terms, and that it marshals identically. It returns the marshalled form.
func writtenAgain(t tester, first *Descriptor, o Options) []byte {
	t.Helper()
	written, err := first.Document.Marshal()
	if err != nil {
		t.Fatalf("%v\n%v", err, aai.AsError(err).Err)
	}
	second, err := Parse(written, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, written)
	}
	if diff := cmp.Diff(viewOf(t, first), viewOf(t, second)); diff != "" {
		t.Errorf("%s\n%s", diff, written)
	}
	if again, err := second.Document.Marshal(); err != nil || !bytes.Equal(again, written) {
		t.Errorf("written once more: %v\n%s", err, cmp.Diff(string(written), string(again)))
	}
	return written
}

// allDrivers returns drivers for all kinds.
func allDrivers() map[string]aai.Driver {
	all := map[string]aai.Driver{}
	for _, k := range kinds() {
		all[k.name] = &recorder{}
	}
	return all
}

func TestRealDescriptorsAreWrittenAgain(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../descriptors/*/aai.json", "testdata/mail.json", "testdata/rich.json", "testdata/web.json", "lint/testdata/rough.json"} {
		found, err := filepath.Glob(pattern)
		assert.NilError(t, err, pattern)
		assert.Assert(t, len(found) != 0, pattern)
		files = append(files, found...)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		assert.NilError(t, err)
		for _, host := range []string{"linux", "macos", "windows", ""} {
			o := Options{HostPlatform: host, Drivers: allDrivers(), DefaultTimeout: 7 * time.Second, DesktopFile: "mail.desktop"}
			d := mustParse(t, string(source), o)
			for _, tool := range d.App.Tools {
				assert.Check(t, tool.Implementation.Digest() != "", "%s: %s has no digest", file, tool.Name)
			}
			written := writtenAgain(t, d, o)
			assert.Check(t, bytes.Contains(written, []byte(`"execution": {`)) == (len(d.Document.Sections) == 1 && d.App.Platform == "linux") || d.App.Platform == "web", "%s is written in the other dialect:\n%s", file, written)
		}
	}
}

// TestEveryKindRoundTrips checks the members of each kind, in the section and the tool.
func TestEveryKindRoundTrips(t *testing.T) {
	single := func(head, tools string) string {
		return `{"schemaVersion": "1.3", "app": {"id": "a.b", "name": {"zh": "二", "default": "One|1"}, "description": "D"}, "aliases": ["x", "x", "y"], ` + head + `, "tools": [` + tools + `]}`
	}
	oauth := `"authorization_endpoint": "https://example.com/a", "token_endpoint": "https://example.com/t"`
	for name, source := range map[string]string{
		"no tools":       single(`"platform": "linux", "execution": {"type": "dbus", "service": "a.b"}`, ``),
		"ipc":            single(`"platform": "linux", "execution": {"type": "ipc", "desktopFile": "b.desktop"}`, `{"name": "t"}, {"name": "u", "method": "M", "service": "a.c", "object": "/", "interface": "a.c"}`),
		"ipc of macos":   single(`"platform": "macos"`, `{"name": "t", "annotations": {"title": "T <&> ", "readOnlyHint": true}}`),
		"apple-events":   single(`"execution": {"type": "apple-events", "bundle_id": "x.y", "event_class": "AAI ", "event_id": "call"}`, `{"name": "t"}`),
		"other events":   single(`"execution": {"type": "apple-events", "event_class": "odd "}`, `{"name": "t"}`),
		"ipc of windows": single(`"platform": "windows", "execution": {"type": "ipc", "prog_id": "A.B"}`, `{"name": "t"}`),
		"com": single(`"execution": {"type": "com", "progid": "A.B"}`, `{"name": "t"}, {"name": "u", "parameters": {"properties": {"a": {}}}, "script": [{"action": "create", "var": "v", "progid": "C.D"},
			{"action": "call", "object": "v", "method": "M", "var": "w", "args": [ { "k" : "${a}" }, null, 1.50 ]}, {"action": "call", "object": "v", "method": "N", "args": [], "named": {"b": "${w}", "a": 1}},
			{"action": "create", "var": "x", "progid": "C.E", "running": true}, {"action": "list", "object": "x", "var": "l", "properties": ["Name"]}, {"action": "get", "object": "v", "property": "I", "args": ["${a}"]},
			{"action": "set", "object": "v", "property": "P", "value": null}, {"action": "return", "value": [ 1, "é" ]}]}`),
		"property": linuxTool(`"property": "P", "access": "set", "args": [], "bus": "system", "effect": "changes", "timeout": 0.29`),
		"args":     linuxTool(`"method": "M", "args": ["${a}", [ 1, { "x": 2 } ], "\u2028<"], "annotations": {"destructiveHint": false}, "output_parser": "json"`),
		"started":  strings.Replace(linuxTool(`"method": "M"`), `"service"`, `"desktop_file": "x.desktop", "bus": "system", "service"`, 1),
		"scripts": withPlatforms(`{"web": {"base_url": "https://example.com", "default_headers": {}, "tools": [{"name": "w", "path": "/", "method": "head", "headers": {"X": 1}}]},
			"macos": {"automation": "jxa", "tools": [{"name": "t", "script": "x", "timeout": 3600}]},
			"android": {"package": "a.b", "tools": [{"name": "t", "action": "A", "timeout": 1.7, "extras": {"n": 5}, "result_type": "content_provider", "result_uri": "content://x", "output_parser": "odd"}]},
			"ios": {"scheme": "x", "tools": [{"name": "t", "url_template": "x://", "result_type": "app_group", "app_group_id": "g"}]}}`),
		"server":      single(`"platform": "linux", "execution": {"type": "mcp", "command": "npx", "args": ["-y", "a b", "k=${KEY}"], "env": ["KEY"], "cwd": "/tmp"}`, ``),
		"bare server": `{"schema_version": "1.0", "platform": "macos", "app": {"id": "a.b", "name": "N"}, "execution": {"type": "mcp", "command": "x"}}`,
		"far server": `{"schema_version": "1.0", "app": {"id": "a.b", "name": "N"}, "execution": {"type": "mcp", "url": "https://example.com/mcp?v=1", "default_headers": {"X": "1"}},
			"auth": {"type": "bearer", "env_var": "K"}}`,
		"listed":     single(`"platform": "windows", "execution": {"type": "mcp", "command": "x"}`, `{"name": "read", "effect": "reads", "timeout": 9, "parameters": {"type": "object"}}`),
		"servers":    withPlatforms(`{"linux": {"automation": "mcp", "command": "x"}, "macos": {"automation": "mcp", "command": "y", "args": []}, "web": {"automation": "mcp", "url": "https://example.com/mcp"}}`),
		"events":     notesWithEvents,
		"web events": webWithEvents,
		"undo":       undoApp(true, `{"tool": "restore", "args": {"id": [null, "${args.id}"]}, "says": "back", "look": {"tool": "list", "left": {"a": null}}}`),
		"undos":      undoApp(false, `{"tool": "restore", "args": {"id": [null, "${args.id}"]}, "says": "back", "look": {"tool": "list", "left": {"a": null}}}`),
		"no auth":    webApp(""),
		"oauth2":     webApp(`{"type": "oauth2", "oauth2": {` + oauth + `, "scope": "", "clientId": "me", "pkce": {}, "instructions": {"short": "S", "help_url": "https://example.com/h"}}}`),
		"flat":       webApp(`{"type": "oauth2", ` + oauth + `, "scope": "a b", "device_endpoint": "https://example.com/d", "revocation_url": "https://example.com/r", "pkce": {"method": "S256"}, "instructions": "I"}`),
		"key":        webApp(`{"type": "api_key", "key_placement": "query", "key_name": "k", "env_var": "K", "instructions": {"short": "S", "help_url": "https://example.com/h"}}`),
		"prefix":     webApp(`{"type": "apiKey", "apiKey": {"location": "header", "name": "X", "prefix": "Token", "obtainUrl": "https://example.com/k"}}`),
		"bearer":     webApp(`{"type": "bearer"}`),
		"bare":       webApp(`{"type": "bearer", "token_prefix": ""}`),
		"query":      webApp(`{"type": "bearer", "token_placement": "query"}`),
		"credential": webApp(`{"type": "app_credential", "token_url": "https://example.com/t", "token_type": "app_access_token", "expires_in": 9}`),
		"cookie":     webApp(`{"type": "cookie", "cookie": {"login_url": "https://example.com/l", "cookies": ["sid"], "domain": ".Example.com", "instructions": {"help_url": "https://example.com/h"}}}`),
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range []Options{{HostPlatform: "linux", Drivers: allDrivers()}, {DesktopFile: "b.desktop"}, {Origin: "https://example.com"}} {
				if o.Origin != "" && (strings.Contains(source, `"mcp"`) || strings.Contains(source, `"look"`)) {
					continue // a site may not name a server, and its claim that a look reads does not count
				}
				writtenAgain(t, mustParse(t, source, o), o)
			}
		})
	}
}

// TestUnkeptValuesAreNotWritten checks that kinds without kept settings are not written.
func TestUnkeptValuesAreNotWritten(t *testing.T) {
	for _, way := range []string{"stdio", "acp"} {
		d := mustParse(t, `{"schema_version": "1.0", "platform": "linux", "app": {"id": "a.b", "name": "N"},
			"execution": {"type": "`+way+`", "command": "x"}, "tools": [{"name": "t"}]}`, Options{})
		written, err := d.Document.Marshal()
		assert.Assert(t, written == nil, "%s %s %v", way, written, err)
		assert.Assert(t, aai.AsError(err) != nil, "%s %s %v", way, written, err)
		assert.Equal(t, aai.AsError(err).Code, aai.DescriptorInvalid, "%s %s %v", way, written, err)
	}
	written, err := new(Document).Marshal()
	assert.Assert(t, written == nil, written)
	assert.Assert(t, err != nil, written)
}

// TestDocumentsAreWrittenAgain checks that any document marshals identically after parsing.
func TestDocumentsAreWrittenAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDocument(t)
		written, err := d.Marshal()
		assert.NilError(t, err, "%+v", d)
		o := Options{HostPlatform: rapid.SampledFrom([]string{"linux", "macos", "web"}).Draw(t, "host"), Drivers: allDrivers()}
		read, err := Parse(written, o)
		assert.NilError(t, err, written)
		writtenAgain(t, read, o)
		assert.Check(t, is.DeepEqual(d.Generated, read.Document.Generated))
		for i, s := range read.Document.Sections {
			for j, tool := range s.Tools {
				given := d.Sections[i].Tools[j]
				given.Recipe.Kind = tool.Recipe.Kind
				if tool.Recipe.Script != nil {
					tool.Recipe.Script.Language = given.Recipe.Script.Language
				}
				diff := cmp.Diff(given.Recipe, tool.Recipe)
				assert.Check(t, is.Equal(diff, ""), written)
				assert.Check(t, is.Equal(given.Timeout, tool.Timeout), written)
				assert.Check(t, is.Equal(tool.Name, given.Name), written)
				assert.Check(t, is.Equal((given.Effect == nil), (tool.Effect == nil)), written)
			}
		}
	})
}

// drawDocument draws a document as a generator might write it: of one platform in either dialect,
// or of several.
func drawDocument(t *rapid.T) *Document {
	words := rapid.StringOfN(rapid.RuneFrom([]rune("aé|\n\u2028\u202e<&\"\\ ${}")), 0, 40, -1)
	name := rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_]{0,9}`)
	dotted := rapid.StringMatching(`[a-z]{1,5}\.[A-Z][a-z_]{0,5}`)
	d := &Document{ID: dotted.Draw(t, "id"), Name: "N" + words.Draw(t, "name"), Description: words.Draw(t, "description"), Version: words.Draw(t, "version")}
	if rapid.Bool().Draw(t, "generated") {
		d.Generated = &Generated{From: "dbus:" + d.ID, Digest: strings.Repeat("0f", 32)}
	}
	d.Aliases = rapid.SliceOfN(words, 0, 3).Draw(t, "aliases")
	recipes := map[string]func(s *Section, r *aai.Recipe){
		"dbus": func(s *Section, r *aai.Recipe) {
			r.DBus = &aai.DBusRecipe{
				Bus: rapid.SampledFrom([]string{"session", "system"}).Draw(t, "bus"), Service: dotted.Draw(t, "service"), Object: "/" + name.Draw(t, "object"),
				Interface: rapid.SampledFrom([]string{"a.I", "b.I"}).Draw(t, "interface"), Method: name.Draw(t, "method"),
			}
			if rapid.Bool().Draw(t, "has args") {
				quoted, _ := jsontext.AppendQuote(nil, words.Filter(func(s string) bool { return !strings.Contains(s, "${") }).Draw(t, "arg"))
				r.DBus.Args = append(r.DBus.Args, json.RawMessage(quoted))
			}
		},
		"applescript": func(_ *Section, r *aai.Recipe) {
			r.Script = &aai.ScriptRecipe{Language: "applescript", Script: "beep " + rapid.StringN(0, 9, -1).Filter(func(s string) bool { return !strings.Contains(s, "${") }).Draw(t, "script")}
		},
		"http": func(s *Section, r *aai.Recipe) {
			r.HTTP = &aai.HTTPRecipe{BaseURL: s.BaseURL, DefaultHeaders: s.Headers, Path: "/" + name.Draw(t, "path"), Method: rapid.SampledFrom([]string{"GET", "POST"}).Draw(t, "method")}
		},
	}
	ways := []struct{ platform, way string }{{"linux", "dbus"}, {"macos", "applescript"}, {"web", "http"}}
	for _, w := range rapid.SliceOfNDistinct(rapid.SampledFrom(ways), 1, 3, rapid.ID).Draw(t, "sections") {
		s := Section{Platform: w.platform, Automation: w.way}
		switch w.way {
		case "http":
			s.BaseURL = "https://example.com/v1"
			s.Headers = rapid.SampledFrom([]map[string]string{nil, {}, {"X": "<1>"}}).Draw(t, "headers")
		case "dbus":
			s.Interface, s.Bus = "a.I", rapid.SampledFrom([]string{"", "session", "system"}).Draw(t, "common bus")
		}
		for i, toolName := range rapid.SliceOfNDistinct(name, 0, 4, rapid.ID).Draw(t, "tools") {
			tool := ToolDeclaration{Name: toolName, Title: words.Draw(t, "title"), Description: words.Draw(t, "about")}
			tool.Timeout = time.Duration(rapid.Int64Range(int64(minTimeout), int64(maxTimeout)).Draw(t, "timeout"))
			tool.Effect = rapid.SampledFrom([]*aai.Effect{nil, new(aai.Effect), worseEffect(nil, aai.Reads), worseEffect(nil, aai.Changes)}).Draw(t, "effect")
			tool.Recipe = &aai.Recipe{App: d.ID, Tool: toolName, Platform: w.platform}
			if i%2 == 0 {
				tool.Params, tool.Recipe.Params = []byte(`{"properties":{"a":{"type":"string","default":"<\u00e9>"}}}`), []string{"a"}
			}
			if rapid.Bool().Draw(t, "has undo") {
				tool.Undo = &UndoTemplate{Tool: toolName, Description: words.Filter(func(s string) bool { return !strings.Contains(s, "${") }).Draw(t, "says")}
				if i%2 == 0 {
					tool.Undo.Args = json.RawMessage(`{"a":["${args.a}",null,{"b":"<${result.a.0}>"}]}`)
				}
			}
			recipes[w.way](&s, tool.Recipe)
			s.Tools = append(s.Tools, tool)
		}
		d.Sections = append(d.Sections, s)
	}
	return d
}

// TestWhatAProgramMade checks that the source of a descriptor, the groups of tools and the places
// of parameters are parsed and marshalled, and that digests cover those that change a call.
func TestWhatAProgramMade(t *testing.T) {
	source := `{"schema_version": "1.0", "generated": {"from": "openapi:shop.yaml", "digest": "` + strings.Repeat("00", 32) + `"},
		"app": {"id": "org.example.shop", "name": "Shop", "description": "A shop."},
		"execution": {"type": "http", "base_url": "https://api.example.com"},
		"auth": {"type": "bearer"},
		"tools": [{"name": "find", "group": "orders", "description": "Find orders",
			"execution": {"method": "GET", "path": "/{id}", "public": true, "send": {"filter": {"in": "query", "name": "f", "style": "deepObject", "explode": true}}},
			"parameters": {"type": "object", "properties": {"id": {"type": "string"}, "filter": {"type": "object"}}}}]}`
	d := mustParse(t, source, Options{})
	written, err := d.Document.Marshal()
	assert.NilError(t, err)
	again := mustParse(t, string(written), Options{})
	assert.Check(t, is.DeepEqual(viewOf(t, d), viewOf(t, again)))
	explode := true
	want := &aai.HTTPRecipe{
		BaseURL: "https://api.example.com", Path: "/{id}", Method: "GET", Public: true,
		Send: map[string]aai.SendRecipe{"filter": {In: "query", Name: "f", Style: "deepObject", Explode: &explode}},
	}
	assert.Check(t, is.DeepEqual(want, d.Recipes[0].HTTP))
	if d.App.Tools[0].Group != "orders" || d.Document.Generated == nil || d.Document.Generated.From != "openapi:shop.yaml" {
		t.Errorf("got the group %q of %+v", d.App.Tools[0].Group, d.Document.Generated)
	}
	other := mustParse(t, strings.Replace(source, `"deepObject"`, `"form"`, 1), Options{})
	assert.Check(t, other.App.Tools[0].Implementation.Digest() != d.App.Tools[0].Implementation.Digest(), "a call that is spelled otherwise is agreed to by the same digest")
	for bad, place := range map[string]string{
		`{"filter": {"in": "body", "style": "x"}}`: "tools[0].execution.send.filter.style",
		`{"filter": {}}`:              "tools[0].execution.send.filter.in",
		`{"nobody": {"in": "query"}}`: "tools[0].execution.send.nobody",
		`[]`:                          "tools[0].execution.send",
	} {
		_, err := Parse([]byte(strings.Replace(source, `{"filter": {"in": "query", "name": "f", "style": "deepObject", "explode": true}}`, bad, 1)), Options{})
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s: expected a fault at %s, got %v", bad, place, err)
		assert.Assert(t, is.Contains(e.Message, place+":"), "%s %s %v", bad, place, err)
	}
}
