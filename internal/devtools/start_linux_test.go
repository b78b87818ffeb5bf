package devtools

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// script writes a program and returns its path.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chromium")
	assert.NilError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return path
}

// newBrowsers returns Browsers that start the program, by default Chromium as root can start it.
func newBrowsers(t *testing.T, program string, outlives bool) *Browsers {
	t.Helper()
	if program == "" {
		program = script(t, `exec chromium --no-sandbox --disable-gpu --disable-dev-shm-usage "$@"`)
	}
	home := t.TempDir()
	b := New(Config{
		Find:      func() []Endpoint { return Find(func(string) string { return "/nonexistent" }) },
		AllowFile: filepath.Join(home, "browsers.json"),
		Start: StartConfig{
			Profiles: filepath.Join(home, "browsers"), Find: func() (string, error) { return program, nil }, OutlivesGateway: outlives,
			Environ: func() []string { return []string{"PATH=/usr/bin:/bin", "HOME=" + home} },
		},
	})
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// page serves a page and returns its address.
func page(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<title>Own</title>") }))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

func until(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to be")
		}
	}
}

func (b *Browser) shows(address string) bool {
	return slices.ContainsFunc(b.Tabs(), func(tab Target) bool { return tab.URL == address })
}

func runs(pid int) bool { return syscall.Kill(pid, 0) == nil }

// TestStart starts a browser that only this process can use.
func TestStart(t *testing.T) {
	b, address := newBrowsers(t, "", false), page(t)
	one, err := b.Start(t.Context(), address)
	assert.NilError(t, err)
	until(t, func() bool { return one.shows(address) })
	_, err = os.Stat(filepath.Join(one.Profile, portFile))
	assert.Check(t, is.ErrorIs(err, os.ErrNotExist), "it listens on a port: %v", err)
	assert.Check(t, slices.Contains(b.Connected(t.Context()), one), "it is not connected")
	allowed, err := b.Allowed(t.Context())
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(allowed, one.ID()))
	t.Run("another profile for the next one", func(t *testing.T) {
		next, err := b.Start(t.Context(), "about:blank")
		assert.NilError(t, err)
		assert.Check(t, next.Profile != one.Profile, "both have the profile %s", one.Profile)
	})
	assert.NilError(t, b.Close())
	until(t, func() bool { return !runs(one.PID) })
	own := b.ownEndpoints()
	assert.Check(t, is.Len(own, 0), "there are still %v", own)
}

// TestStartDisconnected: taking a started browser away from agents ends it.
func TestStartDisconnected(t *testing.T) {
	b := newBrowsers(t, "", false)
	one, err := b.Start(t.Context(), "about:blank")
	assert.NilError(t, err)
	assert.NilError(t, b.Disconnect(t.Context(), one.Endpoint))
	until(t, func() bool { return !runs(one.PID) })
}

// TestStartWithPort starts a browser that other gateways use after the end of this one.
func TestStartWithPort(t *testing.T) {
	b, address := newBrowsers(t, "", true), page(t)
	one, err := b.Start(t.Context(), address)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = syscall.Kill(-one.PID, syscall.SIGKILL) })
	assert.NilError(t, b.Close())
	other := New(b.config)
	t.Cleanup(func() { _ = other.Close() })
	until(t, func() bool {
		all := other.Connected(t.Context())
		return len(all) == 1 && all[0].shows(address)
	})
}

// TestStartOfLiars starts programs that are no browsers.
func TestStartOfLiars(t *testing.T) {
	for name, text := range map[string]string{
		"ends at once":             `exit 1`,
		"ends while it speaks":     `printf '{"id":' >&4`,
		"garbage":                  `printf 'hello\0' >&4; exec sleep 1000`,
		"another answer":           `printf '{"id":1,"error":{"code":1,"message":"no"}}\0' >&4; exec sleep 1000`,
		"a message without an end": `exec 1>&4; exec cat /dev/zero | tr '\0' 'x'`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrowsers(t, script(t, text), false)
			_, err := b.Start(t.Context(), "about:blank")
			e, ok := errors.AsType[*aai.Error](err)
			assert.Assert(t, ok, err)
			assert.Assert(t, e.Hint != "", err)
			assert.Check(t, is.Len(b.ownEndpoints(), 0))
		})
	}
}

// TestCanceledStart: no browser is left behind.
func TestCanceledStart(t *testing.T) {
	b := newBrowsers(t, script(t, `exec sleep 1000`), false)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := b.Start(ctx, "about:blank")
	assert.Check(t, is.ErrorContains(err, "did not start"))
}

