package catalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestInvalidDescriptors checks the exact faults of each invalid descriptor: path, problem and
// expected value.
func TestInvalidDescriptors(t *testing.T) {
	both := `expected one dialect: "appId" with "platforms", or "app" with "platform"`
	tests := []struct {
		name, source string
		want         []string
	}{
		{"empty", " \n", []string{"the file is empty; expected a JSON object"}},
		{"list", "[]", []string{"is a list; expected a JSON object"}},
		{"cut off", `{"schema_version": "1.0",`, []string{"the file ends too early (line 1, column 26)"}},
		{"trailing", "{}\n{}", []string{"there is more after the JSON value; expected one object (line 2, column 1)"}},
		{"comma", "{\n \"a\": [1,]}", []string{"a[1]: not JSON: invalid character ',' at start of value (line 2, column 9)"}},
		{"twice", `{"platforms": {"linux": {"tools": 1, "tools": 2}}}`, []string{`platforms.linux: "tools" is given twice`}},
		{"bad UTF-8", "{\"name\": \"\xff\"}", []string{"name: not JSON: invalid UTF-8 (line 1, column 11)"}},
		{"nothing", `{"schema_version": "1.0"}`, []string{`has neither "platforms" nor "app"; expected "appId" with "platforms", or "app" with "platform"`}},
		{"both", `{"schema_version": "1.0", "platforms": {}, "app": {}}`, []string{`has both "platforms" and "app" or "platform"; ` + both}},
		{"version 2", strings.Replace(linuxApp("a.b", "N", ""), `"1.0"`, `"2.0"`, 1), []string{`schema_version: is "2.0"; expected "1.0", the version this gateway reads (any 1.x)`}},
		{"version 1", strings.Replace(linuxApp("a.b", "N", ""), `"1.0"`, `1.0`, 1), []string{`schema_version: is a number; expected "1.0", the version this gateway reads`}},
		{"no version", strings.Replace(linuxApp("a.b", "N", ""), `"schema_version": "1.0",`, ``, 1), []string{`schema_version: missing; expected "1.0", the version this gateway reads`}},
		{"two spellings", strings.Replace(linuxApp("a.b", "N", ""), `"appId"`, `"app_id": "a.b", "appId"`, 1), []string{`both "app_id" and "appId" are given; they mean the same, keep one`}},
		{"id", linuxApp("Mail", "N", ""), []string{`appId: is "Mail"; expected a reverse DNS name such as "org.example.Mail", of at most 200 bytes`}},
		{"no name", linuxApp("a.b", "\u200b", ""), []string{"name: empty; expected the app's name for people"}},
		{"aliases", linuxApp("a.b", "N", `"aliases": "x",`), []string{"aliases: is a string; expected a list of names"}},
		{"no platform", withPlatforms(`{"amiga": {}}`), []string{`platforms: has no section that this gateway knows; expected one of "macos", "windows", "linux", "android", "ios" or "web"`}},
		{"no tools", withPlatforms(`{"ios": {"automation": "url_scheme", "scheme": "x"}}`), []string{"platforms.ios.tools: missing; expected a list of tools"}},
		{"automation", withPlatforms(`{"macos": {"automation": "bash", "tools": []}}`), []string{`platforms.macos.automation: is "bash"; expected "applescript", "jxa" or "mcp"`}},
		{"parameters", linuxTool(`"method": "M", "returns": 7`), []string{"platforms.linux.tools[0].returns: is a number; expected a JSON Schema"}},
		{"timeout", linuxTool(`"method": "M", "timeout": 3601`), []string{"platforms.linux.tools[0].timeout: is 3601 seconds; expected 1 millisecond to 1 hour"}},
		{"timeout 0", linuxTool(`"method": "M", "timeout": 0`), []string{"platforms.linux.tools[0].timeout: is 0 seconds; expected 1 millisecond to 1 hour"}},
		{"timeout text", linuxTool(`"method": "M", "timeout": "5s"`), []string{"platforms.linux.tools[0].timeout: is a string; expected a number of seconds"}},
		{"effect", linuxTool(`"method": "M", "effect": "safe"`), []string{`platforms.linux.tools[0].effect: is "safe"; expected "reads", "changes" or "destroys"`}},
		{"generated", linuxApp("a.b", "N", `"generated": {"from": "dbus:a.b", "digest": "0f"},`), []string{`generated.digest: is "0f"; expected a SHA-256 in hexadecimal`}},
		{"generated text", linuxApp("a.b", "N", `"generated": "x",`), []string{`generated: is a string; expected an object with "from" and "digest"`}},
		{"hint", linuxTool(`"method": "M", "annotations": {"readOnlyHint": "yes"}`), []string{"platforms.linux.tools[0].annotations.readOnlyHint: is a string; expected true or false"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkFaults(t, test.source, test.want) })
	}
}

