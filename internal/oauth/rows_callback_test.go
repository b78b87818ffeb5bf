package oauth_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// listening returns the local addresses with a listener on the port, as the kernel writes them.
func listening(t *testing.T, port string) []string {
	t.Helper()
	var found []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		assert.NilError(t, err)
		for lines := bufio.NewScanner(f); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) < 4 || fields[3] != "0A" {
				continue
			}
			address, hexPort, _ := strings.Cut(fields[1], ":")
			var n int
			if _, err := fmt.Sscanf(hexPort, "%X", &n); err == nil && fmt.Sprint(n) == port {
				found = append(found, address)
			}
		}
		_ = f.Close()
	}
	return found
}

// lanAddress returns an address of this computer that others can reach, or "".
func lanAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	assert.NilError(t, err)
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			return ip.IP.String()
		}
	}
	return ""
}

func TestRow06Listener(t *testing.T) {
	s := newStage(t)
	ended := s.ask(t.Context())
	seen := <-s.requests
	port := seen.redirect.Port()
	at := listening(t, port)
	assert.Assert(t, is.Len(at, 1), port)
	assert.Equal(t, at[0], "0100007F", port)
	assert.Check(t, is.Equal(seen.redirect.Hostname(), "127.0.0.1"), seen.redirect)
	assert.Check(t, is.Equal(seen.redirect.Path, "/callback"), seen.redirect)
	assert.Check(t, is.Equal(seen.redirect.Scheme, "http"), seen.redirect)
	if address := lanAddress(t); address != "" {
		if conn, err := net.DialTimeout("tcp", net.JoinHostPort(address, port), time.Second); err == nil {
			_ = conn.Close()
			t.Errorf("%s:%s answers", address, port)
		}
	}
	status, _ := get(t, seen.answer(nil))
	assert.Check(t, is.Equal(status, http.StatusOK), "the last page is %d", status)
	assert.NilError(t, <-ended)
	for range 50 { // the last page may take a moment
		if listening(t, port) == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("port %s is still listened at", port)
}

func TestRow07ForgedAnswers(t *testing.T) {
	s := newStage(t)
	ended := s.ask(t.Context())
	seen := <-s.requests
	n := len(seen.query.Get("state"))
	assert.Check(t, n >= 43, "the state has %d characters; 256 bits have 43", n)
	for _, forged := range []string{
		seen.answer(url.Values{"state": {"forged"}}), seen.answer(url.Values{"state": nil}),
		seen.answer(url.Values{"state": {seen.query.Get("state") + "x"}}),
		seen.answer(url.Values{"state": nil, "code": nil, "error": {"access_denied"}}),
	} {
		status, page := get(t, forged)
		assert.Check(t, is.Equal(status, http.StatusBadRequest), forged)
		assert.Check(t, is.Contains(page, "not expected"), forged)
	}
	for path, want := range map[string]int{"/favicon.ico": 404, "/": 404, "/callback/": 404, "/callback": 400} {
		status, _ := get(t, "http://"+seen.redirect.Host+path)
		assert.Check(t, is.Equal(status, want), path)
	}
	n = len(s.fake.asked("/token"))
	assert.Equal(t, n, 0, "%d codes were exchanged", n)
	status, page := get(t, seen.answer(nil))
	assert.Check(t, is.Equal(status, http.StatusOK), page)
	assert.Check(t, is.Equal(heading(page), "You are logged in to "+seen.address.Host), page)
	assert.NilError(t, <-ended)
	codes := s.fake.asked("/token")
	assert.Assert(t, is.Len(codes, 1))
	assert.Equal(t, codes[0].Get("code"), "a-code")
}

// TestRow07StateOnce: an answer is valid once, while the login still waits for the server.
func TestRow07StateOnce(t *testing.T) {
	s := newStage(t)
	hold := make(chan struct{})
	token := s.fake.handlerFor("/token")
	s.fake.setHandler("/token", func(w http.ResponseWriter, r *http.Request) { <-hold; token(w, r) })
	ended := s.ask(t.Context())
	seen := <-s.requests
	first := make(chan int)
	go func() { status, _ := get(t, seen.answer(nil)); first <- status }()
	for len(s.fake.asked("/token")) == 0 {
		time.Sleep(time.Millisecond)
	}
	status, page := get(t, seen.answer(url.Values{"code": {"another"}}))
	assert.Check(t, is.Equal(status, http.StatusBadRequest))
	assert.Check(t, is.Contains(page, "used already"))
	close(hold)
	status = <-first
	assert.Check(t, is.Equal(status, http.StatusOK), "the first answer: %d", status)
	err := <-ended
	assert.NilError(t, err)
	assert.Assert(t, is.Len(s.fake.asked("/token"), 1))
}

func TestRow08ParametersAndHost(t *testing.T) {
	s := newStage(t)
	ended := s.ask(t.Context())
	seen := <-s.requests
	state := seen.query.Get("state")
	for name, forged := range map[string]string{
		"code twice":        seen.answer(nil) + "&code=other",
		"state twice":       seen.answer(nil) + "&state=" + state,
		"an escaped repeat": seen.answer(nil) + "&%63ode=other",
		"unknown twice":     seen.answer(nil) + "&x=1&x=2",
		"a semicolon":       seen.answer(nil) + ";x",
		"a broken escape":   seen.answer(nil) + "&x=%zz",
	} {
		status, _ := get(t, forged)
		assert.Check(t, is.Equal(status, http.StatusBadRequest), name)
	}
	for _, host := range []string{"evil.example", "localhost:" + seen.redirect.Port(), "127.0.0.1", "127.0.0.1:1", seen.redirect.Host + "."} {
		status, _ := get(t, seen.answer(nil), func(r *http.Request) { r.Host = host })
		assert.Check(t, is.Equal(status, http.StatusBadRequest), host)
	}
	status, _ := get(t, seen.answer(nil), func(r *http.Request) { r.Method = http.MethodPost })
	assert.Check(t, is.Equal(status, http.StatusMethodNotAllowed))
	status, _ = get(t, seen.answer(url.Values{"session_state": {"x"}, "iss": {s.fake.URL}}))
	assert.Check(t, is.Equal(status, http.StatusOK), "with an unknown parameter: %d", status)
	assert.Check(t, <-ended)
}

func TestRow09Issuer(t *testing.T) {
	for _, c := range []struct {
		name  string
		says  bool
		iss   url.Values
		taken bool
	}{
		{"named as it should be", true, url.Values{"iss": {"ISSUER"}}, true},
		{"missing though advertised", true, nil, false},
		{"another", true, url.Values{"iss": {"https://evil.example"}}, false},
		{"another, of a server that promises nothing", false, url.Values{"iss": {"https://evil.example"}}, false},
		{"like it, but for a slash", true, url.Values{"iss": {"ISSUER/"}}, false},
		{"another, with an error", true, url.Values{"iss": {"https://evil.example"}, "error": {"server_error"}, "error_description": {"call 555 now"}, "code": nil}, false},
		{"missing and not advertised", false, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, func(f *fake) { f.metadata["authorization_response_iss_parameter_supported"] = c.says })
			ended := s.ask(t.Context())
			more := url.Values{}
			for name, values := range c.iss {
				more[name] = values
				if len(values) == 1 {
					more[name] = []string{strings.Replace(values[0], "ISSUER", s.fake.URL, 1)}
				}
			}
			_, page := get(t, (<-s.requests).answer(more))
			err := <-ended
			if c.taken {
				assert.Check(t, err)
				return
			}
			e := ends(t, err, aai.AuthInvalid)
			n := len(s.fake.asked("/token"))
			assert.Check(t, is.Equal(n, 0), "%d codes were exchanged", n)
			for _, text := range []string{page, e.Error(), e.Hint, s.logs.String()} {
				assert.Assert(t, !strings.Contains(text, "call 555"), "the stranger's words are shown: %s", text)
				assert.Assert(t, !strings.Contains(text, "evil.example"), "the stranger's words are shown: %s", text)
			}
		})
	}
}

