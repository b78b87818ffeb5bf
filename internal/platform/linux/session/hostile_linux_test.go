package session_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// nobody is a user other than this one and root.
const nobody = 65534

// asNobody returns the command prefix that runs a command as another user.
func asNobody(t *testing.T) []string {
	t.Helper()
	command := []string{"setpriv", "--reuid=" + strconv.Itoa(nobody), "--regid=" + strconv.Itoa(nobody), "--clear-groups", "--"}
	if os.Geteuid() != 0 {
		command = append([]string{"sudo", "-n"}, command...)
	}
	out, err := exec.Command(command[0], append(command[1:], "true")...).CombinedOutput()
	assert.NilError(t, err, "there must be another user, by root or by sudo: %v: %s", err, out)
	return command
}

// foreignBus starts a bus of another user, in a folder that is open to all, and returns
// its socket.
func (w *world) foreignBus() string {
	w.t.Helper()
	folder := filepath.Join(w.folder, "theirs")
	assert.NilError(w.t, os.Mkdir(folder, 0o777))
	assert.NilError(w.t, os.Chmod(folder, 0o777))
	path := filepath.Join(folder, "bus")
	command := append(asNobody(w.t), "dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path="+path)
	cmd := exec.Command(command[0], command[1:]...)
	assert.NilError(w.t, cmd.Start())
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	await(w.t, "the other user's bus", func() bool {
		socket, err := net.Dial("unix", path)
		if err == nil {
			_ = socket.Close()
		}
		return err == nil
	})
	return path
}

func await(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !ready(); time.Sleep(10 * time.Millisecond) {
		assert.Assert(t, !time.Now().After(until), "%s did not come", what)
	}
}

// TestForeignBus checks that a foreign socket in the place of the user's bus is refused.
func TestForeignBus(t *testing.T) {
	for name, c := range map[string]struct {
		put  func(w *world, place string) error
		says string
	}{
		"another user's socket": {func(w *world, place string) error { return os.Link(w.foreignBus(), place) }, "belongs to the user 65534"},
		"another user's server": {func(w *world, place string) error {
			if err := os.Link(w.foreignBus(), place); err != nil {
				return err
			}
			return w.give(place, os.Getuid()) // now the file passes for this user's
		}, "who listens there is the user 65534"},
		"a pipe":           {func(_ *world, place string) error { return syscall.Mkfifo(place, 0o600) }, "is no socket"},
		"a file":           {func(_ *world, place string) error { return os.WriteFile(place, nil, 0o600) }, "is no socket"},
		"a link":           {func(w *world, place string) error { return os.Symlink(w.foreignBus(), place) }, "is no socket"},
		"a dead socket":    {deadSocket, "nobody listens"},
		"an open folder":   {func(w *world, _ string) error { w.userBus(); return os.Chmod(w.login(), 0o777) }, "others may write"},
		"a foreign folder": {func(w *world, _ string) error { w.userBus(); return w.give(w.login(), nobody) }, "another user's"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			assert.NilError(t, c.put(w, filepath.Join(w.login(), "bus")))
			r := w.detector()
			has(t, r, map[string]string{"DBUS_SESSION_BUS_ADDRESS": ""})
			says(t, r, "not taken:", c.says)
		})
	}
}

// give changes a file's owner, as only root can.
func (w *world) give(path string, user int) error {
	command := []string{"chown", "-h", strconv.Itoa(user), path}
	if os.Geteuid() != 0 {
		command = append([]string{"sudo", "-n"}, command...)
		w.t.Cleanup(func() { _ = exec.Command("sudo", "-n", "chown", strconv.Itoa(os.Getuid()), path).Run() })
	}
	return exec.Command(command[0], command[1:]...).Run()
}

func deadSocket(_ *world, place string) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: place, Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return l.Close()
}

