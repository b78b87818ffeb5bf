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
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/files/userinfo"
	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// The attack tests cover every builtin tool that does more than read.
func TestBuiltinChangesAreKnown(t *testing.T) {
	known := builtinChanges(t)
	app, err := newDesk(t).build(t, "{}").gateway.Catalog.Find(t.Context(), aai.BuiltinApp)
	assert.NilError(t, err)
	changes := 0
	for _, tool := range app.Tools {
		if tool.Effect == aai.Reads || tool.Assessment(nil).OnlyMakesCalls {
			continue // its calls are gated separately
		}
		changes++
		_, ok := known[tool.Name]
		assert.Check(t, ok, "%s does not only read; say in testdata/ownchanges.json how it is called", tool.Name)
	}
	assert.Check(t, is.Equal(changes, len(known)), "%d tools change something, and %d are known", changes, len(known))
}

// The released program contains none of the tests' host access.
func TestReleasedProgramUsesTheRealHost(t *testing.T) {
	g := newHostAccess()
	assert.Assert(t, g.confirmed == nil, "%+v", g)
	assert.Assert(t, g.person == nil, "%+v", g)
	assert.Assert(t, g.policy != nil, "%+v", g)
	assert.Assert(t, g.home != nil, "%+v", g)
	assert.Assert(t, g.session != nil, "%+v", g)
	assert.Assert(t, g.checkOwned != nil, "%+v", g)
	assert.Assert(t, g.isolationFault != nil, "%+v", g)
	env := map[string]string{
		"DISPLAY": ":99", "WAYLAND_DISPLAY": "w", "XAUTHORITY": "/x", "XDG_RUNTIME_DIR": "/r", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x", session.PrivateMark: "1",
		"SSH_CONNECTION": "a", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/x", "CREDENTIALS_DIRECTORY": "/c", "AAI_MASTER_KEY_FILE": "/k", "HOME": "/planted", "XDG_DATA_DIRS": "/x", "LANG": "zh_CN",
	}
	clean := withoutSessionVariables(func(name string) string { return env[name] })
	for name, value := range env {
		got := clean(name)
		assert.Check(t, got != value, "%s %q", name, got)
	}
	u := userinfo.HomeDir()
	assert.Check(t, u != "", "the account's home is %q", u)
	assert.Check(t, u != "/planted", "the account's home is %q", u)
}

// Another account's home is rejected before anything is created in it.
func TestHomeOfAnother(t *testing.T) {
	own, others := t.TempDir(), "/"
	if os.Geteuid() == 0 {
		others = t.TempDir()
		assert.NilError(t, os.Chown(others, 65534, 65534))
	}
	p := &program{getenv: os.Getenv, err: os.Stderr, hostAccess: testHost(os.Getenv)}
	for _, home := range []string{own, own + "/none"} {
		t.Setenv("HOME", home)
		_, err := p.config(cli.Flags{})
		assert.Check(t, err, home)
	}
	before, err := os.ReadDir(others)
	assert.NilError(t, err)
	t.Setenv("HOME", others)
	_, _, err = p.open(cli.Flags{})
	assert.Assert(t, is.ErrorContains(err, "the home folder "+others+" belongs to "))
	assert.Assert(t, is.Contains(aai.AsError(err).Hint, "set HOME"))
	after, _ := os.ReadDir(others)
	assert.Check(t, is.Len(after, len(before)), "%d entries are new", len(after)-len(before))
}

// The root of the file system is no valid home, regardless of its owner.
func TestHomeThatIsAll(t *testing.T) {
	p := &program{getenv: os.Getenv, err: os.Stderr, hostAccess: testHost(os.Getenv)}
	for _, home := range []string{"/", "//", "/./"} {
		t.Setenv("HOME", home)
		_, err := p.config(cli.Flags{})
		assert.Assert(t, is.ErrorContains(err, "the home folder is /"), home)
		assert.Assert(t, is.Contains(aai.AsError(err).Hint, "Set HOME"), home)
	}
}

// TestCheckSaysThatNoWindowAsks: with a passphrase, and a screen known only by DISPLAY, the check
// reports that no dialog will appear.
func TestCheckSaysThatNoWindowAsks(t *testing.T) {
	room := session.New(session.Config{Getenv: func(name string) string {
		if name == session.PrivateMark {
			return "1" // it reads nothing else
		}
		return ""
	}})
	vault := secrets.New(secrets.Config{Folder: filepath.Join(t.TempDir(), "secrets"), AllowInsecureFile: true, Getenv: func(string) string { return "/nonexistent" }})
	p := reauthenticator{screen: promptScreen{accountSession: room, environmentSession: room}, passphrase: reauth.NewPassphrase(vault.NonInteractive(), "")}
	p.dialog = dialog.New(dialog.Config{Getenv: func(name string) string {
		if name == "DISPLAY" {
			return ":0" // it is not used
		}
		return ""
	}, Folder: t.TempDir()})
	got := p.notice(t.Context())
	assert.Check(t, is.Equal(got, ""), "without a passphrase: %q", got)
	assert.NilError(t, p.passphrase.Change(t.Context(), "a phrase of this person"))
	got = p.notice(t.Context())
	assert.Assert(t, is.Contains(got, "not in a window"))
	assert.Equal(t, p.Method(t.Context()), aai.Passphrase)
}

func TestALogThatIsAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "log")
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	_, _, err := (&program{}).logger(&setup{Config: &config.Config{LogFile: pipe}})
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Equal(t, e.Code, aai.InvalidParams, err)
	assert.Equal(t, e.Message, "logFile: "+pipe+" is no regular file; expected one", err)
}

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