// checkFaults parses and compares every fault.
func checkFaults(t *testing.T, source string, want []string) {
	t.Helper()
	_, err := Parse([]byte(source), Options{HostPlatform: "linux"})
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, "%#v", err)
	assert.Equal(t, e.Code, aai.DescriptorInvalid, "%#v", err)
	assert.Assert(t, e.Hint != "", "%#v", err)
	faults, ok := errors.AsType[*Faults](err)
	assert.Assert(t, ok, "no list of faults in %v", err)
	var got []string
	for _, f := range faults.List {
		got = append(got, f.String())
	}
	assert.Check(t, is.DeepEqual(want, got))
	assert.Check(t, strings.HasPrefix(e.Message, want[0]), "message = %s", e.Message)
}

func TestInvalidRecipes(t *testing.T) {
	tool := "platforms.linux.tools[0]"
	tests := []struct {
		name, source string
		want         []string
	}{
		{"nothing to call", linuxTool(`"effect": "reads"`), []string{tool + `.method: missing; a D-Bus tool needs "method" or "property"`}},
		{"two to call", linuxTool(`"method": "M", "property": "P"`), []string{tool + `.property: is given beside "method"; a D-Bus tool has one of them`}},
		{"access", linuxTool(`"method": "M", "access": "get"`), []string{tool + `.access: goes with "property", not with "method"`}},
		{"method", linuxTool(`"method": "a.M"`), []string{tool + `.method: is "a.M"; expected a method name such as "SendEmail"`}},
		{"bus", linuxTool(`"method": "M", "bus": "starter"`), []string{tool + `.bus: is "starter"; expected "session" or "system"`}},
		{"unique name", linuxTool(`"method": "M", "service": ":1.5"`), []string{tool + `.service: is ":1.5"; expected a bus name such as "org.example.Mail"`}},
		{"path", linuxTool(`"method": "M", "object": "/a/"`), []string{tool + `.object: is "/a/"; expected an object path such as "/org/example/Mail"`}},
		{
			"no address", withPlatforms(`{"linux": {"automation": "dbus", "service": "a.b", "tools": [{"name": "t", "method": "M"}, {"name": "u", "method": "M"}]}}`),
			[]string{
				`platforms.linux.object: missing; a D-Bus app needs an object path such as "/org/example/Mail"`,
				`platforms.linux.interface: missing; a D-Bus app needs an interface name such as "org.example.Mail"`,
			},
		},
		{"no script", macTool(`"description": "D"`), []string{"platforms.macos.tools[0].script: missing; a macOS tool needs a script"}},
		{"placeholder", macTool(`"script": "say ${a} ${c}"`), []string{`platforms.macos.tools[0].script: has ${c}, which names no parameter; expected "a"`}},
		{"open placeholder", macTool(`"script": "say ${a"`), []string{`platforms.macos.tools[0].script: has "${" without "}"`}},
		{"android", withPlatforms(`{"android": {"automation": "intent", "package": "a.b", "tools": [{"name": "t", "action": "A",
			"extras": {"x": "${y}", "n": 1, "o": {}}, "result_type": "content_provider"}]}}`), []string{
			"platforms.android.tools[0].extras.o: is an object; expected a string",
			"platforms.android.tools[0].extras.x: has ${y}, which names no parameter; the tool declares none",
			"platforms.android.tools[0].result_uri: missing; a result by content_provider needs its content:// URI",
		}},
		{"android package", withPlatforms(`{"android": {"automation": "intent", "tools": []}}`), []string{`platforms.android.package: missing; an Android app needs its package, such as "com.example.mail"`}},
		{"ios", withPlatforms(`{"ios": {"automation": "url_scheme", "scheme": "file", "tools": [{"name": "t", "url_template": "http://x", "result_type": "app_group"}]}}`), []string{
			`platforms.ios.scheme: is "file", which is not an app's own; expected the app's URL scheme`,
			`platforms.ios.tools[0].url_template: is not of the app's scheme; expected it to begin with "file:"`,
			"platforms.ios.tools[0].app_group_id: missing; a result by app_group needs it",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkFaults(t, test.source, test.want) })
	}
}

func macTool(members string) string {
	return withPlatforms(`{"macos": {"automation": "jxa", "tools": [{"name": "t", "parameters": {"properties": {"a": {}}}, ` + members + `}]}}`)
}