// TestLiars lets programs listen that are no browsers. Looking for browsers goes on, and they are never connected.
func TestLiars(t *testing.T) {
	const path = browserPath + "0123456789abcdef"
	speak := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				_, _ = fmt.Fprintf(w, `{"webSocketDebuggerUrl": "ws://%s%s"}`, r.Host, path)
				return
			}
			socket, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			for socket.Write(r.Context(), websocket.MessageText, []byte(text)) == nil {
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		isFound bool
	}{
		"garbage":            {speak("hello"), true},
		"events without end": {speak(`{"method":"Target.targetCreated","params":{"targetInfo":7}}`), true},
		"answers to nobody":  {speak(`{"id":99,"result":{}}`), true},
		"no WebSocket": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, `{"webSocketDebuggerUrl": "ws://x%s"}`, path)
		}, true},
		"another path": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprint(w, `{"webSocketDebuggerUrl": "ws://evil.example/devtools/browser/../../x"}`)
		}, false},
		"a page without end": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 1<<16))
			}
		}, false},
		"nothing": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			t.Cleanup(server.CloseClientConnections)
			address, err := url.Parse(server.URL)
			assert.NilError(t, err)
			port, err := strconv.Atoi(address.Port())
			assert.NilError(t, err)
			program := exec.CommandContext(t.Context(), "/bin/sh", "-c", "sleep 1000; true", "liar", "--remote-debugging-port="+address.Port())
			program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
			assert.NilError(t, program.Start())
			t.Cleanup(func() { _ = syscall.Kill(-program.Process.Pid, syscall.SIGKILL); _ = program.Wait() })
			var liar Endpoint
			for _, e := range Find(func(string) string { return "/nonexistent" }) {
				if e.Port == port {
					liar = e
				}
			}
			isFound := liar.Port != 0
			assert.Equal(t, isFound, c.isFound, "it is found: %t", isFound)
			if !c.isFound {
				return
			}
			want := fmt.Sprintf("sh:%d", port)
			assert.Check(t, is.Equal(liar.Key(), want), "it is called %s, expected %s", liar.Key(), want)
			b := newBrowsers(t, "", false)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			assert.Check(t, b.Connect(ctx, liar) != nil, "it is connected")
			assert.Check(t, is.Len(b.Connected(t.Context()), 0))
			allowed, err := b.Allowed(t.Context())
			assert.NilError(t, err)
			assert.Assert(t, !strings.Contains(fmt.Sprint(allowed), liar.ID()), "it is allowed: %v", err)
		})
	}
}

// A person sits at a Chromium with their own profile, which they have switched on at chrome://inspect/#remote-debugging.
type person struct {
	*linuxtest.Session
	own Endpoint
}

func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{Session: linuxtest.Start(t)}
	profile := filepath.Join(p.Home, ".config", "chromium")
	assert.NilError(t, os.MkdirAll(profile, 0o700))
	switchedOn := `{"devtools": {"remote_debugging": {"user-enabled": true}}}`
	assert.NilError(t, os.WriteFile(filepath.Join(profile, "Local State"), []byte(switchedOn), 0o600))
	p.Launch(t, "chromium", "--no-sandbox", "--no-first-run", "--password-store=basic", "--disable-gpu", "--disable-dev-shm-usage", "about:blank")
	until(t, func() bool {
		for _, e := range Find(func(name string) string { return map[string]string{"HOME": p.Home}[name] }) {
			if e.Profile == profile {
				p.own = e
				return true
			}
		}
		return false
	})
	return p
}

// answers presses keys until the channel has an error, and returns it.
func (p *person) answers(t *testing.T, answer <-chan error, keys ...string) error {
	t.Helper()
	for {
		press := exec.CommandContext(t.Context(), "xdotool", append([]string{"key", "--delay", "100"}, keys...)...)
		press.Env = p.Env
		assert.NilError(t, press.Run())
		select {
		case err := <-answer:
			return err
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// TestOwnProfile connects to a browser with the person's own profile, which asks them each time.
func TestOwnProfile(t *testing.T) {
	p, b := newPerson(t), newBrowsers(t, "", false)
	assert.Check(t, p.own.Asks, "it is not known that the browser asks")
	connect := func(ctx context.Context) <-chan error {
		answer := make(chan error, 1)
		go func() { answer <- b.Connect(ctx, p.own) }()
		return answer
	}
	t.Run("refused", func(t *testing.T) {
		assert.Check(t, p.answers(t, connect(t.Context()), "Escape") != nil, "it is connected")
		allowed, err := b.Allowed(t.Context())
		assert.NilError(t, err)
		assert.Assert(t, is.Len(allowed, 0))
	})
	t.Run("not answered", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.Check(t, (<-connect(ctx)) != nil, "it is connected")
	})
	t.Run("allowed", func(t *testing.T) {
		// A key before the question is there goes to the page, and the next one refuses.
		until(t, func() bool { return p.answers(t, connect(t.Context()), "Tab", "Return") == nil })
		all := b.Connected(t.Context())
		assert.Assert(t, is.Len(all, 1))
		assert.Assert(t, len(all[0].Tabs()) != 0, "connected are %v", all)
	})
}
