package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/schema"
)

// hostileText is text that may come from outside wherever a text is shown.
const hostileText = `"><script>alert(1)</script>'&{{.}}` + "\u202e\u200b"

// appWorld is a world with apps besides the gateway's own, one of them with an icon, after the login.
func appWorld(t *testing.T, apps ...*aai.App) (*world, policy.Store) {
	t.Helper()
	w := newWorld(t, apps...)
	pixmaps := filepath.Join(w.state, "share", "pixmaps")
	assert.NilError(t, os.MkdirAll(pixmaps, 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(pixmaps, "org.test.Mail.svg"), []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), 0o600))
	w.enter(t)
	return w, w.store
}

// tool is a foreign tool with an action that returns the arguments.
func tool(name, params string, run aai.Action) *aai.Tool {
	if run == nil {
		run = func(_ context.Context, call *aai.Call) (*aai.Result, error) { return &aai.Result{Data: call.Args}, nil }
	}
	return &aai.Tool{Name: name, Description: hostileText, Title: hostileText, Params: schema.MustParse(params), Effect: aai.Changes, Run: run}
}

func mail(tools ...*aai.Tool) *aai.App {
	return &aai.App{ID: "org.test.Mail", Name: "Mail " + hostileText + "|邮件", Description: hostileText, Aliases: []string{hostileText}, Tools: tools, Digest: strings.Repeat("0", 64), Source: "/nowhere/" + hostileText, Platform: "linux"}
}

// submitTool returns the form data of a tool's page, with these texts in its fields.
func (w *world) submitTool(t *testing.T, at string, texts map[string]string) answer {
	t.Helper()
	body := w.get(t, at).body
	sent := w.form(t, at)
	for _, of := range regexp.MustCompile(`name="of" value="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		sent.Set("of", of[1])
	}
	for name, text := range texts {
		sent.Set(name, text)
	}
	return w.post(t, strings.Replace(at, "/tool?", "/tool/try?", 1), sent)
}

// checkHarmless fails if a foreign text is more than text.
func checkHarmless(t *testing.T, what string, got answer) {
	t.Helper()
	for _, bad := range []string{"<script>alert", "\u202e", "\u200b", "javascript:", "ZgotmplZ"} {
		assert.Check(t, !strings.Contains(got.body, bad), "%s %q %.4000s", what, bad, got.body)
	}
	for _, missing := range regexp.MustCompile(`>(?:type|limit|fault|source|channel|kind|state|mode|delivery)\.[a-z]\w*`).FindAllString(got.body, -1) {
		t.Errorf("%s says a key in the place of words: %s", what, missing)
	}
}

// TestApps checks that apps are listed with their icons, searched, and shown with their tools.
func TestApps(t *testing.T) {
	orders := tool("orders", `{"type": "object", "properties": {}}`, nil)
	orders.Group = "Orders"
	w, _ := appWorld(t, mail(tool("send", `{"type": "object", "properties": {}}`, nil), orders), &aai.App{ID: "org.test.Other", Name: "Other", Digest: strings.Repeat("1", 64)})
	list := w.get(t, "/apps")
	checkHarmless(t, "the list", list)
	expectTexts(t, list, `href="/app?app=org.test.Mail"`, "2 tools", "alert(1)", `class="icon letter" aria-hidden="true">O<`)
	icon := regexp.MustCompile(`<img class="icon" src="(/picture/[0-9a-f]+)"`).FindStringSubmatch(list.body)
	assert.Assert(t, icon != nil, "no icon is shown:\n%s", list.body)
	got := w.get(t, icon[1])
	assert.Equal(t, got.status, http.StatusOK, got.header)
	assert.Equal(t, got.header.Get("Content-Type"), "image/svg+xml", got.header)
	assert.Assert(t, is.Contains(got.header.Get("Content-Security-Policy"), "sandbox"), got.header)
	assert.Assert(t, !strings.Contains(got.header.Get("Content-Security-Policy"), "script"), "the icon: %d %v", got.status, got.header)
	assert.Equal(t, got.header.Get("X-Content-Type-Options"), "nosniff", got.header)
	got = w.newVisitor(t).get(t, icon[1])
	assert.Check(t, is.Equal(got.status, http.StatusForbidden), "who has not entered gets an icon: %d", got.status)
	for query, want := range map[string]int{"mail": 1, "邮件": 1, "OTHER org": 1, "nothing": 0, "": 2} {
		found := strings.Count(w.get(t, "/apps?q="+url.QueryEscape(query)).body, `href="/app?app=`)
		assert.Check(t, is.Equal(found, want), "%q finds %d apps, want %d", query, found, want)
	}
	app := w.get(t, "/app?app=org.test.Mail")
	checkHarmless(t, "the app", app)
	expectTexts(t, app, "/tool?app=org.test.Mail&amp;tool=send", ">Orders<", "alert(1)")
	got = w.get(t, "/app?app=org.test.Gone")
	assert.Check(t, is.Equal(got.status, http.StatusNotFound), "an app that is none: %d", got.status)
}

