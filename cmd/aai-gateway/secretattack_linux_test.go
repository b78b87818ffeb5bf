package main

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// trickPage has a password field that a script of the page changes when a title asks for it.
const trickPage = `<title>Tricks</title><form method=post><label>User <input name=user></label>
<label>Password <input type=password name=password></label><label>Code <input name=code></label><button>Log in</button></form>
<button onclick="document.querySelector('[name=password]').type='text'">Show password</button>
<div id=frames></div><iframe title=other src="$OTHER/frame" width=400 height=80></iframe>`

// TestSecretsGoNowhereElse: other origins, frames, fields and tools get no secret, and the agent reads it nowhere.
func TestSecretsGoNowhereElse(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	w := newSecretWorld(t, s, t.TempDir())
	other := newLoginSite(t, map[string]string{"/frame": `<form method=post><label>Frame password <input type=password name=p></label></form>`})
	site := newLoginSite(t, map[string]string{"/": strings.ReplaceAll(trickPage, "$OTHER", other.URL)})
	lookalike := strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
	w.set("here", "cAnArY01xy-password", site.URL, nil)
	w.set("twin", "cAnArY02xy-password", lookalike, nil)
	w.set("code", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", site.URL, map[string]any{"totp": true, "field": "Code"})
	w.set("app", "cAnArY03xy-password", "desktop/chromium", nil)
	s.Browser(t, site.URL)
	awaitWindow(t, s, "Tricks - Chromium")
	in := func(query, text string) map[string]any {
		return map[string]any{"app": "chromium", "query": query, "text": text}
	}
	w.window("ax_find", map[string]any{"app": "chromium", "query": "Frame password"})
	for name, c := range map[string]struct {
		tool string
		args map[string]any
		code aai.Code
	}{
		"other origin in a frame": {"ax_type", in("Frame password", "{{secret:here}}"), aai.PermissionDenied},
		"look-alike host":         {"ax_type", in("Password", "{{secret:twin}}"), aai.PermissionDenied},
		"a plain field":           {"ax_type", in("User", "{{secret:here}}"), aai.PermissionDenied},
		"another named field":     {"ax_set_value", map[string]any{"app": "chromium", "query": "User", "value": "{{secret:code}}"}, aai.PermissionDenied},
		"a page for a program":    {"ax_type", in("Password", "{{secret:app}}"), aai.PermissionDenied},
		"one wrong field of two": {"ax_fill", map[string]any{"app": "chromium", "fields": []any{
			map[string]any{"query": "Password", "value": "{{secret:here}}"}, map[string]any{"query": "User", "value": "{{secret:here}}"}}}, aai.PermissionDenied},
		"an unknown name": {"ax_type", in("Password", "{{secret:nobody}}"), aai.InvalidParams},
		"no field":        {"ax_type", map[string]any{"app": "chromium", "text": "{{secret:here}}"}, aai.AutomationFailed},
		"a query":         {"ax_find", map[string]any{"app": "chromium", "query": "{{secret:here}}"}, aai.InvalidParams},
		"a key":           {"ax_key_press", map[string]any{"app": "chromium", "key": "{{secret:here}}"}, aai.InvalidParams},
		"the clipboard":   {"ax_clipboard", map[string]any{"action": "write", "text": "{{secret:here}}"}, aai.InvalidParams},
	} {
		said, err := w.call(aai.DesktopApp, c.tool, c.args)
		assert.Assert(t, err != nil, "%s %v", name, said)
		assert.Equal(t, err.Code, c.code, "%s %v", name, said)
	}
	q := w.questions()
	assert.Check(t, !strings.Contains(q, "nobody"), "the person was asked about an unknown name: %s", q)

	w.choice = "deny"
	said, err := w.call(aai.DesktopApp, "ax_type", in("Password", "{{secret:here}}"))
	assert.Assert(t, err != nil, "what the person denied: %s", said)
	assert.Equal(t, err.Code, aai.PermissionDenied, said)
	w.choice = "always"
	w.window("ax_fill", map[string]any{"app": "chromium", "fields": []any{
		map[string]any{"query": "Password", "value": "{{secret:here}}"}, map[string]any{"query": "Code", "value": "{{secret:code}}"}}})
	w.questions()
	w.window("ax_set_value", map[string]any{"app": "chromium", "query": "Password", "value": "{{secret:here}}"})
	q = w.questions()
	assert.Check(t, is.Equal(q, ""), "the person was asked again: %s", q)

	w.window("ax_click", map[string]any{"app": "chromium", "query": "Show password"})
	said = w.window("ax_get_value", map[string]any{"app": "chromium", "query": "Password"})
	assert.Check(t, is.Contains(said, "****"), "the shown password is read as %s", said)
	for _, keys := range []map[string]any{{"key": "a", "modifiers": []any{"ctrl"}}, {"key": "c", "modifiers": []any{"ctrl"}}, {"key": "left", "modifiers": []any{"shift"}}} {
		keys["app"], keys["query"] = "chromium", "Password"
		said, err := w.call(aai.DesktopApp, "ax_key_press", keys)
		assert.Assert(t, err != nil, "%v in the field: %s", keys, said)
		assert.Assert(t, is.Contains(said, "holds a secret"), keys)
	}
	w.window("ax_get_tree", map[string]any{"app": "chromium"})
	_, _ = w.call(aai.DesktopApp, "ax_undo", map[string]any{})
	expectBlack(t, w, "Password")
	expectBlack(t, w, "Code")
	got := other.forms()
	assert.Check(t, is.Equal(got, ""), "another origin got %s", got)

	second := newSecretWorld(t, s, w.home) // another process of the person, such as a command
	said = second.window("ax_get_value", map[string]any{"app": "chromium", "query": "Password"})
	assert.Check(t, is.Contains(said, "****"), "another gateway reads %s", said)
	w.expectUnseen(t, "cAnArY01xy", "cAnArY02xy", "cAnArY03xy", "GEZDGNBVGY3T")
	second.expectUnseen(t, "cAnArY01xy")
}

// expectBlack takes a picture of a field and expects one color.
func expectBlack(t *testing.T, w *secretWorld, query string) {
	t.Helper()
	result, err := w.gateway.Do(t.Context(), &aai.Call{
		Caller: aai.Caller{Door: aai.DoorMCP, Name: "agent", Session: "s", Identity: "/usr/bin/agent"}, App: aai.DesktopApp, Tool: "ax_screenshot",
		Args: map[string]any{"app": "chromium", "query": query},
	})
	assert.NilError(t, err)
	picture, err := png.Decode(bytes.NewReader(result.Images[0].Data))
	assert.NilError(t, err)
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if r, g, blue, _ := picture.At(x, y).RGBA(); r+g+blue != 0 {
				t.Fatalf("%s shows %v at %d, %d", query, color.RGBAModel.Convert(picture.At(x, y)), x, y)
			}
		}
	}
}

