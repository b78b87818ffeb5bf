package web_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
)

// TestOnlyThisStartsName checks that requests by another host name get nothing. So no name that a site
// resolves to this computer (DNS rebinding) is accepted, and no name of another local server.
func TestOnlyThisStartsName(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	_, port, _ := strings.Cut(w.address, ":")
	for _, host := range []string{
		"localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port, "evil.example:" + port, "evil.example", "", "aai.localhost:" + port,
		"x." + strings.TrimPrefix(w.origin(), "http://"), strings.TrimPrefix(w.origin(), "http://") + ".evil.example",
		strings.TrimSuffix(strings.TrimPrefix(w.origin(), "http://"), port) + "1",
	} {
		for _, at := range []string{"/history", w.link, "/", "/live"} {
			if at == "/live" && t.Failed() {
				t.FailNow() // it would not end
			}
			r := w.request(t, http.MethodGet, at, nil)
			for _, c := range w.client.Jar.Cookies(r.URL) {
				r.AddCookie(c)
			}
			if r.Host = host; host == "" {
				r.Host = "none.invalid"
			}
			got := w.do(t, r)
			assert.Check(t, is.Equal(got.status, http.StatusForbidden), "%q %s %s", host, at, got.body)
			assert.Check(t, !strings.Contains(got.body, "<html"), "as %q %s is served: %d\n%s", host, at, got.status, got.body)
		}
	}
}

// TestOnlyOurForms checks that requests of another page have no effect, whichever sign of it is
// missing: not by a form, not by a script, not with another session's token.
func TestOnlyOurForms(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	good := w.form(t, "/history")
	other := newWorld(t)
	other.enter(t)
	foreign := other.form(t, "/history")
	for name, change := range map[string]func(*http.Request){
		"of another site":       func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"of another port":       func(r *http.Request) { r.Header.Set("Origin", w.origin()+"1") },
		"of no site":            func(r *http.Request) { r.Header.Del("Origin") },
		"of a page of nobody":   func(r *http.Request) { r.Header.Set("Origin", "null") },
		"of a site beside ours": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"of a strange site":     func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"with a token":          func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") },
	} {
		got := w.attack(t, "/leave", good, change)
		assert.Check(t, is.Equal(got.status, http.StatusForbidden), "%s %s", name, got.body)
		assert.Check(t, !strings.Contains(got.body, "<html"), "%s %s", name, got.body)
	}
	for name, form := range map[string]url.Values{"without a sign": {}, "with the sign of another session": foreign, "with an empty one": {"csrf": {""}}} {
		assert.Check(t, is.Equal(w.attack(t, "/leave", form, func(*http.Request) {}).status, http.StatusForbidden), name)
	}
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, "TRACE"} {
		r := w.request(t, method, "/history", nil)
		r.Header.Set("Origin", "http://evil.example")
		got := w.do(t, r)
		assert.Check(t, got.status >= 400, "%s %d %v", method, got.status, got.header)
		assert.Check(t, is.Equal(got.header.Get("Access-Control-Allow-Origin"), ""), "%s %d %v", method, got.status, got.header)
	}
	got := w.get(t, "/history")
	assert.Check(t, is.Equal(got.status, http.StatusOK), "one of them has done what it says: the person is out: %d", got.status)
	got = w.post(t, "/leave", good)
	assert.Check(t, is.Equal(got.status, http.StatusForbidden), "and our own form does nothing: %d", got.status)
	got = w.get(t, "/history")
	assert.Check(t, is.Equal(got.status, http.StatusForbidden), "who has left is in: %d", got.status)
}

// attack posts a form of the door with another page's changes.
func (v *visitor) attack(t *testing.T, path string, form url.Values, change func(*http.Request)) answer {
	t.Helper()
	r := v.request(t, http.MethodPost, path, form)
	r.Header.Set("Origin", v.world.origin())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	change(r)
	return v.do(t, r)
}