func TestInvalidCOMSteps(t *testing.T) {
	at := "platforms.windows.tools[0].script"
	tests := []struct {
		steps string
		want  []string
	}{
		{`"Run()"`, []string{at + ": is a string; expected a list of steps"}},
		{`[]`, []string{at + ": empty; expected at least one step"}},
		{`[{"action": "create"}]`, []string{at + `[0].var: missing; a "create" step needs it`, at + `[0].progid: missing; a "create" step needs it`}},
		{`[{"action": "create", "var": "a", "progid": "A B"}]`, []string{at + `[0].progid: is "A B"; expected a ProgID such as "Outlook.Application"`}},
		{`[{"action": "call", "object": "x", "method": "M"}]`, []string{at + `[0].object: is "x", which no earlier step has as its "var"`}},
		{`[{"action": "call", "args": 1}]`, []string{at + `[0].object: missing; a "call" step needs it`, at + `[0].method: missing; a "call" step needs it`, at + "[0].args: is a number; expected a list of arguments"}},
		{`[{"action": "set"}]`, []string{at + `[0].object: missing; a "set" step needs it`, at + `[0].property: missing; a "set" step needs it`, at + "[0].value: missing; this step needs it"}},
		{`[{"action": "get"}]`, []string{at + `[0].object: missing; a "get" step needs it`, at + `[0].property: missing; a "get" step needs it`}},
		{`[{"action": "return"}]`, []string{at + "[0].value: missing; this step needs it"}},
		{`[{"action": "return", "value": [{"x": "${q}"}]}]`, []string{at + "[0].value[0].x: has ${q}, which names no parameter; the tool declares none"}},
		{`[{"action": "run"}]`, []string{at + `[0].action: is "run"; expected "create", "call", "set", "get" or "return"`}},
		{`[{}]`, []string{at + `[0].action: missing; expected "create", "call", "set", "get" or "return"`}},
		{`[1]`, []string{at + "[0]: is a number; expected an object that describes a step", at + `[0].action: missing; expected "create", "call", "set", "get" or "return"`}},
	}
	for _, test := range tests {
		t.Run(test.steps, func(t *testing.T) {
			checkFaults(t, withPlatforms(`{"windows": {"automation": "com", "tools": [{"name": "t", "script": `+test.steps+`}]}}`), test.want)
		})
	}
}

func TestInvalidWeb(t *testing.T) {
	tests := []struct {
		from, to string
		want     []string
	}{
		{`"https://api.example.com/v1"`, `"http://api.example.com/v1"`, []string{`execution.base_url: is "http://api.example.com/v1"; expected an https URL without user, query or fragment`}},
		{`"/search"`, `"search"`, []string{`tools[0].execution.path: is "search"; expected a path that begins with one "/"`}},
		{`"/search"`, `"/a/../b"`, []string{`tools[0].execution.path: is "/a/../b"; expected a path without query, fragment and ".."`}},
		{`"/search"`, `"/{who}"`, []string{`tools[0].execution.path: has {who}, which names no parameter; expected "query" or "limit"`}},
		{`"/search"`, `"/${query}"`, []string{`tools[0].execution.path: has "${"; in a path a parameter is written {name}`}},
		{`, "method": "POST"`, ``, []string{`tools[0].execution.method: missing; expected "GET", "HEAD", "POST", "PUT", "PATCH" or "DELETE"`}},
		{`"POST"`, `"TRACE"`, []string{`tools[0].execution.method: is "TRACE"; expected "GET", "HEAD", "POST", "PUT", "PATCH" or "DELETE"`}},
		{`"Accept"`, `"authorization"`, []string{"tools[1].execution.headers.authorization: is set by the gateway; a descriptor may not"}},
		{`"Accept"`, `"X-Forwarded-For"`, []string{"tools[1].execution.headers.X-Forwarded-For: is set by the gateway; a descriptor may not"}},
		{`"Accept": "`, `"Accept": "\r\nX: `, []string{"tools[1].execution.headers.Accept: has a line break; expected one line"}},
		{`"Accept"`, `"a b"`, []string{`tools[1].execution.headers["a b"]: is not the name of an HTTP header`}},
		{`"https://example.com/oauth/token"`, `"javascript:x"`, []string{`auth.oauth2.token_endpoint: is "javascript:x"; expected an https URL`}},
		{`"type": "oauth2"`, `"type": "magic"`, []string{`auth.type: is "magic"; expected "oauth2", "apiKey", "api_key", "appCredential", "app_credential", "cookie" or "bearer"`}},
		{`"platform": "web"`, `"platform": "linux"`, []string{`execution.type: is "http", which is of web; the descriptor is for linux`}},
		{`"platform": "web"`, `"platform": "beos"`, []string{`platform: is "beos"; expected "macos", "windows", "linux", "android", "ios" or "web"`}},
	}
	source := read(t, "testdata/web.json")
	for _, test := range tests {
		t.Run(test.to, func(t *testing.T) {
			changed := strings.Replace(source, test.from, test.to, 1)
			assert.Assert(t, changed != source, "%s is not in the example", test.from)
			checkFaults(t, changed, test.want)
		})
	}
	checkFaults(t, `{"schema_version": "1.0", "app": {"id": "a.b", "name": "N"}, "execution": {"type": "ipc"}, "tools": []}`,
		[]string{`platform: missing; expected "macos", "windows", "linux", "android", "ios" or "web"`})
	checkFaults(t, strings.Replace(source, `"execution": { "path": "/search"`, `"path": "/search", "execution": { "path": "/search"`, 1),
		[]string{"tools[0].execution.path: is given here and at tools[0].path; keep one"})
	checkFaults(t, `{"schema_version": "1.0", "platform": "linux", "tools": []}`,
		[]string{`app: missing; expected an object with "id", "name" and "description"`})
}

