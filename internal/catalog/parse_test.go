package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestProtocolExample checks the protocol's example, which has a section for each of the five platforms.
func TestProtocolExample(t *testing.T) {
	source := read(t, "testdata/mail.json")
	var d recorder
	got := mustParse(t, source, Options{HostPlatform: "linux", Drivers: drivers(&d, "dbus"), Source: "/x/aai.json"})

	app := got.App
	assert.Check(t, is.Equal(app.ID, "com.apple.mail"), "%+v", app)
	assert.Check(t, is.Equal(app.Name, "Mail"), "%+v", app)
	assert.Check(t, is.Equal(app.Description, "Apple's native email client"), "%+v", app)
	assert.Check(t, is.Equal(app.Descriptor.Version, "1.0"), "%+v", app)
	assert.Check(t, is.Equal(app.Platform, "linux"), "%+v", app)
	assert.Check(t, is.Equal(app.Source, "/x/aai.json"), "%+v", app)
	assert.Check(t, is.Equal(string(app.Descriptor.Raw), source), "%+v", app)
	sum := sha256.Sum256([]byte(source))
	assert.Check(t, is.Equal(app.Digest, hex.EncodeToString(sum[:])))
	assert.Check(t, is.Len(got.Warnings, 0))
	assert.Assert(t, is.Len(app.Tools, 1))
	assert.Assert(t, app.Tools[0].Run != nil, "tools = %+v", app.Tools)
	assert.Equal(t, app.Tools[0].Effect, aai.Destroys)
	assert.Assert(t, app.Tools[0].Limits.Timeout == 30*time.Second, "tools = %+v", app.Tools)
	params := []string{"to", "subject", "body"}
	want := &aai.Recipe{
		Kind: "dbus", App: "com.apple.mail", Tool: "send_email", Platform: "linux", Params: params, OutputParser: "json",
		DBus: &aai.DBusRecipe{Bus: "session", Service: "org.example.Mail", Object: "/org/example/Mail", Interface: "org.example.Mail", Method: "SendEmail"},
	}
	assert.Check(t, is.DeepEqual([]*aai.Recipe{want}, d.recipes))
	checkOtherSections(t, got.Recipes, params)
}

func checkOtherSections(t *testing.T, recipes []*aai.Recipe, params []string) {
	t.Helper()
	var kinds []string
	for _, r := range recipes {
		kinds = append(kinds, r.Platform+"/"+r.Kind)
	}
	assert.Check(t, is.Equal(strings.Join(kinds, " "), "macos/applescript macos/applescript windows/com linux/dbus android/intent ios/url_scheme"))
	base := func(kind, platform, parser string) *aai.Recipe {
		return &aai.Recipe{Kind: kind, App: "com.apple.mail", Tool: "send_email", Platform: platform, Params: params, OutputParser: parser}
	}
	com := base("com", "windows", "last_result")
	com.COM = &aai.COMRecipe{ProgID: "Outlook.Application", Steps: []aai.COMStep{
		{Action: "create", Var: "app", ProgID: "Outlook.Application"},
		{Action: "call", Var: "mail", Object: "app", Method: "CreateItem", Args: raw("0")},
		{Action: "set", Object: "mail", Property: "To", Value: raw(`"${to}"`)[0]},
		{Action: "set", Object: "mail", Property: "Subject", Value: raw(`"${subject}"`)[0]},
		{Action: "set", Object: "mail", Property: "Body", Value: raw(`"${body}"`)[0]},
		{Action: "call", Object: "mail", Method: "Send"},
		{Action: "return", Value: raw(`"{\"success\":true, \"message_id\":\"generated\"}"`)[0]},
	}}
	intent := base("intent", "android", "")
	intent.Intent = &aai.IntentRecipe{
		Package: "com.example.mail", Action: "com.example.MAIL_SEND",
		Extras:     map[string]string{"to": "${to}", "subject": "${subject}", "body": "${body}"},
		ResultType: "content_provider", ResultURI: "content://com.example.mail/results",
	}
	ios := base("url_scheme", "ios", "")
	ios.URL = &aai.URLRecipe{
		Scheme: "mailapp", Template: "mailapp://send?to=${to}&subject=${subject}&body=${body}",
		ResultType: "app_group", AppGroupID: "group.com.example.mail",
	}
	for i, want := range map[int]*aai.Recipe{2: com, 4: intent, 5: ios} {
		assert.Check(t, is.DeepEqual(want, recipes[i]))
	}
	if script := recipes[0].Script; script == nil || !strings.HasPrefix(script.Script, "tell application \"Mail\"\n") || recipes[0].OutputParser != "result as text" {
		t.Errorf("macos = %+v", recipes[0])
	}
}

