package session_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// patience is the limit for expected events. No test waits for it to expire.
const patience = time.Minute

// A world is a computer with its own logins. Buses and screens are real; login1 and the
// user manager are fakes on a real bus.
type world struct {
	t       *testing.T
	folder  string // short, since sockets are in it
	runUser string
	env     map[string]string // of the process under test
	cfg     session.Config

	displays map[string]string // by file of the cookie
}

func newWorld(t *testing.T) *world {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "login-")
	assert.NilError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil { // other users must reach its content
		t.Fatal(err)
	}
	w := &world{t: t, folder: folder, runUser: filepath.Join(folder, "user"), displays: map[string]string{}}
	w.env = map[string]string{"HOME": folder, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=" + folder + "/no-system-bus"}
	proc := filepath.Join(folder, "proc") // without processes of this user, until a test adds one
	for _, dir := range []string{w.login(), proc} {
		assert.NilError(t, os.MkdirAll(dir, 0o700))
	}
	w.cfg = session.Config{
		Getenv: func(name string) string { return w.env[name] }, CheckX11: x11.CheckAccess,
		RunUser: w.runUser, Proc: proc, RetryAfter: time.Nanosecond,
	}
	return w
}

// login returns the runtime folder of this user.
func (w *world) login() string { return filepath.Join(w.runUser, strconv.Itoa(os.Getuid())) }

func (w *world) detector() *session.Detector { return session.New(w.cfg) }

// userBus starts the bus in the runtime folder.
func (w *world) userBus() *testkit.Bus {
	w.t.Helper()
	bus := testkit.StartBus(w.t)
	assert.NilError(w.t, os.Link(strings.TrimPrefix(bus.Address, "unix:path="), filepath.Join(w.login(), "bus")))
	return bus
}

func (w *world) userBusAddress() string { return "unix:path=" + filepath.Join(w.login(), "bus") }

// manager adds a fake user manager with the environment.
func (w *world) manager(bus *testkit.Bus, env ...string) {
	w.t.Helper()
	conn := bus.Connect(w.t)
	serveProperties(w.t, conn, "/org/freedesktop/systemd1", map[string]dbus.Variant{"Environment": dbus.MakeVariant(env)})
	own(w.t, conn, "org.freedesktop.systemd1")
}

func own(t *testing.T, conn *dbus.Conn, name string) {
	t.Helper()
	reply, err := conn.RequestName(name, 0)
	assert.NilError(t, err)
	assert.Equal(t, reply, dbus.RequestNameReplyPrimaryOwner)
}

// readable are readable properties.
type readable map[string]dbus.Variant

func (p readable) Get(_, name string) (dbus.Variant, *dbus.Error) { return p[name], nil }

func (p readable) GetAll(string) (map[string]dbus.Variant, *dbus.Error) { return p, nil }

func serveProperties(t *testing.T, conn *dbus.Conn, path string, p readable) {
	t.Helper()
	assert.NilError(t, conn.Export(p, dbus.ObjectPath(path), "org.freedesktop.DBus.Properties"))
}

// A login is a session in the fake login1.
type login struct {
	id, kind, seat, display, desktop, scope string
	remote, active                          bool
	another                                 bool // user's
	closing                                 bool
	locked                                  bool
}

func (l login) path() dbus.ObjectPath {
	return dbus.ObjectPath("/org/freedesktop/login1/session/_3" + l.id)
}

// A login1 is a fake of login1.
type login1 struct {
	sessions []login
	own      string // the ID of the session of this process
	display  string // the ID of the user's graphical one
	sleeping bool   // the computer is about to sleep
	hang     chan struct{}
	mu       sync.Mutex
	asked    int
}