// expectUnseen searches all replies and all files of the home for the texts.
func (w *secretWorld) expectUnseen(t *testing.T, texts ...string) {
	t.Helper()
	look := func(where string, content []byte) {
		for _, text := range texts {
			for _, f := range []string{text, url.QueryEscape(text), fmt.Sprintf("%x", text)} {
				if at := bytes.Index(content, []byte(f)); at >= 0 {
					t.Errorf("%s has %s: …%q…", where, text, content[max(0, at-100):min(len(content), at+100)])
				}
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, said := range w.said {
		look(fmt.Sprintf("reply %d", i), []byte(said))
	}
	files := eachFile(t, w.home, look)
	assert.Assert(t, files >= 3, "%d files were searched", files)
}

// TestSecretForAChangedField: a page that moves or replaces the field, or is another page, after the question gets nothing.
func TestSecretForAChangedField(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	w := newSecretWorld(t, s, t.TempDir())
	other := newLoginSite(t, map[string]string{"/": strings.ReplaceAll(loginPage, "Login", "Evil")})
	const change = `<script>setInterval(async () => { const what = await (await fetch('/now')).text(); if (what) eval(what) }, 50)</script>`
	site := newLoginSite(t, map[string]string{"/": loginPage + change})
	w.set("here", "cAnArY01xy-password", site.URL, nil)
	for name, c := range map[string]struct{ script, seen string }{
		"it moves into a frame": {`const f = document.createElement('iframe'); document.body.append(f); document.title = 'Changed';
			f.contentDocument.body.append(document.querySelector('[name=password]'))`, "Changed - Chromium"},
		"another takes its place":      {`document.querySelector('[name=password]').outerHTML = '<input name=password>'; document.title = 'Changed'`, "Changed - Chromium"},
		"the page goes to another one": {`location.href = '` + other.URL + `'`, "Evil - Chromium"},
	} {
		t.Run(name, func(t *testing.T) {
			browser := s.Browser(t, site.URL)
			defer browser.Kill(t)
			awaitWindow(t, s, "Login - Chromium")
			w.window("ax_find", map[string]any{"app": "chromium", "query": "Password"})
			w.mu.Lock()
			w.during = func() {
				site.run(c.script)
				awaitWindow(t, s, c.seen)
				site.run("")
			}
			w.mu.Unlock()
			said, err := w.call(aai.DesktopApp, "ax_type", map[string]any{"app": "chromium", "query": "Password", "text": "{{secret:here}}"})
			assert.Check(t, err != nil, "filled: %s", said)
			assert.Check(t, is.Equal(site.forms()+other.forms(), ""), "a form was sent")
		})
	}
	w.expectUnseen(t, "cAnArY01xy")
}
