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

	"github.com/gybob/aai-gateway"
)

// listening returns the local addresses with a listener on the port, as the kernel writes them.
func listening(t *testing.T, port string) []string {
	t.Helper()
	var found []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
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
	if at := listening(t, port); len(at) != 1 || at[0] != "0100007F" {
		t.Errorf("when the browser opens, port %s is listened at by %q; expected 127.0.0.1 alone", port, at)
	}
	if seen.redirect.Hostname() != "127.0.0.1" || seen.redirect.Path != "/callback" || seen.redirect.Scheme != "http" {
		t.Errorf("the address to come back to is %s", seen.redirect)
	}
	if address := lanAddress(t); address != "" {
		if conn, err := net.DialTimeout("tcp", net.JoinHostPort(address, port), time.Second); err == nil {
			_ = conn.Close()
			t.Errorf("%s:%s answers", address, port)
		}
	}
	if status, _ := get(t, seen.answer(nil)); status != http.StatusOK {
		t.Errorf("the last page is %d", status)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
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
	if n := len(seen.query.Get("state")); n < 43 {
		t.Errorf("the state has %d characters; 256 bits have 43", n)
	}
	for _, forged := range []string{
		seen.answer(url.Values{"state": {"forged"}}), seen.answer(url.Values{"state": nil}),
		seen.answer(url.Values{"state": {seen.query.Get("state") + "x"}}),
		seen.answer(url.Values{"state": nil, "code": nil, "error": {"access_denied"}}),
	} {
		if status, page := get(t, forged); status != http.StatusBadRequest || !strings.Contains(page, "not expected") {
			t.Errorf("%s: %d %s", forged, status, page)
		}
	}
	for path, want := range map[string]int{"/favicon.ico": 404, "/": 404, "/callback/": 404, "/callback": 400} {
		if status, _ := get(t, "http://"+seen.redirect.Host+path); status != want {
			t.Errorf("%s: %d, expected %d", path, status, want)
		}
	}
	if n := len(s.fake.asked("/token")); n != 0 {
		t.Fatalf("%d codes were exchanged", n)
	}
	status, page := get(t, seen.answer(nil))
	if status != http.StatusOK || heading(page) != "You are logged in to "+seen.address.Host {
		t.Errorf("%d %s", status, page)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if codes := s.fake.asked("/token"); len(codes) != 1 || codes[0].Get("code") != "a-code" {
		t.Errorf("exchanged were %v", codes)
	}
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
	if status, page := get(t, seen.answer(url.Values{"code": {"another"}})); status != http.StatusBadRequest || !strings.Contains(page, "used already") {
		t.Errorf("a second answer: %d %s", status, page)
	}
	close(hold)
	if status := <-first; status != http.StatusOK {
		t.Errorf("the first answer: %d", status)
	}
	if err := <-ended; err != nil || len(s.fake.asked("/token")) != 1 {
		t.Errorf("%v, with %d exchanges", err, len(s.fake.asked("/token")))
	}
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
		if status, _ := get(t, forged); status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, status)
		}
	}
	for _, host := range []string{"evil.example", "localhost:" + seen.redirect.Port(), "127.0.0.1", "127.0.0.1:1", seen.redirect.Host + "."} {
		if status, _ := get(t, seen.answer(nil), func(r *http.Request) { r.Host = host }); status != http.StatusBadRequest {
			t.Errorf("with Host %s: %d", host, status)
		}
	}
	if status, _ := get(t, seen.answer(nil), func(r *http.Request) { r.Method = http.MethodPost }); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
	if status, _ := get(t, seen.answer(url.Values{"session_state": {"x"}, "iss": {s.fake.URL}})); status != http.StatusOK {
		t.Errorf("with an unknown parameter: %d", status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
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
				if err != nil {
					t.Error(err)
				}
				return
			}
			e := ends(t, err, aai.AuthInvalid)
			if n := len(s.fake.asked("/token")); n != 0 {
				t.Errorf("%d codes were exchanged", n)
			}
			for _, text := range []string{page, e.Error(), e.Hint, s.logs.String()} {
				if strings.Contains(text, "call 555") || strings.Contains(text, "evil.example") {
					t.Errorf("the stranger's words are shown: %s", text)
				}
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
	if status, _ := get(t, crossed.String()); status != http.StatusBadRequest {
		t.Errorf("B took A's answer: %d", status)
	}
	wrongPath := *seenB.redirect
	wrongPath.Path = seenA.redirect.Path
	wrongPath.RawQuery = url.Values{"code": {"code of A"}, "state": {seenB.query.Get("state")}}.Encode()
	if status, _ := get(t, wrongPath.String()); status != http.StatusNotFound {
		t.Errorf("B took an answer at A's path: %d", status)
	}
	for _, c := range []struct {
		s     *fakeServerWorld
		seen  authorizationRequest
		ended <-chan error
	}{{a, seenA, endedA}, {b, seenB, endedB}} {
		if status, _ := get(t, c.seen.answer(nil)); status != http.StatusOK {
			t.Errorf("its own answer: %d", status)
		}
		if err := <-c.ended; err != nil {
			t.Error(err)
		}
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
	if again := <-a.requests; again.redirect.Path != seenA.redirect.Path {
		t.Errorf("the path was %s and is %s", seenA.redirect.Path, again.redirect.Path)
	}
}