// TestOwnBusThatIsNot checks that another user's bus in the own environment is refused and
// never returned. A dead bus is returned, so that errors name it.
func TestOwnBusThatIsNot(t *testing.T) {
	w := newWorld(t)
	w.env["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + w.foreignBus()
	has(t, w.detector(), map[string]string{"DBUS_SESSION_BUS_ADDRESS": ""})
	dead := "unix:path=" + w.folder + "/dead"
	w.env["DBUS_SESSION_BUS_ADDRESS"] = dead
	has(t, w.detector(), map[string]string{"DBUS_SESSION_BUS_ADDRESS": dead})
	w.userBus()
	has(t, w.detector(), map[string]string{"DBUS_SESSION_BUS_ADDRESS": w.userBusAddress()})
}

// hangs returns a display with a server that accepts connections and never answers.
func (w *world) hangs() string {
	w.t.Helper()
	for n := 20_000; n < 21_000; n++ {
		l, err := net.Listen("unix", "@/tmp/.X11-unix/X"+strconv.Itoa(n))
		if err == nil {
			w.t.Cleanup(func() { _ = l.Close() })
			return ":" + strconv.Itoa(n)
		}
	}
	w.t.Fatal("no display is free")
	return ""
}

// TestForeignDisplay checks that an invalid display is skipped for a valid one.
func TestForeignDisplay(t *testing.T) {
	for name, c := range map[string]struct {
		bad  func(w *world) (display, cookie string)
		says string
	}{
		"another user's": {func(w *world) (string, string) { s := w.screen(asNobody(w.t)...); return s.display, s.cookie }, "who listens there is the user 65534"},
		"a wrong cookie": {func(w *world) (string, string) {
			w.writeCookie(filepath.Join(w.folder, "wrong"))
			return w.screen().display, filepath.Join(w.folder, "wrong")
		}, "refused"},
		"a stale cookie": {func(w *world) (string, string) { return w.screen().display, filepath.Join(w.folder, "gone") }, "refused"},
		"a pipe as cookie": {func(w *world) (string, string) {
			path := filepath.Join(w.folder, "pipe")
			assert.NilError(w.t, syscall.Mkfifo(path, 0o600))
			return w.screen().display, path
		}, "refused"},
		"a cookie by a relative path": {func(w *world) (string, string) {
			s := w.screen()
			here, err := os.Getwd()
			assert.NilError(w.t, err)
			cookie, err := filepath.Rel(here, s.cookie)
			assert.NilError(w.t, err)
			return s.display, cookie
		}, "refused"},
		"it hangs":        {func(w *world) (string, string) { return w.hangs(), "" }, "deadline exceeded"},
		"nobody is there": {func(*world) (string, string) { return ":19999", "" }, "no such file"},
		"no display":      {func(*world) (string, string) { return "0.0", "" }, "should be like"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cfg.Patience = 3 * time.Second
			w.env["DISPLAY"], w.env["XAUTHORITY"] = c.bad(w)
			r := w.detector()
			has(t, r, map[string]string{"DISPLAY": "", "XAUTHORITY": ""})
			says(t, r, "not taken: "+w.env["DISPLAY"], "the own environment", c.says)
			s, bus := w.screen(), w.userBus()
			w.manager(bus, "DISPLAY="+s.display, "XAUTHORITY="+s.cookie)
			r = w.detector()
			has(t, r, map[string]string{"DISPLAY": s.display, "XAUTHORITY": s.cookie})
			says(t, r, "DISPLAY says "+w.env["DISPLAY"], "instead is the screen "+s.display, "desktop.session")
			assert.Check(t, is.Equal(r.Report().Data()["passed"], w.env["DISPLAY"]), "programs are not told: %v", r.Report().Data())
		})
	}
}

// TestStaleCookie checks that a stale cookie is replaced by another one for the same
// display.
func TestStaleCookie(t *testing.T) {
	w := newWorld(t)
	s, bus := w.screen(), w.userBus()
	w.env["DISPLAY"], w.env["XAUTHORITY"] = s.display, filepath.Join(w.folder, "gone")
	w.manager(bus, "DISPLAY="+s.display, "XAUTHORITY="+s.cookie)
	has(t, w.detector(), map[string]string{"DISPLAY": s.display, "XAUTHORITY": s.cookie})
}

