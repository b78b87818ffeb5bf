package session_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/platform/linux/session"
)

// TestSeveralSessions checks that the active session on the own seat is chosen, and the others are
// reported.
func TestSeveralSessions(t *testing.T) {
	w := newWorld(t)
	one, two, far := w.screen(), w.screen(), w.screen()
	w.env["HOME"] = w.folder
	w.join(".Xauthority", one.cookie, two.cookie, far.cookie)
	all := []login{
		{id: "1", kind: "x11", seat: "seat1", display: one.display, active: true},
		{id: "2", kind: "x11", seat: "seat0", display: two.display, active: true},
		{id: "3", kind: "x11", remote: true, display: far.display, active: true},
		{id: "4", kind: "tty", seat: "seat0"},
		{id: "5", kind: "x11", seat: "seat0", display: ":55", another: true},
	}
	for _, c := range []struct{ name, own, choice, display string }{
		{"on a console of seat0", "4", "", two.display},
		{"in the other's session", "1", "", one.display},
		{"in none", "", "", one.display},
		{"by id", "4", "1", one.display},
		{"by display", "4", one.display, one.display},
		{"the seat", "3", "seat", one.display},
		{"from afar by id", "4", "3", far.display},
		{"no such session", "4", "9", ""},
		{"another user's", "4", "5", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The cookies are in one file, so only the display varies.
			w.t, w.cfg.Choice = t, c.choice
			w.login1(&login1{own: c.own, display: "1", sessions: all})
			r := w.detector()
			has(t, r, map[string]string{"DISPLAY": c.display})
			for _, line := range r.Report().Lines() {
				assert.Check(t, !strings.Contains(line, "session 5"), "another user's session is named: %s", line)
			}
			if c.display == two.display {
				says(t, r, "session: session 2", "seat0", "active")
				says(t, r, "also there: session 1", "seat1")
				says(t, r, "also there: session 3", "from afar")
				says(t, r, "desktop.session")
			}
		})
	}
}

// TestChosenSessionThatIsNot checks that a chosen session that does not exist is not
// replaced by another, and that the existing ones are reported.
func TestChosenSessionThatIsNot(t *testing.T) {
	w := newWorld(t)
	one, two, bus := w.screen(), w.screen(), w.userBus()
	w.env["HOME"] = w.folder
	w.join(".Xauthority", one.cookie, two.cookie)
	w.manager(bus, "DISPLAY="+one.display)
	w.login1(&login1{own: "1", sessions: []login{
		{id: "1", kind: "x11", seat: "seat0", display: one.display, active: true}, {id: "2", kind: "x11", display: two.display}, {id: "3", kind: "x11", display: ":19999"},
	}})
	w.cfg.Choice = "9"
	r := w.detector()
	has(t, r, map[string]string{"DISPLAY": "", "WAYLAND_DISPLAY": ""})
	says(t, r, "display: none")
	says(t, r, "not taken: \"9\"", "desktop.session", "no such session of this user")
	says(t, r, "session: session 1", "display "+one.display)
	says(t, r, "also there: session 2", "display "+two.display)
	says(t, r, "set desktop.session")
	says(t, r, "nobody can be asked in a window")
	w.cfg.Choice = "3" // no server is on its display
	r = w.detector()
	has(t, r, map[string]string{"DISPLAY": ""})
	says(t, r, "not taken: :19999")
	w.cfg.Choice = "2"
	has(t, w.detector(), map[string]string{"DISPLAY": two.display})
}

// join writes a file with the cookies of several screens. The first matching entry is
// used, so each names its display.
func (w *world) join(name string, cookies ...string) {
	w.t.Helper()
	var all []byte
	for _, file := range cookies {
		text, err := os.ReadFile(file)
		assert.NilError(w.t, err)
		number := strings.TrimPrefix(w.displays[file], ":")
		// family, an empty address, then the display, which was empty
		entry := append([]byte{0xff, 0xff, 0, 0, 0, byte(len(number))}, number...)
		all = append(append(all, entry...), text[6:]...)
	}
	assert.NilError(w.t, os.WriteFile(filepath.Join(w.folder, name), all, 0o600))
}

// TestRemoteSession checks that a remote session gets no other seat's display from any source.
func TestRemoteSession(t *testing.T) {
	for name, c := range map[string]struct {
		own, ssh, choice string
		found            bool
	}{
		"login1 says so":          {own: "2"},
		"SSH says so":             {ssh: "10.0.0.1 1 10.0.0.2 22"},
		"both, and a chosen seat": {own: "2", ssh: "10.0.0.1 1 10.0.0.2 22", choice: "seat", found: true},
		"nobody says so":          {own: "", found: true},
		"SSH in a local session":  {own: "1", ssh: "10.0.0.1 1 10.0.0.2 22", choice: "1", found: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s, bus := w.screen(), w.userBus()
			w.env["XAUTHORITY"], w.env["SSH_CONNECTION"], w.cfg.Choice = s.cookie, c.ssh, c.choice
			w.login1(&login1{own: c.own, display: "1", sessions: []login{
				{id: "1", kind: "x11", seat: "seat0", display: s.display, active: true}, {id: "2", kind: "tty", remote: true},
			}})
			w.manager(bus, "DISPLAY="+s.display, "XAUTHORITY="+s.cookie, "WAYLAND_DISPLAY=wayland-0")
			want := ""
			if c.found {
				want = s.display
			}
			r := w.detector()
			has(t, r, map[string]string{"DISPLAY": want, "DBUS_SESSION_BUS_ADDRESS": w.userBusAddress()})
			if !c.found {
				says(t, r, "not taken: other seats", "nobody sits there")
				says(t, r, "set desktop.session")
			}
		})
	}
}