// login1 starts a system bus with the fake on it.
func (w *world) login1(l *login1) *login1 {
	w.t.Helper()
	bus := testkit.StartBus(w.t)
	w.env["DBUS_SYSTEM_BUS_ADDRESS"] = bus.Address
	conn := bus.Connect(w.t)
	assert.NilError(w.t, conn.Export(l, "/org/freedesktop/login1", "org.freedesktop.login1.Manager"))
	serveProperties(w.t, conn, "/org/freedesktop/login1", readable{"PreparingForSleep": dbus.MakeVariant(l.sleeping)})
	for _, s := range l.sessions {
		serveProperties(w.t, conn, string(s.path()), readable{
			"Id": dbus.MakeVariant(s.id), "Type": dbus.MakeVariant(s.kind), "Display": dbus.MakeVariant(s.display),
			"Desktop": dbus.MakeVariant(s.desktop), "Scope": dbus.MakeVariant(s.scope), "Remote": dbus.MakeVariant(s.remote),
			"Active": dbus.MakeVariant(s.active), "State": dbus.MakeVariant(map[bool]string{false: "active", true: "closing"}[s.closing]), "Class": dbus.MakeVariant("user"),
			"LockedHint": dbus.MakeVariant(s.locked),
			"Seat": dbus.MakeVariant(struct {
				A string
				B dbus.ObjectPath
			}{s.seat, "/"}),
			"User": dbus.MakeVariant(struct {
				A uint32
				B dbus.ObjectPath
			}{uint32(os.Getuid()), "/"}),
			"Leader": dbus.MakeVariant(uint32(1)), "Timestamp": dbus.MakeVariant(uint64(1)),
		})
	}
	serveProperties(w.t, conn, "/org/freedesktop/login1/user/self", readable{
		"Display": dbus.MakeVariant(struct {
			A string
			B dbus.ObjectPath
		}{l.display, login{id: l.display}.path()}),
	})
	if l.hang != nil {
		w.t.Cleanup(func() { close(l.hang) })
	}
	own(w.t, conn, "org.freedesktop.login1")
	return l
}

func (l *login1) ask() {
	l.mu.Lock()
	l.asked++
	l.mu.Unlock()
	if l.hang != nil {
		<-l.hang
	}
}

func (l *login1) questions() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

// GetSessionByPID is a method of login1.
func (l *login1) GetSessionByPID(pid uint32) (dbus.ObjectPath, *dbus.Error) {
	l.ask()
	if l.own == "" || pid != uint32(os.Getpid()) {
		return "/", dbus.NewError("org.freedesktop.login1.NoSessionForPID", nil)
	}
	return login{id: l.own}.path(), nil
}

// GetUser is a method of login1.
func (l *login1) GetUser(uint32) (dbus.ObjectPath, *dbus.Error) {
	return "/org/freedesktop/login1/user/self", nil
}

// A listed session is a row of login1's list.
type listed struct {
	ID   string
	UID  uint32
	User string
	Seat string
	Path dbus.ObjectPath
}

// ListSessions is a method of login1.
func (l *login1) ListSessions() ([]listed, *dbus.Error) {
	var all []listed
	for _, s := range l.sessions {
		user := uint32(os.Getuid())
		if s.another {
			user += 1000
		}
		all = append(all, listed{s.id, user, "somebody", s.seat, s.path()})
	}
	return all, nil
}

// A screen is a real X server, which requires a cookie.
type screen struct{ display, cookie string }

// screen starts an X server with a cookie, behind a command prefix if there is one.
func (w *world) screen(front ...string) screen {
	w.t.Helper()
	cookie := filepath.Join(w.folder, fmt.Sprintf("cookie-%d", time.Now().UnixNano()))
	w.writeCookie(cookie)
	if err := os.Chmod(cookie, 0o644); err != nil { // the server may be another user's
		w.t.Fatal(err)
	}
	display, err := private.StartXServer(w.t.Context(), func(end *os.File, options ...string) error {
		args := slices.Concat(front, []string{"Xvfb", "-screen", "0", "640x480x24", "-auth", cookie}, options)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env, cmd.ExtraFiles = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=/tmp"}, []*os.File{end}
		if err := cmd.Start(); err != nil {
			return err
		}
		w.t.Cleanup(func() {
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait()
		})
		return nil
	})
	assert.NilError(w.t, err)
	s := screen{display, cookie}
	w.displays[cookie] = s.display
	return s
}

// writeCookie writes a file of libXau with one cookie for every display.
func (w *world) writeCookie(path string) {
	w.t.Helper()
	assert.NilError(w.t, private.WriteCookie(path))
}

// has compares the Detector's values with name=value pairs; "" is none.
func has(t *testing.T, r *session.Detector, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got := r.Getenv(name); got != want[name] {
			t.Errorf("%s is %q, want %q\n%s", name, got, want[name], strings.Join(r.Report().Lines(), "\n"))
		}
	}
}

// says fails the test unless one line of the report contains all words.
func says(t *testing.T, r *session.Detector, words ...string) {
	t.Helper()
	lines := r.Report().Lines()
	assert.Check(t, slices.ContainsFunc(lines, func(line string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) })
	}), "no line says %q:\n%s", words, strings.Join(lines, "\n"))
}