// TestNobodyPlantsASession checks that a cookie that was set before grants no access, neither before
// nor after the login, and that each login has its own.
func TestNobodyPlantsASession(t *testing.T) {
	w := newWorld(t)
	planted := &http.Cookie{Name: "aai_session", Value: strings.Repeat("A", 43), Path: "/"}
	at, err := url.Parse(w.origin())
	assert.NilError(t, err)
	w.client.Jar.SetCookies(at, []*http.Cookie{planted})
	got := w.get(t, "/history")
	assert.Check(t, is.Equal(got.status, http.StatusForbidden), "it opens the page: %d", got.status)
	w.enter(t)
	for _, c := range w.client.Jar.Cookies(at) {
		assert.Check(t, c.Name != "aai_session" || c.Value != planted.Value, "the person's session is the one that was planted")
	}
	thief := w.newVisitor(t)
	thief.client.Jar.SetCookies(at, []*http.Cookie{planted})
	got = thief.get(t, "/history")
	assert.Check(t, is.Equal(got.status, http.StatusForbidden), "who planted it is in: %d", got.status)
}

// TestCookieIsBoundToTheHost checks that the cookie goes to this start's host alone, to no script and
// with no cross-site request.
func TestCookieIsBoundToTheHost(t *testing.T) {
	w := newWorld(t)
	jar, err := cookiejar.New(nil)
	assert.NilError(t, err)
	w.client.Jar = jar
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	got := w.post(t, w.link, nil)
	set := got.header.Get("Set-Cookie")
	assert.Assert(t, is.Contains(set, "HttpOnly"))
	assert.Assert(t, is.Contains(set, "SameSite=Strict"))
	assert.Assert(t, !strings.Contains(set, "Domain"), "the cookie is set with %q", set)
	_, port, _ := strings.Cut(w.address, ":")
	for _, other := range []string{"http://localhost:" + port, "http://127.0.0.1:" + port, "http://aai-other.localhost:" + port, "http://x." + w.origin()[len("http://"):]} {
		u, err := url.Parse(other)
		assert.NilError(t, err)
		assert.Check(t, is.Len(jar.Cookies(u), 0), other)
	}
}

// TestLanguageCookieIsBoundToTheHost checks the same for the language cookie.
func TestLanguageCookieIsBoundToTheHost(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	form := w.form(t, "/history")
	form.Set("language", "zh")
	got := w.post(t, "/language", form)
	set := got.header.Get("Set-Cookie")
	assert.Assert(t, is.Contains(set, "HttpOnly"), "%d", got.status)
	assert.Assert(t, is.Contains(set, "SameSite=Strict"), "%d", got.status)
	assert.Assert(t, !strings.Contains(set, "Domain"), "%d: the cookie is set with %q", got.status, set)
}

// TestLongForms checks that forms above the limit are not read.
func TestLongForms(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	form := w.form(t, "/history")
	form.Set("language", strings.Repeat("x", 1<<20))
	got := w.post(t, "/language", form)
	assert.Check(t, is.Equal(got.status, http.StatusForbidden), "it is read: %d", got.status)
	form.Set("language", "en")
	got = w.post(t, "/language", form)
	assert.Check(t, is.Equal(got.status, http.StatusOK), "and one of ours is not: %d", got.status)
}

// TestGuessing checks that a link has 256 bits, that guesses are limited, and that the right link still
// works.
func TestGuessing(t *testing.T) {
	w := newWorld(t)
	secret := w.link[strings.LastIndex(w.link, "/")+1:]
	assert.Check(t, is.Equal(len(secret), 43), "the secret has %d letters; expected 43", len(secret))
	refused := 0
	for range 40 {
		switch got := w.post(t, w.origin()+"/enter/"+strings.Repeat("A", 43), nil); got.status {
		case http.StatusTooManyRequests:
			refused++
		case http.StatusForbidden:
		default:
			t.Fatalf("a guess: %d", got.status)
		}
	}
	assert.Check(t, refused != 0, "40 guesses at once were all looked at")
	for _, guess := range []string{"", secret[:42], secret + "A", strings.ToLower(secret)} {
		assert.Check(t, w.post(t, w.origin()+"/enter/"+guess, nil).status != http.StatusOK, "%q lets in", guess)
	}
	w.enter(t)
}