func raw(values ...string) []json.RawMessage {
	out := make([]json.RawMessage, len(values))
	for i, v := range values {
		out[i] = json.RawMessage(v)
	}
	return out
}

func TestSinglePlatformDialect(t *testing.T) {
	ipc := func(platform, execution string) string {
		return `{"schema_version": "1.0", "version": "1.0.0", "platform": "` + platform + `", "app": {"id": "com.example.mail",
			"name": "Mail", "description": "Email client"}, "execution": ` + execution + `,
			"tools": [{"name": "search", "description": "Search.", "parameters": {"type": "object", "properties": {"q": {}}}}]}`
	}
	tests := []struct {
		platform, execution, kind string
		want                      aai.Recipe
	}{
		{"macos", `{"type": "ipc"}`, "ipc", aai.Recipe{IPC: &aai.IPCRecipe{BundleID: "com.example.mail"}}},
		{"macos", `{"type": "apple-events", "bundleId": "com.b", "eventClass": "AAI ", "eventId": "call"}`, "ipc", aai.Recipe{IPC: &aai.IPCRecipe{BundleID: "com.b"}}},
		{"macos", `{"type": "apple-events", "eventClass": "XXXX"}`, "", aai.Recipe{}},
		{"linux", `{"type": "ipc"}`, "ipc", aai.Recipe{IPC: &aai.IPCRecipe{}}},
		{
			"linux", `{"type": "dbus", "service": "a.b", "objectPath": "/a", "interface": "a.c", "bus": "system"}`, "ipc",
			aai.Recipe{IPC: &aai.IPCRecipe{Bus: "system", Service: "a.b", Object: "/a", Interface: "a.c"}},
		},
		{"windows", `{"type": "ipc"}`, "ipc", aai.Recipe{IPC: &aai.IPCRecipe{}}},
		{"windows", `{"type": "com", "progId": "A.B"}`, "ipc", aai.Recipe{IPC: &aai.IPCRecipe{ProgID: "A.B"}}},
		{"linux", `{"type": "stdio", "command": "x", "args": [], "timeout": 5}`, "", aai.Recipe{}},
		{"macos", `{"type": "acp", "start": {"command": "x"}}`, "", aai.Recipe{}},
	}
	for _, test := range tests {
		d := mustParse(t, ipc(test.platform, test.execution), Options{HostPlatform: test.platform})
		want := test.want
		want.Kind, want.App, want.Tool, want.Platform, want.Params = test.kind, "com.example.mail", "search", test.platform, []string{"q"}
		assert.Check(t, is.DeepEqual([]*aai.Recipe{&want}, d.Recipes), "%s %s", test.platform, test.execution)
		assert.Check(t, is.Equal(test.kind == "", (len(d.Warnings) > 0)), "%s %s %v", test.platform, test.execution, d.Warnings)
	}
}

func TestWebDescriptor(t *testing.T) {
	d := mustParse(t, read(t, "testdata/web.json"), Options{HostPlatform: "linux"})
	assert.Check(t, is.Equal(d.App.Platform, "web"), "%+v", d.App)
	assert.Check(t, is.Equal(d.App.ID, "com.example.api"), "%+v", d.App)
	assert.Check(t, is.Len(d.Warnings, 0), "%+v", d.App)
	want := &aai.HTTPRecipe{
		BaseURL: "https://api.example.com/v1", Path: "/items/{id}", Method: "GET",
		DefaultHeaders: map[string]string{"Content-Type": "application/json"}, Headers: map[string]string{"Accept": "application/json"},
		Auth: &aai.AuthRecipe{
			Kind: aai.AuthOAuth2, AuthorizationEndpoint: "https://example.com/oauth/authorize", TokenEndpoint: "https://example.com/oauth/token",
			Scopes: []string{"read", "write"}, PKCE: "S256",
		},
	}
	assert.Check(t, is.DeepEqual(want, d.Recipes[1].HTTP))
	assert.Check(t, is.Equal(d.App.Tools[0].Effect, aai.Destroys))
	assert.Check(t, is.Equal(d.App.Tools[1].Effect, aai.Reads))
}