// TestForwardedDisplay checks that only the own environment may name a display on a
// network, as SSH forwards it.
func TestForwardedDisplay(t *testing.T) {
	w := newWorld(t)
	s, bus := w.screen(), w.userBus()
	forwarded := w.forward(s)
	w.env["SSH_CONNECTION"], w.env["DISPLAY"], w.env["XAUTHORITY"] = "10.0.0.1 1 10.0.0.2 22", forwarded, s.cookie
	has(t, w.detector(), map[string]string{"DISPLAY": forwarded})
	w.manager(bus, "DISPLAY="+forwarded, "XAUTHORITY="+s.cookie)
	w.env = map[string]string{"HOME": w.folder, "DBUS_SYSTEM_BUS_ADDRESS": w.env["DBUS_SYSTEM_BUS_ADDRESS"]}
	r := w.detector()
	has(t, r, map[string]string{"DISPLAY": ""})
	says(t, r, "not taken: "+forwarded, "no display of this computer")
}

// forward offers the screen over local TCP, as SSH does.
func (w *world) forward(s screen) (display string) {
	w.t.Helper()
	for n := 100; n < 400; n++ {
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(6000+n))
		if err != nil {
			continue
		}
		w.t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				client, err := l.Accept()
				if err != nil {
					return
				}
				server, err := net.Dial("unix", "/tmp/.X11-unix/X"+strings.TrimPrefix(s.display, ":"))
				if err != nil {
					_ = client.Close()
					return
				}
				go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
				go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
			}
		}()
		return "localhost:" + strconv.Itoa(n)
	}
	w.t.Fatal("no port is free")
	return ""
}

// process adds a process to the world's /proc.
func (w *world) process(pid int, scope, users, environ string) {
	w.t.Helper()
	folder := filepath.Join(w.cfg.Proc, strconv.Itoa(pid))
	assert.NilError(w.t, os.MkdirAll(folder, 0o700))
	for name, text := range map[string]string{
		"cgroup": "0::/user.slice/user-1.slice/" + scope + "\n", "status": "Name:\tx\nUid:\t" + users + "\nGid:\t0\t0\t0\t0\n", "environ": environ,
	} {
		if environ == "" && name == "environ" {
			continue // as with one that has ended in between
		}
		assert.NilError(w.t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
}

// TestProgramsInTheScope checks that only programs of this user alone in the session's scope count.
func TestProgramsInTheScope(t *testing.T) {
	w := newWorld(t)
	s := w.screen()
	w.login1(&login1{own: "7", sessions: []login{{id: "7", kind: "x11", seat: "seat0", scope: "session-7.scope"}}})
	us := strconv.Itoa(os.Getuid())
	ours := strings.Join([]string{us, us, us, us}, "\t")
	says7 := func(name string) string { return "LC_NAME=" + name + "\x00DISPLAY=:1\x00" }
	w.process(11, "session-8.scope", ours, says7("another_scope"))
	w.process(12, "session-7.scope", us+"\t4242\t4242\t4242", says7("setuid"))
	w.process(13, "session-7.scope", "4242\t4242\t4242\t4242", says7("foreign"))
	w.process(14, "session-7.scope", ours, "") // it ended
	w.process(15, "session-7.scope", ours, "AAI_PRIVATE_SESSION=1\x00"+says7("private"))
	w.process(16, "session-7.scope", ours, "DISPLAY="+s.display+"\x00XAUTHORITY="+s.cookie+"\x00LANG=sv_SE.UTF-8\x00LANG=second\x00rubbish\x00\x00")
	w.process(os.Getpid(), "session-7.scope", ours, says7("this_one"))
	r := w.detector()
	has(t, r, map[string]string{"DISPLAY": s.display, "XAUTHORITY": s.cookie, "LANG": "sv_SE.UTF-8", "LC_NAME": ""})
	says(t, r, "display: "+s.display, "from process 16 in session-7.scope")
}

// TestWayland checks that the report has the compositor.
func TestWayland(t *testing.T) {
	w := newWorld(t)
	s, bus := w.screen(), w.userBus()
	w.listen("wayland-1")
	w.login1(&login1{own: "1", sessions: []login{{id: "1", kind: "wayland", seat: "seat0", active: true}}})
	w.manager(bus, "WAYLAND_DISPLAY=wayland-1", "DISPLAY="+s.display, "XAUTHORITY="+s.cookie)
	r := w.detector()
	has(t, r, map[string]string{"WAYLAND_DISPLAY": "wayland-1", "DISPLAY": s.display, "XDG_SESSION_TYPE": "wayland"})
	says(t, r, "compositor: wayland-1")
	data := fmt.Sprint(r.Report().Data())
	assert.Assert(t, is.Contains(data, "wayland-1"))
	assert.Assert(t, is.Contains(data, "seat0"))
}

// TestWaylandWithoutEnvironment checks that the only compositor in the runtime folder is taken if nothing names a
// screen, and that several are reported.
func TestWaylandWithoutEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		listening []string
		sessions  []login
		own       string
		want      string
		unchosen  []string
	}{
		"one":                    {listening: []string{"wayland-1"}, want: "wayland-1"},
		"none":                   {},
		"several":                {listening: []string{"wayland-0", "wayland-1"}, unchosen: []string{"wayland-0", "wayland-1"}},
		"a socket of no display": {listening: []string{"wayland-x", "wayland-1-awww"}},
		"a session of Wayland":   {listening: []string{"wayland-1"}, sessions: []login{{id: "1", kind: "wayland", seat: "seat0"}}, want: "wayland-1"},
		"a console":              {listening: []string{"wayland-1"}, sessions: []login{{id: "1", kind: "tty", seat: "seat0"}}, own: "1", want: "wayland-1"},
		"a session of X11":       {listening: []string{"wayland-1"}, sessions: []login{{id: "1", kind: "x11", seat: "seat0", display: ":93471"}}},
		"from afar":              {listening: []string{"wayland-1"}, sessions: []login{{id: "1", kind: "tty", remote: true}}, own: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, socket := range c.listening {
				w.listen(socket)
			}
			dead := w.listen("wayland-7")
			dead.SetUnlinkOnClose(false) // as of a compositor that was killed
			_ = dead.Close()
			if c.sessions != nil {
				w.login1(&login1{own: c.own, sessions: c.sessions})
			}
			r := w.detector()
			has(t, r, map[string]string{"WAYLAND_DISPLAY": c.want, "DISPLAY": ""})
			got := r.UnchosenCompositors()
			assert.Check(t, slices.Equal(got, c.unchosen), "unchosen are %q, expected %q", got, c.unchosen)
			for _, socket := range c.unchosen {
				says(t, r, "not taken: "+socket, "2 compositors run here")
			}
			if c.want == "" {
				says(t, r, "display: none", "WAYLAND_DISPLAY")
			}
		})
	}
}

