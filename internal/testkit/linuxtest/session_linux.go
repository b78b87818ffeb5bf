package linuxtest

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/testkit"
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
	*private.Session
	Address string // of the session bus, such as "unix:path=/tmp/dbus-1/bus"

	bus        *testkit.Bus
	accessible bool
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
type sessionOption uint

const (
	screenLocked sessionOption = 1 << iota // it wants the cookie
	unmarked                               // it bears no mark

	screenOpen sessionOption = 0
)

// Bus is the session bus.
func (s *Session) Bus() *testkit.Bus { return s.bus }

// StartAccessible is Start followed by Accessible.
func StartAccessible(t testing.TB) *Session {
	t.Helper()
	s := Start(t)
	s.Accessible(t)
	return s
}

func start(t testing.TB, how sessionOption) *Session {
	t.Helper()
	desk, err := private.New("desktop-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{Session: desk, desktops: 1}
	t.Cleanup(func() { _ = desk.Remove() })
	s.writePrograms(t)
	s.Env = append(s.Env, s.environment()...)
	if how&unmarked == 0 {
		s.Env = append(s.Env, session.PrivateMark+"=1")
	}
	guard := s.guard(t)
	t.Cleanup(func() { s.end(t) })
	if err := s.StartScreen(t.Context(), private.Screen{Width: ScreenWidth, Height: ScreenHeight, Locked: how&screenLocked != 0}); err != nil {
		t.Fatal(err)
	}
	s.bus = testkit.StartDesktopBus(t, slices.Clone(s.Env))
	s.Address = s.bus.Address
	if _, err := io.WriteString(guard, filepath.Dir(strings.TrimPrefix(s.Address, "unix:path="))); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "DBUS_SESSION_BUS_ADDRESS="+s.Address)
	if err := s.StartWindowManager(t.Context(), s.Path("programs", "openbox.xml")); err != nil {
		t.Fatal(err)
	}
	return s
}

// end ends what has not ended with the test that started it.
func (s *Session) end(t testing.TB) {
	t.Helper()
	for _, p := range s.Programs() {
		if t.Failed() {
			t.Logf("%s (process %d) printed:\n%s", p.Name, p.PID, ending(p.Output()))
		}
	}
	if err := s.End(); err != nil {
		t.Error(err)
	}
}

// ending is how a text ends: some programs complain of thousands of things, and what a test
// found would be lost among them.
func ending(text string) string {
	const enough = 20
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if more := len(lines) - enough; more > 0 {
		lines = append([]string{fmt.Sprintf("(%d lines more)", more)}, lines[more:]...)
	}
	return strings.Join(lines, "\n")
}

// environment is what a session's programs get besides what every session has, and what
// is known only when the screen and the bus are up. Nothing of the test's own
// environment gets in.
func (s *Session) environment() []string {
	return append(private.SoftwareRenderingEnv(),
		"XDG_DATA_DIRS=/usr/local/share:/usr/share",
		"PATH=/usr/local/bin:/usr/bin:/bin",
		// There is one system bus on a computer, and it is not ours.
		"DBUS_SYSTEM_BUS_ADDRESS=unix:path="+filepath.Join(s.Runtime, "no-system-bus"),
		"QT_QPA_PLATFORM=xcb",
		"PYTHONDONTWRITEBYTECODE=1",
	)
}