// TestSinglePlatformDBus checks that in the single-platform dialect a tool of type "dbus" names
// its method, in the tool or in its "execution".
func TestSinglePlatformDBus(t *testing.T) {
	d := mustParse(t, `{"schema_version": "1.2", "platform": "linux", "app": {"id": "a.b", "name": "N", "description": "D", "aliases": ["x"]},
		"execution": {"type": "dbus", "service": "a.b", "object": "/a", "interface": "a.b"},
		"tools": [{"name": "one", "description": "D", "parameters": {}, "method": "One"},
			{"name": "two", "description": "D", "parameters": {}, "execution": {"property": "Two", "interface": "a.c", "bus": "system"}}]}`, Options{})
	want := []*aai.DBusRecipe{
		{Bus: "session", Service: "a.b", Object: "/a", Interface: "a.b", Method: "One"},
		{Bus: "system", Service: "a.b", Object: "/a", Interface: "a.c", Property: "Two", Access: "get"},
	}
	assert.Check(t, is.DeepEqual(want, []*aai.DBusRecipe{d.Recipes[0].DBus, d.Recipes[1].DBus}))
	if len(d.Warnings) > 0 || d.App.Aliases[0] != "x" {
		t.Errorf("%v %v", d.Warnings, d.App.Aliases)
	}
}

// TestCamelAndSnakeCase checks that every key may be spelled in camelCase.
func TestCamelAndSnakeCase(t *testing.T) {
	snake := read(t, "testdata/mail.json")
	camel := snake
	for key, spelled := range map[string]string{
		"schema_version": "schemaVersion", "output_parser": "outputParser", "result_type": "resultType", "result_uri": "resultUri",
		"url_template": "urlTemplate", "app_group_id": "appGroupId", "progid": "progId",
	} {
		camel = strings.ReplaceAll(camel, `"`+key+`"`, `"`+spelled+`"`)
	}
	a, b := mustParse(t, snake, Options{}), mustParse(t, strings.ReplaceAll(camel, `"appId"`, `"app_id"`), Options{})
	assert.Check(t, is.DeepEqual(a.Recipes, b.Recipes))
	assert.Check(t, is.Len(b.Warnings, 0))
}

func TestBusNames(t *testing.T) {
	tests := map[string]string{
		`"Mail"`:             "Mail",
		`"Mail|邮件| Mail ||"`: "Mail|邮件",
		`{"zh": "邮件", "en": "Mail"}, "defaultLang": "en"`:                     "Mail|邮件",
		`{"zh": "邮件", "default": "Mail"}`:                                     "Mail|邮件",
		`{"zh": "邮件", "en": "Mail", "default": "en"}`:                         "Mail|邮件",
		`"\u202eliaM\u0007  x"`:                                               "liaM x",
		`"` + strings.Repeat("a", 100) + `|` + `b"`:                           strings.Repeat("a", 57) + "…|b",
		`"` + strings.Repeat("a", 60) + `|` + strings.Repeat("b", 60) + `|c"`: strings.Repeat("a", 60),
	}
	for name, want := range tests {
		source := strings.Replace(linuxApp("a.b", "NAME", ""), `"NAME"`, name, 1)
		assert.Check(t, is.Equal(mustParse(t, source, Options{}).App.Name, want), name)
	}
}

func TestTimeouts(t *testing.T) {
	source := func(platform, timeout string) string {
		sections := map[string]string{
			"linux":   `"automation": "dbus", "service": "a.b", "object": "/", "interface": "a.b", "tools": [{"method": "M"`,
			"android": `"automation": "intent", "package": "a.b", "tools": [{"action": "A"`,
			"ios":     `"automation": "url_scheme", "scheme": "x", "tools": [{"url_template": "x://"`,
		}
		return withPlatforms(`{"` + platform + `": {` + sections[platform] + timeout + `, "name": "t", "description": "D", "parameters": {}}]}}`)
	}
	tests := []struct {
		platform, timeout string
		want              time.Duration
	}{
		{"linux", "", 7 * time.Second}, // the configured default
		{"linux", `, "timeout": 2`, 2 * time.Second},
		{"linux", `, "timeout": 0.001`, time.Millisecond},
		{"linux", `, "timeout": 3600`, time.Hour},
		{"android", "", 5 * time.Second},
		{"android", `, "timeout": 250`, 250 * time.Millisecond},
		{"ios", "", 10 * time.Second},
		{"ios", `, "timeout": 3`, 3 * time.Second},
	}
	for _, test := range tests {
		d := mustParse(t, source(test.platform, test.timeout), Options{DefaultTimeout: 7 * time.Second})
		assert.Check(t, is.Equal(d.App.Tools[0].Limits.Timeout, test.want), "%s %s", test.platform, test.timeout)
	}
	assert.Check(t, is.Equal(mustParse(t, source("linux", ""), Options{}).App.Tools[0].Limits.Timeout, aai.DefaultTimeout))
}
