package linuxtest

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aai/internal/drivers/dbus/dbustest"
	"aai/internal/session"
)

// The screen's size in pixels, 24 bits deep, without scaling.
const (
	ScreenWidth  = 1600
	ScreenHeight = 1000
)

// patience is how long to wait for what should come. It passes only where something is
// wrong: on a busy computer much takes many times longer than it should.
const patience = 2 * time.Minute

// A Session is a running desktop. It ends with the test. Its methods are for the
// goroutine of the test, unless they say otherwise.
type Session struct {
	Display string   // such as ":1"
	Address string   // of the session bus, such as "unix:path=/tmp/dbus-1/bus"
	Env     []string // all that its programs get: "NAME=value"
	Home    string   // an empty home folder
	Runtime string   // XDG_RUNTIME_DIR

	folder     string
	bus        *dbustest.Bus
	accessible bool
	started    int
	desktops   int // how many virtual ones the window manager was last told to have
}

// Start starts a desktop with nothing on it, or fails the test. The accessibility
// bus is there when somebody asks for it, but nothing says that it is wanted; see
// Accessible.
func Start(t testing.TB) *Session {
	t.Helper()
	return start(t, screenOpen)
}

// StartLocked is Start with a screen that wants the cookie in the file XAUTHORITY,
// as the screen of a person does. Start's screen wants none.
func StartLocked(t testing.TB) *Session {
	t.Helper()
	return start(t, screenLocked)
}

// StartUnmarked is StartLocked for a test of how a person's session is found: this
// one does not say that it is a private one.
func StartUnmarked(t testing.TB) *Session {
	t.Helper()
	return start(t, screenLocked|unmarked)
}

// A choice is how a session is.
type choice uint

const (
	screenLocked choice = 1 << iota // it wants the cookie
	unmarked                        // it bears no mark

	screenOpen choice = 0
)

// Bus is the session bus.
func (s *Session) Bus() *dbustest.Bus { return s.bus }

// StartAccessible is Start followed by Accessible.
func StartAccessible(t testing.TB) *Session {
	t.Helper()
	s := Start(t)
	s.Accessible(t)
	return s
}

func start(t testing.TB, how choice) *Session {
	t.Helper()
	// Not t.TempDir: the path of a socket must be short.
	folder, err := os.MkdirTemp("/tmp", "desktop-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{folder: folder, Home: filepath.Join(folder, "home"), Runtime: filepath.Join(folder, "run"), desktops: 1}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	for _, dir := range []string{s.Home, s.Runtime, s.path("tmp"), s.path("log"), s.path("programs")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.writePrograms(t)
	s.Env = s.environment()
	if how&unmarked == 0 {
		s.Env = append(s.Env, session.PrivateMark+"=1")
	}
	guard := s.guard(t)
	s.startScreen(t, how&screenLocked != 0)
	s.bus = dbustest.StartDesktop(t, slices.Clone(s.Env))
	s.Address = s.bus.Address
	if _, err := io.WriteString(guard, filepath.Dir(strings.TrimPrefix(s.Address, "unix:path="))); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "DBUS_SESSION_BUS_ADDRESS="+s.Address)
	s.startWindowManager(t)
	return s
}

// Getenv looks up a variable of the session, for code under test. It is safe for
// concurrent use.
func (s *Session) Getenv(name string) string {
	for _, v := range slices.Backward(s.Env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

func (s *Session) path(names ...string) string {
	return filepath.Join(append([]string{s.folder}, names...)...)
}

// environment is the whole environment of a session's programs, but for what is
// known only when the screen and the bus are up. Nothing of the test's own
// environment gets in.
func (s *Session) environment() []string {
	return []string{
		"HOME=" + s.Home,
		"TMPDIR=" + s.path("tmp"),
		"XDG_RUNTIME_DIR=" + s.Runtime,
		"XDG_DATA_DIRS=/usr/local/share:/usr/share",
		"XDG_SESSION_TYPE=x11",
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"LANG=C.UTF-8",
		// There is one system bus on a computer, and it is not ours.
		"DBUS_SYSTEM_BUS_ADDRESS=unix:path=" + filepath.Join(s.Runtime, "no-system-bus"),
		"GSETTINGS_BACKEND=memory",
		"GIO_USE_VFS=local",
		"GTK_USE_PORTAL=0",
		"GDK_BACKEND=x11",
		"QT_QPA_PLATFORM=xcb",
		// No graphics card: without these GTK 4 draws so slowly that it never
		// appears on the accessibility bus.
		"GSK_RENDERER=cairo",
		"LIBGL_ALWAYS_SOFTWARE=1",
		"PYTHONDONTWRITEBYTECODE=1",
	}
}

func (s *Session) startScreen(t testing.TB, locked bool) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	size := fmt.Sprintf("%dx%dx24", ScreenWidth, ScreenHeight)
	args := []string{"-displayfd", "3", "-screen", "0", size, "-nolisten", "tcp", "-noreset"}
	if locked {
		args = append(args, "-auth", s.writeCookie(t))
	}
	// It takes its lock and its socket away itself, if it is asked to end.
	screen := s.start(t, launch{name: "Xvfb", args: args, files: []*os.File{w}, gently: true})
	_ = w.Close()
	if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not start: %v\n%s", err, screen.Output())
	}
	s.Display = ":" + strings.TrimSpace(number)
	s.Env = append(s.Env, "DISPLAY="+s.Display)
}

// writeCookie makes a cookie for the screen and for all its clients. The format is
// that of libXau, AuWrite.c: a family, here the one that stands for any address,
// and four strings, each after its length, all numbers of 16 bits, big-endian.
func (s *Session) writeCookie(t testing.TB) string {
	t.Helper()
	const familyWild = 0xffff
	cookie := make([]byte, 16)
	_, _ = rand.Read(cookie) // it never fails
	entry := binary.BigEndian.AppendUint16(nil, familyWild)
	for _, field := range []string{"", "", "MIT-MAGIC-COOKIE-1", string(cookie)} {
		entry = binary.BigEndian.AppendUint16(entry, uint16(len(field)))
		entry = append(entry, field...)
	}
	file := s.path("cookie")
	if err := os.WriteFile(file, entry, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "XAUTHORITY="+file)
	return file
}

func (s *Session) startWindowManager(t testing.TB) {
	t.Helper()
	ready := s.path("window-manager-is-ready")
	app := s.start(t, launch{
		name: "openbox",
		args: []string{"--sm-disable", "--config-file", s.path("programs", "openbox.xml"), "--startup", "touch " + ready},
	})
	app.await(t, "openbox manages the screen", func() bool {
		_, err := os.Stat(ready)
		return err == nil
	})
}