const kinds = `{"type": "object", "required": ["to"], "additionalProperties": false, "properties": {
	"to": {"type": "string", "minLength": 2}, "csrf": {"type": "string", "default": "d"}, "count": {"type": "integer", "maximum": 5},
	"loud": {"type": "boolean"}, "colour": {"enum": ["red", "blue"]}, "tags": {"type": "array", "items": {"type": "string"}},
	"options": {"type": "object"}, "maybe": {"type": ["integer", "null"]}, "password": {"type": "string", "minLength": 3}}}`

// TestNotStarted checks that the number of tools is unknown for an app with a server that was never started.
func TestNotStarted(t *testing.T) {
	app := mail(tool("mcp_start", `{"type": "object", "properties": {}}`, nil))
	app.Descriptor.Unprobed = true
	w, _ := appWorld(t, app)
	expectPage(t, w.get(t, "/apps"), "· not started yet ·", "!0 tools")
}

// TestModesHaveTheSameTexts checks that the page describes each mode as the help of the command does.
func TestModesHaveTheSameTexts(t *testing.T) {
	help, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "commands.md"))
	assert.NilError(t, err)
	w, _ := appWorld(t)
	said := w.get(t, "/consent").body
	for _, mode := range []policy.Mode{policy.Normal, policy.Safe, policy.Sandboxed} {
		found := regexp.MustCompile(">(" + mode.String() + "): ([^<]+)<").FindStringSubmatch(said)
		assert.Assert(t, found != nil, "of %s the page says %q, and the help otherwise", mode, found)
		assert.Assert(t, is.Contains(string(help), found[1]+" "+found[2]), "%s %q", mode, found)
	}
}

// TestToolTrial checks that the input is called, gated and recorded, and that faults are at their fields.
func TestToolTrial(t *testing.T) {
	w, _ := appWorld(t, mail(tool("send", kinds, nil), tool("ask", `{"type": "object", "properties": {}}`, nil)))
	at := "/tool?app=org.test.Mail&tool=send"
	page := w.get(t, at)
	checkHarmless(t, "the tool", page)
	if !strings.Contains(page.body, `id="p0" name="p0"`) || strings.Count(page.body, `name="csrf"`) != 4 { // language, logout, stop, and this one
		t.Errorf("the form:\n%s", page.body)
	}
	got := w.submitTool(t, at, map[string]string{"p0": "<b>you", "p1": "x", "p2": "3", "p3": "false", "p4": "1", "p5": "a\r\nb", "p6": `{"a": 1}`, "p8": "hunter2"})
	checkHarmless(t, "the result", got)
	expectTexts(t, got, "It ran", "&#34;to&#34;: &#34;\\u003cb\\u003eyou&#34;", "&#34;count&#34;: 3", "&#34;loud&#34;: false", "&#34;colour&#34;: &#34;blue&#34;", "&#34;csrf&#34;: &#34;x&#34;")
	assert.Check(t, is.Equal(got.status, http.StatusOK))
	assert.Check(t, !strings.Contains(got.body, `value="hunter2"`), "%d; a secret is given back", got.status)
	wrong := w.submitTool(t, at, map[string]string{"p0": "x", "p2": "9"})
	expectTexts(t, wrong, "INVALID_PARAMS", `id="p0-fault"><span lang="en"><bdi class="theirs">to: expected`, `id="p2-fault"><span lang="en"><bdi class="theirs">count: expected`, `value="9"`)
	got = w.submitTool(t, at, map[string]string{"p2": "many"})
	expectTexts(t, got, `id="p0-fault">This is needed.`, `id="p2-fault">This is no number`)
	assert.Assert(t, !strings.Contains(got.body, "It ran"), "what was not typed right:\n%s", got.body)
	got = w.submitTool(t, at, map[string]string{"p0": "you", "of": "0"})
	assert.Check(t, is.Contains(got.body, "The tool has changed"), "a form of another schema:\n%s", got.body)
	asked := w.submitTool(t, "/tool?app=org.test.Mail&tool=ask", nil)
	assert.Assert(t, is.Contains(asked.body, "CONSENT_REQUIRED"))
	assert.Assert(t, !strings.Contains(asked.body, "It ran"), "what nobody allowed:\n%s", asked.body)
	past := w.get(t, "/history?app=org.test.Mail").body
	assert.Check(t, strings.Contains(past, ">page<") || strings.Contains(past, "web:page"), "what was tried is not on record:\n%s", past)
	assert.Check(t, is.Contains(past, "INVALID_PARAMS"))
}

