package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// TestTheLinkIsInNoArgument: every account of the computer can read the browser's arguments, so
// they name a file that only the user can read, and that a browser in a snap can. It redirects to
// the link, and is deleted after its use, or with the page.
func TestTheLinkIsInNoArgument(t *testing.T) {
	for name, enters := range map[string]bool{"used": true, "not used": false} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			link, arguments, end := d.opensPage(t)
			secret := link[strings.LastIndex(link, "/")+1:]
			at, err := url.Parse(strings.TrimSuffix(arguments, "\n"))
			assert.NilError(t, err, "%q", arguments)
			assert.Equal(t, at.Scheme, "file", "%q", arguments)
			assert.Assert(t, !strings.Contains(arguments, secret), "the browser was started with %q, %v", arguments, err)
			folder := filepath.Dir(at.Path)
			if filepath.Dir(folder) != d.home || strings.HasPrefix(filepath.Base(folder), ".") {
				t.Errorf("the file is %s; expected one in a folder that %s shows", at.Path, d.home)
			}
			for path, want := range map[string]fs.FileMode{folder: fs.ModeDir | 0o700, at.Path: 0o600} {
				info, err := os.Stat(path)
				assert.NilError(t, err, path)
				assert.Equal(t, info.Mode(), want, path)
			}
			text, err := os.ReadFile(at.Path)
			assert.NilError(t, err, text)
			assert.Assert(t, is.Contains(string(text), `content="0; url=`+link+`"`), text)
			gone := func() bool { _, err := os.Stat(folder); return errors.Is(err, fs.ErrNotExist) }
			if enters {
				follow(t, link)
				for late := time.Now().Add(time.Minute); !gone(); time.Sleep(5 * time.Millisecond) {
					assert.Assert(t, !time.Now().After(late), "the file is there though the link was used")
				}
			}
			if end(); !gone() {
				t.Error("the file is there though the page has ended")
			}
		})
	}
}

// opensPage makes the program open its page in a browser, and returns the printed link and the
// browser's arguments.
func (d *desk) opensPage(t *testing.T) (link, arguments string, end func()) {
	t.Helper()
	programs := t.TempDir()
	seen := filepath.Join(programs, "seen")
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + seen + ".new && mv " + seen + ".new " + seen + "\n"
	assert.NilError(t, os.WriteFile(filepath.Join(programs, "xdg-open"), []byte(script), 0o700))
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	said, ended := make(chan string, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	p := &program{getenv: d.getenv, hostAccess: d.grounds(), err: io.Discard, home: d.home}
	options := cli.WebOptions{Open: true, Print: func(line string) { said <- line }, Changes: []cli.Change{{Key: "httpPort", Value: "0", Flag: "--port"}}}
	go func() { ended <- p.serveWeb(ctx, cli.Flags{}, options) }()
	over := false
	end = func() {
		if cancel(); !over {
			over = true
			assert.Check(t, <-ended)
		}
	}
	t.Cleanup(end)
	select {
	case link = <-said:
	case err := <-ended:
		over = true
		t.Fatalf("the page ends: %v", err)
	}
	for late := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(seen); err == nil {
			return link, string(b), end
		}
		assert.Assert(t, !time.Now().After(late), "no browser was started")
	}
}

// follow enters by the link, as a browser does.
func follow(t *testing.T, link string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, link, nil)
	assert.NilError(t, err)
	r.Header.Set("Origin", "http://"+r.URL.Host)
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", r.URL.Port()))
	}}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	assert.NilError(t, err)
	_ = response.Body.Close()
	assert.Equal(t, response.StatusCode, http.StatusSeeOther, "the link does not let in: %s", response.Status)
}
