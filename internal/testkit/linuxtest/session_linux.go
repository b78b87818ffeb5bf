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

// patience is the time limit for expected events. It expires only on failure: on a busy computer many
// operations take much longer than usual.
const patience = 2 * time.Minute

// A Session is a running desktop. It ends with the test. Unless noted otherwise, only the test's goroutine
// may call its methods.
type Session struct {
	*private.Session
	Address string // of the session bus, such as "unix:path=/tmp/dbus-1/bus"

	bus        *testkit.Bus
	accessible bool
	desktops   int // number of virtual desktops that was last requested
	logged     int // number of programs before those of the test, in a session of a pool
	lifetime   *lifetime

	compositor    Compositor // of a session of Wayland
	compositorApp *App
	// RestartCompositor starts the compositor again after its end, on the same socket; nil on X11.
	RestartCompositor func(t testing.TB)
}

// Start starts an empty desktop, or fails the test. The accessibility bus starts on demand, but
// accessibility is not enabled; see Accessible.
func Start(t testing.TB) *Session {
	t.Helper()
	return start(t, screenOpen)
}

// StartLocked is Start with a screen that requires the cookie in the file XAUTHORITY, as a person's screen
// does. The screen of Start requires none.
func StartLocked(t testing.TB) *Session {
	t.Helper()
	return start(t, screenLocked)
}

// StartUnmarked is StartLocked without the mark of a private session, for a test of how a person's session
// is found.
func StartUnmarked(t testing.TB) *Session {
	t.Helper()
	return start(t, screenLocked|unmarked)
}

// A sessionOption is a property of a session.
type sessionOption uint

const (
	screenLocked sessionOption = 1 << iota // requires the cookie
	unmarked                               // has no mark

	screenOpen sessionOption = 0
)

// Bus returns the session bus.
func (s *Session) Bus() *testkit.Bus { return s.bus }

// StartAccessible is Start followed by Accessible.
func StartAccessible(t testing.TB) *Session {
	t.Helper()
	s := Start(t)
	s.EnableAccessibility(t)
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
	if err := s.StartScreen(t.Context(), private.ScreenConfig{Width: ScreenWidth, Height: ScreenHeight, Locked: how&screenLocked != 0}); err != nil {
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

// end ends the programs of the session, and logs their output if the test failed.
func (s *Session) end(t testing.TB) {
	t.Helper()
	if t.Failed() {
		s.logPrograms(t)
	}
	if err := s.End(); err != nil {
		t.Error(err)
	}
}

// logPrograms logs the output of the test's programs.
func (s *Session) logPrograms(t testing.TB) {
	t.Helper()
	for _, p := range s.Programs()[s.logged:] {
		t.Logf("%s (process %d) printed:\n%s", p.Name, p.PID, ending(p.Output()))
	}
}

// ending returns the last lines of a text: some programs log thousands of messages, and these would bury
// the test's own.
func ending(text string) string {
	const enough = 20
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if more := len(lines) - enough; more > 0 {
		lines = append([]string{fmt.Sprintf("(%d lines more)", more)}, lines[more:]...)
	}
	return strings.Join(lines, "\n")
}

// environment returns the variables of the programs in the session, in addition to those of private.Session. It takes
// nothing from the environment of the test.
func (s *Session) environment() []string {
	return append(private.HeadlessEnv(),
		"XDG_DATA_DIRS=/usr/local/share:/usr/share",
		"PATH=/usr/local/bin:/usr/bin:/bin",
		// A computer has only one system bus, and tests must not use it.
		"DBUS_SYSTEM_BUS_ADDRESS=unix:path="+filepath.Join(s.Runtime, "no-system-bus"),
		"QT_QPA_PLATFORM=xcb",
		"PYTHONDONTWRITEBYTECODE=1",
	)
}