// TestToolTrialNeedsTheForm checks that forms of other sites, and without the CSRF token, start nothing.
func TestToolTrialNeedsTheForm(t *testing.T) {
	ran := false
	w, _ := appWorld(t, mail(tool("send", `{"type": "object", "properties": {}}`, func(context.Context, *aai.Call) (*aai.Result, error) {
		ran = true
		return &aai.Result{}, nil
	})))
	got := w.post(t, "/tool/try?app=org.test.Mail&tool=send", url.Values{"csrf": {"0"}})
	assert.Check(t, is.Equal(got.status, http.StatusForbidden))
	assert.Check(t, !ran, "without the token: %d", got.status)
	got = w.get(t, "/tool/try?app=org.test.Mail&tool=send")
	assert.Check(t, got.status != http.StatusOK, "by an address alone: %d", got.status)
	assert.Check(t, !ran, "by an address alone: %d", got.status)
}

// TestResults checks that long answers are cut, that images have the type of their bytes, and that the
// session of an act can undo it.
func TestResults(t *testing.T) {
	var drawn bytes.Buffer
	assert.NilError(t, png.Encode(&drawn, image.NewGray(image.Rect(0, 0, 2, 2))))
	w, _ := appWorld(t, mail(
		tool("long", `{"type": "object", "properties": {}}`, func(context.Context, *aai.Call) (*aai.Result, error) {
			return &aai.Result{Text: strings.Repeat(hostileText+"\n", 100_000), Data: map[string]any{"rows": strings.Repeat("x", 5<<20)}, Warning: hostileText, UntrustedSource: hostileText}, nil
		}),
		tool("draw", `{"type": "object", "properties": {}}`, func(context.Context, *aai.Call) (*aai.Result, error) {
			return &aai.Result{Images: []aai.Image{
				{MIME: "text/html", Data: drawn.Bytes()}, {MIME: "image/png", Data: []byte("<html><script>alert(1)</script>")},
				{MIME: "image/svg+xml", Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)},
			}, Undo: &aai.Undo{Description: hostileText, Step: aai.Step{App: "org.test.Mail", Tool: "draw"}}}, nil
		}),
		tool("fail", `{"type": "object", "properties": {}}`, func(context.Context, *aai.Call) (*aai.Result, error) {
			e := aai.Errorf(aai.AutomationFailed, "%s", hostileText)
			e.Hint, e.Candidates, e.Delivery = hostileText, []string{hostileText}, aai.Delivered
			return nil, e
		}),
	))
	long := w.submitTool(t, "/tool?app=org.test.Mail&tool=long", nil)
	checkHarmless(t, "a long answer", long)
	assert.Assert(t, len(long.body) <= 400<<10, "a long answer has %d bytes", len(long.body))
	assert.Assert(t, is.Contains(long.body, "not all of it is shown"), "%d", len(long.body))
	drawing := w.submitTool(t, "/tool?app=org.test.Mail&tool=draw", nil)
	checkHarmless(t, "pictures", drawing)
	pictures := regexp.MustCompile(`<img class="picture" src="([^"]*)"`).FindAllStringSubmatch(drawing.body, -1)
	assert.Assert(t, is.Len(pictures, 1))
	expectTexts(t, drawing, "2 pictures are of a kind", `action="/tool/undo?app=org.test.Mail&amp;tool=draw"`)
	got := w.get(t, pictures[0][1])
	assert.Check(t, is.Equal(got.header.Get("Content-Type"), "image/png"), got.header)
	assert.Check(t, is.Equal(got.body, drawn.String()), got.header)
	assert.Check(t, is.Equal(got.header.Get("Cache-Control"), "no-store"), got.header)
	failed := w.submitTool(t, "/tool?app=org.test.Mail&tool=fail", nil)
	checkHarmless(t, "a failure", failed)
	expectTexts(t, failed, "AUTOMATION_FAILED", "The app got it.")
}