func TestInvalidTools(t *testing.T) {
	list := func(tools string) string {
		return withPlatforms(`{"linux": {"automation": "dbus", "service": "a.b", "object": "/", "interface": "a.b", "tools": ` + tools + `}}`)
	}
	at := "platforms.linux.tools"
	checkFaults(t, list(`{}`), []string{at + ": is an object; expected a list of tools"})
	checkFaults(t, list(`["x"]`), []string{
		at + "[0]: is a string; expected an object that describes a tool",
		at + `[0].name: missing; expected a name such as "send_email"`,
		at + `[0].method: missing; a D-Bus tool needs "method" or "property"`,
	})
	checkFaults(t, list(`[{"name": "a b", "method": "M"}, {"name": "c", "method": "M"}, {"name": "c", "method": "M"}]`), []string{
		at + `[0].name: is "a b"; expected a name such as "send_email": letters, digits, "_", "." and "-", at most 64`,
		at + `[2].name: is "c", as is platforms.linux.tools[1].name; expected names that differ`,
	})
	checkFaults(t, list(`[{"name": "c", "method": "M", "parameters": {"type": "array"}}]`), []string{
		at + `[0].parameters.type: is "array"; expected "object", since arguments have names`,
	})
	many := make([]string, maxTools+1)
	for i := range many {
		many[i] = fmt.Sprintf(`{"name": "t%d", "method": "M"}`, i)
	}
	checkFaults(t, list("["+strings.Join(many, ",")+"]"), []string{at + ": has 2001 tools; expected at most 2000"})
	mustParse(t, list("["+strings.Join(many[:maxTools], ",")+"]"), Options{})
}

// TestManyFaults checks that up to twenty faults are reported; the rest is counted.
func TestManyFaults(t *testing.T) {
	tools := strings.Repeat(`{"name": "a b"},`, 30)
	_, err := Parse([]byte(withPlatforms(`{"ios": {"automation": "url_scheme", "scheme": "x", "tools": [`+tools[:len(tools)-1]+`]}}`)), Options{})
	faults, _ := errors.AsType[*Faults](err)
	assert.Assert(t, faults != nil, "faults = %v", faults)
	assert.Assert(t, is.Len(faults.List, maxFaults), faults)
	assert.Equal(t, faults.Omitted, 40, faults)
	if !strings.HasSuffix(aai.AsError(err).Message, " (and 59 more)") || !strings.HasSuffix(faults.Error(), "\nand 40 more") {
		t.Errorf("%s\n%s", aai.AsError(err).Message, faults)
	}
}

// TestHostileSchemas checks that they are rejected at the tool's path before the library parses them.
func TestHostileSchemas(t *testing.T) {
	schemas := map[string]string{
		"self reference": `{"properties": {"a": {"$ref": "#/properties/a"}}}`,
		"doubling":       doubling(40),
		"nesting":        strings.Repeat(`{"not":`, 600) + `{}` + strings.Repeat(`}`, 600),
		"file reference": `{"properties": {"a": {"$ref": "file:///etc/passwd"}}}`,
		"look-ahead":     `{"properties": {"a": {"type": "string", "pattern": "(?=x)"}}}`,
		"long pattern":   `{"properties": {"a": {"type": "string", "pattern": "` + strings.Repeat("a", 10_000) + `"}}}`,
	}
	for name, s := range schemas {
		t.Run(name, func(t *testing.T) {
			source := withPlatforms(`{"linux": {"automation": "dbus", "service": "a.b", "object": "/", "interface": "a.b",
				"tools": [{"name": "t", "method": "M", "parameters": ` + s + `}]}}`)
			_, err := Parse([]byte(source), Options{})
			e := aai.AsError(err)
			assert.Assert(t, e != nil, err)
			assert.Equal(t, e.Code, aai.DescriptorInvalid, err)
			assert.Assert(t, strings.HasPrefix(e.Message, "platforms.linux.tools[0].parameters"), err)
		})
	}
}

func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"definitions": {"d0": {}`)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `, "d%d": {"allOf": [{"$ref": "#/definitions/d%d"}, {"$ref": "#/definitions/d%d"}]}`, i, i-1, i-1)
	}
	fmt.Fprintf(&b, `}, "allOf": [{"$ref": "#/definitions/d%d"}]}`, n)
	return b.String()
}
