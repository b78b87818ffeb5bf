package devtools

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
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