// TestHostileSchemas checks that the page is limited for every schema, and that schema text is only
// text.
func TestHostileSchemas(t *testing.T) {
	var many []string
	for i := range 900 {
		many = append(many, fmt.Sprintf(`"p%d": {"type": "string"}`, i))
	}
	name, _ := json.Marshal(hostileText)
	quoted := string(name)
	recursive := tool("recursive", `{"type": "object", "properties": {}}`, nil)
	recursive.Params.Source = json.RawMessage(`{"properties": {"a": {"$ref": "#"}}}`)
	broken := tool("broken", `{"type": "object", "properties": {}}`, nil)
	broken.Params.Source = json.RawMessage(`{"properties": {` + strings.Repeat(`"a": {"properties": {`, 50) + strings.Repeat(`}}`, 50) + `}}`)
	w, _ := appWorld(t, mail(
		tool("wide", `{"type": "object", "properties": {`+strings.Join(many, ",")+`}}`, nil), recursive, broken,
		tool("strange", `{"type": "object", "properties": {`+quoted+`: {"type": "string", "title": `+quoted+`, "description": `+quoted+`, "default": `+quoted+`},
			"of": {"enum": [`+quoted+`, "</select><script>alert(1)</script>"]}, "json": {"type": "string", "pattern": "<script>alert"}}}`, nil),
	))
	for _, name := range []string{"wide", "recursive", "broken", "strange"} {
		got := w.get(t, "/tool?app=org.test.Mail&tool="+name)
		checkHarmless(t, name, got)
		assert.Equal(t, got.status, http.StatusOK, "%s %d", name, len(got.body))
		assert.Assert(t, len(got.body) <= 400<<10, "%s: %d, %d bytes", name, got.status, len(got.body))
		assert.Assert(t, is.Contains(got.body, `name="json"`), "%s %d", name, len(got.body))
	}
	assert.Check(t, is.Contains(w.get(t, "/tool?app=org.test.Mail&tool=wide").body, "800 parameters have no field"), "nothing says that parameters are without a field")
	got := w.submitTool(t, "/tool?app=org.test.Mail&tool=strange", map[string]string{"p1": "1", "json": ""}).body
	assert.Check(t, is.Contains(got, "It ran"), "a choice with markup:\n%s", got)
	for _, at := range []string{"/tool?app=org.test.Mail", "/tool", "/tool?app=org.test.Mail&tool=" + url.QueryEscape(hostileText), "/app?app=" + url.QueryEscape(hostileText), "/lint?app=org.test.Mail", "/apps?q=" + url.QueryEscape(hostileText)} {
		checkHarmless(t, at, w.get(t, at))
	}
}

// TestScan checks that the page lists every descriptor, and the errors of the faulty ones.
func TestScan(t *testing.T) {
	w := newWorld(t)
	w.addDescriptor(t, "org.test.Broken", `{"schema_version": "1.0", "appId": `)
	w.addDescriptor(t, "org.test.Elsewhere", `{"schema_version": "1.0", "appId": "org.test.Elsewhere", "name": "Elsewhere", "description": "Only there",
		"platforms": {"macos": {"automation": "applescript", "tools": [{"name": "greet", "description": "Greet", "script": "beep"}]}}}`)
	w.enter(t)
	page := w.get(t, "/scan")
	expectPage(t, page, "2 files.", "1 with errors", ">invalid<", filepath.Join("org.test.Broken", "aai.json"), ">cannot run here<", `href="/app?app=org.test.Elsewhere"`)
	checkHarmless(t, "the scan", page)
	expectPage(t, w.in(t, "zh", "/scan"), "共 2 个文件。", ">无效<")
	expectPage(t, w.get(t, "/apps"), `href="/scan"`)
}