// TestWaylandOfAnotherFolder checks that the compositor in the account's runtime folder has its path if the
// environment has another folder, and that it is not taken into a private session.
func TestWaylandOfAnotherFolder(t *testing.T) {
	w := newWorld(t)
	w.listen("wayland-1")
	w.env["XDG_RUNTIME_DIR"] = w.folder
	has(t, w.detector(), map[string]string{"WAYLAND_DISPLAY": filepath.Join(w.login(), "wayland-1")})
	w.env[session.PrivateMark] = "1"
	has(t, w.detector(), map[string]string{"WAYLAND_DISPLAY": ""})
}

// listen listens on a socket in the runtime folder.
func (w *world) listen(name string) *net.UnixListener {
	w.t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(w.login(), name), Net: "unix"})
	assert.NilError(w.t, err)
	w.t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestUnreachedSession checks that a graphical session of the person without a found
// screen is reported, but no closing one, no other user's, and none without windows.
func TestUnreachedSession(t *testing.T) {
	for name, c := range map[string]struct {
		session login
		own     string
		want    string
	}{
		"on a seat":         {login{id: "2", kind: "wayland", seat: "seat0", active: true}, "", "2"},
		"not the shown one": {login{id: "2", kind: "x11", seat: "seat0", display: ":93471"}, "4", "2"},
		"one's own":         {login{id: "2", kind: "x11", seat: "seat0", display: ":93471"}, "2", "2"},
		"from afar":         {login{id: "2", kind: "x11", remote: true}, "", "2"},
		"a console":         {login{id: "2", kind: "tty", seat: "seat0", active: true}, "", ""},
		"left":              {login{id: "2", kind: "x11", seat: "seat0", closing: true}, "", ""},
		"another user's":    {login{id: "2", kind: "x11", seat: "seat0", active: true, another: true}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.login1(&login1{own: c.own, display: "2", sessions: []login{c.session, {id: "4", kind: "tty"}}})
			got := ""
			if l := w.detector().UnreachedLogin(); l != nil {
				got = l.ID
			}
			assert.Check(t, is.Equal(got, c.want))
		})
	}
	w := newWorld(t)
	l := w.detector().UnreachedLogin()
	assert.Check(t, l == nil, "without login1: %s", l)
	s := w.screen()
	w.env["DISPLAY"], w.env["XAUTHORITY"] = s.display, s.cookie
	w.login1(&login1{own: "2", sessions: []login{{id: "2", kind: "x11", display: s.display}}})
	l = w.detector().UnreachedLogin()
	assert.Check(t, l == nil, "with its screen: %s", l)
}