// TestOddValues checks that invalid values are skipped, one by one.
func TestOddValues(t *testing.T) {
	w := newWorld(t)
	s, bus := w.screen(), w.userBus()
	w.manager(bus, "DISPLAY="+s.display, "XAUTHORITY="+s.cookie+"\n/etc/passwd", "LANG=../../x", "LC_ALL=a\nb",
		"XDG_CURRENT_DESKTOP="+strings.Repeat("x", 5000), "DBUS_SESSION_BUS_ADDRESS=tcp:host=10.0.0.1,port=1",
		"WAYLAND_DISPLAY=../bus", "XDG_SESSION_TYPE=x11\nx", "no equals sign", "=", "LC_TIME=fi_FI.UTF-8")
	w.env["XAUTHORITY"] = s.cookie
	r := w.detector()
	has(t, r, map[string]string{
		"DISPLAY": s.display, "XAUTHORITY": s.cookie, "LANG": "", "LC_ALL": "", "LC_TIME": "fi_FI.UTF-8", "XDG_CURRENT_DESKTOP": "", "XDG_SESSION_TYPE": "",
		"WAYLAND_DISPLAY": "", "DBUS_SESSION_BUS_ADDRESS": w.userBusAddress(),
	})
	says(t, r, "not taken: tcp:host=10.0.0.1,port=1", "names no socket")
}

// TestPrivateSession checks that a private session is never used for the person's, in any source.
func TestPrivateSession(t *testing.T) {
	private := linuxtest.StartLocked(t)
	w := newWorld(t)
	w.cfg.Proc = "" // for reading the mark
	s, bus := w.screen(), w.userBus()
	w.env["DISPLAY"], w.env["XAUTHORITY"] = private.Display, private.Getenv("XAUTHORITY")
	w.env["DBUS_SESSION_BUS_ADDRESS"] = private.Address
	w.login1(&login1{own: "1", sessions: []login{{id: "1", kind: "x11", display: private.Display, active: true}}})
	w.manager(bus, "DISPLAY="+s.display, "XAUTHORITY="+s.cookie)
	r := w.detector()
	has(t, r, map[string]string{"DISPLAY": s.display, "XAUTHORITY": s.cookie, "DBUS_SESSION_BUS_ADDRESS": w.userBusAddress()})
	says(t, r, "not taken: "+private.Display, "private session")
	says(t, r, "not taken: "+private.Address, "private session")
}

// TestManagerOfAPrivateSession checks that a user manager with the mark is ignored.
func TestManagerOfAPrivateSession(t *testing.T) {
	w := newWorld(t)
	s, bus := w.screen(), w.userBus()
	w.manager(bus, "DISPLAY="+s.display, "XAUTHORITY="+s.cookie, "LANG=fi_FI.UTF-8", session.PrivateMark+"=1")
	has(t, w.detector(), map[string]string{"DISPLAY": "", "LANG": ""})
}

// TestWithinAPrivateSession checks that a private session uses only its own environment.
func TestWithinAPrivateSession(t *testing.T) {
	private := linuxtest.StartLocked(t)
	w := newWorld(t)
	w.cfg.Proc = ""
	s, bus := w.screen(), w.userBus()
	l := w.login1(&login1{own: "1", sessions: []login{{id: "1", kind: "x11", display: s.display, active: true}}})
	w.manager(bus, "DISPLAY="+s.display, "XAUTHORITY="+s.cookie, "LANG=fi_FI.UTF-8")
	w.env[session.PrivateMark] = "1"
	has(t, w.detector(), map[string]string{"DISPLAY": "", "DBUS_SESSION_BUS_ADDRESS": "", "LANG": "", "XDG_RUNTIME_DIR": ""})
	for _, name := range []string{"DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"} {
		w.env[name] = private.Getenv(name)
	}
	has(t, w.detector(), map[string]string{"DISPLAY": private.Display, "DBUS_SESSION_BUS_ADDRESS": private.Address})
	n := l.questions()
	assert.Check(t, n <= 0, "login1 was asked %d times", n)
}