// TestConsent checks that consents are listed with their time and source, that they are revoked at
// once, and that new ones are asked about in a window.
func TestConsent(t *testing.T) {
	w, store := appWorld(t, mail(tool("ask", `{"type": "object", "properties": {}}`, nil)))
	for _, g := range []policy.Grant{
		{Caller: "mcp:" + aai.CleanLabel(hostileText, 60), Identity: "/usr/bin/claude", App: "org.test.Mail", Tool: "ask", Decision: policy.Allow, GrantedAt: time.Now(), Channel: aai.DesktopDialog},
		{Caller: "*", Identity: "http:work", App: "org.test.Mail", Tool: "ask", Decision: policy.Allow, GrantedAt: time.Now(), Channel: aai.Passphrase},
	} {
		assert.NilError(t, store.Add(g))
	}
	page := w.get(t, "/consent")
	checkHarmless(t, "the consents", page)
	expectTexts(t, page, "/usr/bin/claude", "in a window", "by the passphrase", "http:work", time.Now().Format("2006-01-02"), "normal: follows the consents")
	got := w.get(t, "/consent?q=http:work").body
	assert.Assert(t, !strings.Contains(got, "/usr/bin/claude"), "the filter:\n%s", got)
	assert.Assert(t, is.Contains(got, "1 of 2 is shown"))
	sent := w.form(t, "/consent")
	sent.Set("app", "org.test.Mail")
	sent.Set("tool", "ask")
	if got := w.post(t, "/consent/revoke", sent); got.status != http.StatusBadRequest {
		t.Errorf("less than a row is revoked: %d", got.status)
	}
	sent.Set("caller", "*")
	sent.Set("identity", "http:work")
	if got := w.post(t, "/consent/revoke", sent); got.at != "/consent" || !strings.Contains(got.body, "Deleted: 1.") {
		t.Errorf("revoked: %s\n%s", got.at, got.body)
	}
	grants, err := store.Grants()
	assert.NilError(t, err)
	assert.Assert(t, is.Len(grants, 1))
	assert.Equal(t, grants[0].Identity, "/usr/bin/claude")
	sent = w.form(t, "/consent")
	for name, value := range map[string]string{"app": "org.test.Mail", "tool": "ask", "identity": "/usr/bin/claude", "caller": "*", "expires": "2099-01-01"} {
		sent.Set(name, value)
	}
	expectPage(t, w.post(t, "/consent/grant", sent), "It was not allowed.", string(aai.PermissionDenied), "neither a screen nor a passphrase", "!now allowed",
		`name="app" value="org.test.Mail"`, `name="tool" value="ask"`, `name="identity" value="/usr/bin/claude"`, `name="caller" value="*"`, `name="expires" value="2099-01-01"`)
	expectPage(t, w.get(t, "/consent"), "!It was not allowed.", `name="app" value=""`)
	sent.Set("expires", "some day")
	sent.Set("app", hostileText)
	checkHarmless(t, "a grant that is refused", w.post(t, "/consent/grant", sent))
	sent.Del("expires")
	grants, _ = store.Grants()
	assert.Check(t, is.Len(grants, 1), "the page granted: %v", grants)
	sent.Set("mode", "safe")
	if got := w.post(t, "/consent/mode", sent); !strings.Contains(got.body, "<strong>safe") {
		t.Errorf("a stricter mode: %d\n%s", got.status, got.body)
	}
	sent.Set("mode", "normal")
	if got := w.post(t, "/consent/mode", sent); got.status == http.StatusOK {
		t.Errorf("the page alone makes it less strict:\n%s", got.body)
	}
}

// TestTextsExist checks that the texts of these pages exist in both languages.
func TestTextsExist(t *testing.T) {
	for _, name := range []string{"apps", "app", "tool", "lint", "found", "scan", "consent", "logins"} {
		page, err := os.ReadFile("templates/" + name + ".html")
		assert.NilError(t, err)
		all, shared := make([]map[string]string, 2), make([][]byte, 2) // the page's, and the layout's
		for i, lang := range []string{"en", "zh"} {
			shared[i], err = os.ReadFile("words/layout." + lang + ".json")
			assert.NilError(t, err)
			text, err := os.ReadFile("words/" + name + "." + lang + ".json")
			assert.NilError(t, err, "%v %v", name, lang)
			assert.NilError(t, json.Unmarshal(text, &all[i]), "%v %v", name, lang)
			for _, key := range regexp.MustCompile(`{{t "([^"]+)"`).FindAllStringSubmatch(string(page), -1) {
				if all[i][key[1]] == "" && !strings.Contains(string(shared[i]), `"`+key[1]+`"`) {
					t.Errorf("%s says %q, which it has not in %s", name, key[1], lang)
				}
			}
		}
		for key, text := range all[0] {
			other := all[1][strings.TrimSuffix(key, ".one")]
			assert.Check(t, is.Equal(strings.Count(text, "%"), strings.Count(other, "%")), "%s: %q and %q are not filled in alike", name, text, other)
		}
	}
}