// TestRow10MixUp: an answer for one app's login does not match another's.
func TestRow10MixUp(t *testing.T) {
	a := newStage(t, func(f *fake) { f.metadata = nil })
	b := newStage(t, func(f *fake) { f.metadata = nil })
	endedA, endedB := a.ask(t.Context()), b.ask(t.Context())
	seenA, seenB := <-a.requests, <-b.requests
	if seenA.redirect.Path == seenB.redirect.Path || !strings.HasPrefix(seenA.redirect.Path, "/callback/") || len(seenA.redirect.Path) < 30 {
		t.Errorf("the paths are %s and %s; expected one for each app that nobody guesses", seenA.redirect.Path, seenB.redirect.Path)
	}
	crossed := *seenB.redirect
	crossed.RawQuery = url.Values{"code": {"code of A"}, "state": {seenA.query.Get("state")}}.Encode()
	status, _ := get(t, crossed.String())
	assert.Check(t, is.Equal(status, http.StatusBadRequest), "B took A's answer: %d", status)
	wrongPath := *seenB.redirect
	wrongPath.Path = seenA.redirect.Path
	wrongPath.RawQuery = url.Values{"code": {"code of A"}, "state": {seenB.query.Get("state")}}.Encode()
	status, _ = get(t, wrongPath.String())
	assert.Check(t, is.Equal(status, http.StatusNotFound), "B took an answer at A's path: %d", status)
	for _, c := range []struct {
		s     *fakeServerWorld
		seen  authorizationRequest
		ended <-chan error
	}{{a, seenA, endedA}, {b, seenB, endedB}} {
		status, _ := get(t, c.seen.answer(nil))
		assert.Check(t, is.Equal(status, http.StatusOK), "its own answer: %d", status)
		assert.Check(t, <-c.ended)
		for _, form := range c.s.fake.asked("/token") {
			if form.Get("code") != "a-code" {
				t.Errorf("%s was sent to %s", form.Get("code"), c.s.fake.URL)
			}
		}
	}
	// The path belongs to the app: its next login has the same.
	a.clock.pass(2 * time.Hour)
	a.fake.setHandler("/token", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 400, map[string]string{"error": "invalid_grant"})
	})
	ends(t, a.authorize(t.Context()), aai.AuthExpired)
	ends(t, a.authorize(contextWithNearDeadline(t)), aai.AuthRequired)
	assert.Check(t, is.Equal((<-a.requests).redirect.Path, seenA.redirect.Path))
}
