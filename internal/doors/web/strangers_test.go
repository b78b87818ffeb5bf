package web_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

const arch = runtime.GOARCH

// hostile returns foreign texts that would run, or change the page, if they were taken for anything but
// text.
func hostile() []string {
	return []string{
		`<script>window.pwned=1</script>`,
		`"><img src=x onerror="window.pwned=1">`,
		`' onmouseover='window.pwned=1' x='`,
		`</td></tr></table><iframe srcdoc="<script>parent.pwned=1</script>"></iframe>`,
		`javascript:window.pwned=1`,
		`{{.Csrf}}<hx-partial hx-get="/leave" hx-trigger="load"></hx-partial>`,
		`<form action=/leave method=post><button autofocus onfocus="window.pwned=1">`,
		"\u202egnp.exe\u2066 a\u200bb\U000e0041",
		"\x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
		`<svg><style>@import'//evil.example'</style><a xlink:href="javascript:window.pwned=1">x</a></svg>`,
	}
}

// strangers makes calls with such a text in every place that a caller can choose: its name, the app,
// the tool, the arguments and so the errors.
func (w *world) strangers(t *testing.T) {
	t.Helper()
	for i, text := range hostile() {
		for j, call := range []aai.Call{
			{App: aai.BuiltinApp, Tool: "apps"}, {App: text, Tool: "x"}, {App: aai.BuiltinApp, Tool: text},
			{App: aai.BuiltinApp, Tool: "guide", Args: map[string]any{"app": text}}, {App: aai.BuiltinApp, Tool: "guide", Args: map[string]any{text: text}},
		} {
			call.ID, call.Caller = strangersCall(i, j), aai.Caller{Door: aai.DoorMCP, Name: text, Identity: "/opt/" + text, Session: text}
			_, _ = w.gateway.Do(t.Context(), &call) // most are refused, with the text in the error
		}
	}
}

func strangersCall(text, place int) string { return fmt.Sprintf("stranger%d-%d", text, place) }

// TestTextsOfStrangersAreText checks that for any names of callers, apps and sites a page has the same
// elements and attributes, and shows no invisible character.
func TestTextsOfStrangersAreText(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	w.strangers(t)
	w.makeCall(t, `"><b>`, strangersCall(0, 0), claude(), aai.BuiltinApp, "apps", nil)
	queries := []string{"/history", "/history/charts", "/history/" + url.PathEscape(`"><b>`)}
	for i, text := range hostile() {
		for _, name := range []string{"app", "tool", "caller", "result", "before", "text"} {
			queries = append(queries, "/history?"+query(name, text))
		}
		queries = append(queries, "/"+query("p", text), "/history/charts?"+query("app", text), "/history/"+url.PathEscape(text))
		for j := range 5 {
			queries = append(queries, "/history/"+strangersCall(i, j))
		}
	}
	for _, at := range queries {
		got := w.get(t, at)
		assert.Check(t, !strings.ContainsAny(got.body, "\u202e\u2066\u200b\U000e0041\x1b\x07"), "%s shows characters that do not show", at)
		assert.Check(t, !strings.Contains(got.body, `"><b>`), "%s has an element of a caller", at)
		for _, found := range foreignMarkup(t, got.body) {
			t.Errorf("%s has %s, which a stranger wrote", at, found)
		}
	}
}

// TestTextsOfSitesAreText checks that texts about logins from descriptors and servers, and lint's
// quotes of a descriptor, are text.
func TestTextsOfSitesAreText(t *testing.T) {
	for _, text := range hostile() {
		asks, known := webApps(text)
		asks.Name, known.Name = text, text
		cookies := &aai.App{ID: "org.example.cookies", Name: text, Platform: "web", Site: aai.Site{BaseURL: "https://jar.example", Auth: &aai.AuthRecipe{
			Kind: aai.AuthCookie, LoginURL: "https://jar.example/" + text, Domain: "jar.example", Cookies: []string{text, "two"}, Instructions: text,
		}}}
		linted := &aai.App{ID: "org.test.Linted", Name: text, Digest: strings.Repeat("2", 64), Platform: "linux", Source: faulty(t, text)}
		w := newWorld(t, asks, known, cookies, linted)
		w.enter(t)
		w.loggedIn(t, text)
		for at, shows := range map[string]string{
			"/logins": `action="/logins/logout"`, "/logins?app=shop.example": "<blockquote>", "/logins?app=org.example.cookies": "<blockquote>",
			"/logins?" + query("app", text): "<code>", "/lint?app=org.test.Linted": `class="mark bad"`, "/app?app=org.test.Linted": "/lint?app=",
		} {
			got := w.get(t, at)
			expectPage(t, got, shows, "!ZgotmplZ")
			assert.Check(t, !strings.ContainsAny(hiddenInput.ReplaceAllString(got.body, ""), "\u202e\u2066\u200b\U000e0041\x1b\x07"), "%s shows characters that do not show", at)
			for _, found := range foreignMarkup(t, got.body) {
				t.Errorf("%s has %s, which a stranger wrote", at, found)
			}
		}
	}
}

// hiddenInput matches a hidden input, which a form sends back unchanged.
var hiddenInput = regexp.MustCompile(`<input type="hidden"[^>]*>`)

// loggedIn stores a login with the text in every field of the server.
func (w *world) loggedIn(t *testing.T, text string) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"Host": text, "App": text, "Kind": aai.AuthOAuth2, "Access": "x", "Scopes": []string{text, "read"}, "Expires": time.Now().Add(time.Hour)})
	assert.NilError(t, err)
	assert.NilError(t, w.secrets.Update(t.Context(), "login/token/1", func([]byte) ([]byte, error) { return raw, nil }))
}

// foreignMarkup returns the elements and attributes of a document that no page of the door has.
func foreignMarkup(t *testing.T, document string) []string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(document))
	assert.NilError(t, err)
	var found []string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "iframe", "img", "style", "object", "embed", "base", "hx-partial":
			found = append(found, "the element "+n.Data)
		case "script":
			if n.FirstChild != nil {
				found = append(found, "a script with a text")
			}
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" || strings.Contains(a.Val, "javascript:") && a.Key == "href" {
				found = append(found, "the attribute "+a.Key)
			}
		}
	}
	return found
}
