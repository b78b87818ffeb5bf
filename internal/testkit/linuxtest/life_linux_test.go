package linuxtest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"

	"github.com/godbus/dbus/v5"
)

func TestStopAndContinue(t *testing.T) {
	s := linuxtest.Start(t)
	f, other := s.Fixture(t, linuxtest.GTK3), s.Fixture(t, linuxtest.Qt6)
	f.Suspend(t)
	f.Press(t, "Press")
	other.Press(t, "Press")
	other.WaitState(t, "presses", 1)
	got := f.State(t)["presses"]
	assert.Check(t, is.Equal(got, 0.0), "a program that hangs has counted %v presses", got)
	f.Continue(t)
	f.WaitState(t, "presses", 1)
}

func TestKill(t *testing.T) {
	s := linuxtest.Start(t)
	f := s.Fixture(t, linuxtest.GTK3)
	f.Kill(t)
	f.Kill(t) // twice is harmless
	var exit *exec.ExitError
	err := f.Wait(t)
	assert.Assert(t, errors.As(err, &exit), "it ended with %v", err)
	assert.Equal(t, exit.Sys().(syscall.WaitStatus).Signal(), syscall.SIGKILL, err)
	err = syscall.Kill(-f.PID, 0)
	assert.Check(t, is.ErrorIs(err, syscall.ESRCH), "its group is still there: %v", err)
}

// A recordingTB is a test that records its failures, and continues.
type recordingTB struct {
	testing.TB
	fatal string
}

func (f *recordingTB) Fatalf(format string, args ...any) {
	f.fatal = fmt.Sprintf(format, args...)
	panic(f)
}

func (f *recordingTB) Fatal(args ...any)   { f.Fatalf("%s", fmt.Sprint(args...)) }
func (f *recordingTB) Logf(string, ...any) {}

// fails returns the message with which f fails its test, "" if it does not.
func fails(t *testing.T, f func(testing.TB)) string {
	t.Helper()
	victim := &recordingTB{TB: t}
	func() {
		defer func() {
			if r := recover(); r != nil && r != any(victim) {
				panic(r)
			}
		}()
		f(victim)
	}()
	return victim.fatal
}

// TestItCanFail checks that the test helpers can fail.
func TestItCanFail(t *testing.T) {
	s := linuxtest.Start(t)
	f := s.Fixture(t, linuxtest.GTK3)
	for _, test := range []struct {
		words string
		do    func(testing.TB)
	}{
		{"does not know where", func(t testing.TB) { f.ControlRect(t, "Nowhere") }},
		{"desktop-packages", func(t testing.TB) { s.Launch(t, "no-such-program") }},
		{"no fixture of kind", func(t testing.TB) { s.Fixture(t, "motif") }},
		{"presses is 1", func(t testing.TB) { f.Kill(t); f.WaitState(t, "presses", 1) }},
		{"has ended", func(t testing.TB) { f.Suspend(t) }},
		{"windows are named", func(t testing.TB) { f.Window(t) }},
	} {
		got := fails(t, test.do)
		assert.Check(t, is.Contains(got, test.words), "it fails with %q, want %q", got, test.words)
	}
}

// enabled returns the session's accessibility status, through another client.
func enabled(t *testing.T, s *linuxtest.Session) string {
	t.Helper()
	gdbus := s.Launch(t, "gdbus", "call", "--session", "--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus",
		"--method", "org.freedesktop.DBus.Properties.Get", "org.a11y.Status", "IsEnabled")
	assert.NilError(t, gdbus.Wait(t))
	return strings.TrimSpace(gdbus.Output())
}

func TestAccessible(t *testing.T) {
	s := linuxtest.Start(t)
	got := enabled(t, s)
	assert.Check(t, is.Equal(got, "(<false>,)"), "at the start it is %s", got)
	s.EnableAccessibility(t)
	got = enabled(t, s)
	assert.Check(t, is.Equal(got, "(<true>,)"), "after Accessible it is %s", got)
	address := s.A11yAddress(t)
	assert.Check(t, is.Contains(address, s.Runtime), "the accessibility bus %s is not in %s", address, s.Runtime)
}

func TestRestartA11y(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	old, err := dbus.Connect(s.A11yAddress(t))
	assert.NilError(t, err)
	defer func() { _ = old.Close() }()
	s.RestartA11y(t)
	await(t, "the old bus is gone", func() bool { return old.Context().Err() != nil })
	got := enabled(t, s)
	assert.Check(t, is.Equal(got, "(<true>,)"), "after the restart it is %s", got)
	fresh, err := dbus.Connect(s.A11yAddress(t))
	assert.NilError(t, err)
	defer func() { _ = fresh.Close() }()
	s.StopA11y(t)
	await(t, "the fresh bus is gone", func() bool { return fresh.Context().Err() != nil })
}

func TestRestartBus(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	f := s.Fixture(t, linuxtest.Qt6)
	s.StopBus()
	if conn, err := dbus.Connect(s.Address); err == nil {
		_ = conn.Close()
		t.Error("the bus is still there")
	}
	s.RestartBus(t)
	got := enabled(t, s)
	assert.Check(t, is.Equal(got, "(<false>,)"), "on the new bus it is %s", got)
	f.Press(t, "Press")
	f.WaitState(t, "presses", 1)
}

// TestPool: the next test gets the session of the last one, without its files and windows.
func TestPool(t *testing.T) {
	var pool linuxtest.Pool
	t.Cleanup(func() { assert.Check(t, pool.End()) })
	var last *linuxtest.Session
	for range 2 {
		t.Run("part", func(t *testing.T) {
			s := pool.Borrow(t)
			assert.Check(t, last == nil || s == last, "another session was started")
			_, err := os.Stat(s.Home + "/left")
			assert.Check(t, os.IsNotExist(err), "the home is not empty: %v", err)
			assert.Check(t, is.Equal(s.ActiveWindow(t), ""))
			assert.NilError(t, os.WriteFile(s.Home+"/left", nil, 0o600))
			s.Fixture(t, linuxtest.GTK3)
			last = s
		})
	}
}