// TestNoFrames checks the security headers of every kind of answer.
func TestNoFrames(t *testing.T) {
	w := newWorld(t)
	for range 2 {
		for _, at := range []string{"/history", "/none", w.link, "/", "/live"} {
			r := w.request(t, http.MethodHead, at, nil)
			h := w.do(t, r).header
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
				"Referrer-Policy": "same-origin",
			} {
				assert.Check(t, is.Contains(h.Get(name), want), "%s %s", at, name)
			}
			for _, part := range []string{"frame-ancestors 'none'", "require-trusted-types-for 'script'", "base-uri 'none'", "form-action 'self'"} {
				assert.Check(t, is.Contains(h.Get("Content-Security-Policy"), part), at)
			}
			assert.Assert(t, !strings.Contains(h.Get("Content-Security-Policy"), "unsafe"), "%s %v", at, h)
			assert.Equal(t, h.Get("Access-Control-Allow-Origin"), "", "%s %v", at, h)
		}
		w.post(t, w.link, nil) // the second time the whole page is shown
	}
}

// TestAgentsHaveNoPage checks that an agent with the page's name stays an agent: it may not read or
// change the person's data, where the page's door makes the same call.
func TestAgentsHaveNoPage(t *testing.T) {
	w := newWorld(t)
	agent := aai.Caller{Door: aai.DoorMCP, Name: "page", Identity: aai.IdentityPage, Session: "s"}
	page := agent
	page.Door = aai.DoorWeb
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{builtin.ListConsents, nil}, {builtin.History, nil}, {builtin.Mode, nil}, {"settings", nil}, {"running", nil},
		{builtin.Revoke, map[string]any{"app": "org.test.Mail"}}, {builtin.SetMode, map[string]any{"mode": "sandboxed"}},
	} {
		call := func(who aai.Caller) error {
			_, err := w.gateway.Do(t.Context(), &aai.Call{Caller: who, App: aai.BuiltinApp, Tool: c.tool, Args: c.args, IsRefresh: true})
			return err
		}
		err := call(agent)
		assert.Assert(t, err != nil, "%s by an agent: %v; expected %s", c.tool, err, aai.PermissionDenied)
		assert.Equal(t, aai.AsError(err).Code, aai.PermissionDenied, "%s %v", c.tool, err)
		err = call(page)
		assert.Check(t, err, "%s by the page: %v", c.tool, err)
	}
}

// TestAnAgentThatFindsThePort checks that a program that knows the address and host name, but no link,
// gets only the help for the login and the page of the link, and that no button has an effect.
func TestAnAgentThatFindsThePort(t *testing.T) {
	w := newWorld(t, mail(tool("send", kinds, nil)))
	w.calls(t, "claude")
	secret := w.link[strings.LastIndex(w.link, "/")+1:]
	for _, at := range []string{
		"/now", "/apps", "/app?app=aai", "/tool?app=org.test.Mail&tool=send", "/lint?app=org.test.Mail", "/found", "/scan", "/history", "/history/charts", "/history/c1",
		"/consent", "/logins", "/settings", "/settings/logLevel", "/doctor", "/live", "/picture/c1", "/none",
	} {
		got := w.get(t, at)
		for _, ours := range []string{secret, "claude", "org.test.Mail", `name="csrf"`} {
			assert.Check(t, !strings.Contains(got.body, ours), "%s holds %q:\n%s", at, ours, got.body)
		}
		assert.Check(t, is.Equal(got.status, http.StatusForbidden), "%s %v", at, got.header)
		assert.Check(t, is.Len(got.header.Values("Set-Cookie"), 0), "%s %v", at, got.header)
	}
	for _, at := range []string{"/now/stop", "/now/start", "/tool/try?app=org.test.Mail&tool=send", "/consent/revoke", "/consent/grant", "/consent/mode", "/settings/logLevel/set", "/history/export", "/doctor/run"} {
		assert.Check(t, is.Equal(w.post(t, at, url.Values{"csrf": {""}, "mode": {"sandboxed"}, "value": {"debug"}, "app": {"*"}}).status, http.StatusForbidden), at)
	}
	var past []struct{ Door, Tool string }
	assert.NilError(t, w.history(t, &past))
	for _, call := range past {
		assert.Check(t, call.Door != aai.DoorWeb, "the page has called %s", call.Tool)
	}
	assert.Check(t, len(past) != 0, "the record of the agent's own call cannot be read")
}
