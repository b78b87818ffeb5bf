package linuxtest_test

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// processes returns the processes with the session's folder in their environment.
func processes(t *testing.T, runtime string) []string {
	return testkit.ProcessesWithEnv(t, "XDG_RUNTIME_DIR="+runtime+"\x00")
}

// isGone fails the test if a part of a session still exists. The display's number may have been reused: its
// files must not be the earlier ones, as screen returned them.
func isGone(t *testing.T, was map[string]os.FileInfo, runtime string) {
	t.Helper()
	left := processes(t, runtime)
	assert.Check(t, is.Len(left, 0), "still running: %q", left)
	if _, err := os.Stat(filepath.Dir(runtime)); !os.IsNotExist(err) {
		t.Errorf("%s is still there (%v)", filepath.Dir(runtime), err)
	}
	for file, old := range was {
		if now, err := os.Stat(file); err == nil && os.SameFile(old, now) && now.ModTime().Equal(old.ModTime()) {
			t.Errorf("%s is still there", file)
		} else if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	}
}

// screen returns the files by which programs find a display.
func screen(t *testing.T, display string) map[string]os.FileInfo {
	t.Helper()
	number := strings.TrimPrefix(display, ":")
	files := make(map[string]os.FileInfo)
	for _, file := range []string{"/tmp/.X" + number + "-lock", "/tmp/.X11-unix/X" + number} {
		if info, err := os.Stat(file); err == nil {
			files[file] = info
		}
	}
	assert.Assert(t, len(files) != 0, "display %s has no file", display)
	return files
}

func TestNothingIsLeft(t *testing.T) {
	var was map[string]os.FileInfo
	var runtime string
	t.Run("session", func(t *testing.T) {
		s := linuxtest.StartAccessible(t)
		was, runtime = screen(t, s.Display), s.Runtime
		s.Fixture(t, linuxtest.GTK3)
		s.Fixture(t, linuxtest.Chromium).Suspend(t)
		// A program that leaves its process group and ignores SIGTERM.
		s.Launch(t, "sh", "-c", `trap "" TERM; setsid sh -c 'trap "" TERM; touch left; while :; do sleep 1; done' & wait`)
		await(t, "the program has left its group", func() bool {
			_, err := os.Stat(filepath.Join(s.Home, "left"))
			return err == nil
		})
		// The screen, the bus, openbox, the accessibility bus (3), and others.
		n := len(processes(t, runtime))
		assert.Check(t, n >= 8, "only %d processes are known, so this test proves little", n)
	})
	isGone(t, was, runtime)
}

// TestKilledTest kills a test that has a session, as go test does after its timeout.
func TestKilledTest(t *testing.T) {
	victim := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestVictim$")
	report := filepath.Join(t.TempDir(), "report")
	victim.Env = append(os.Environ(), "VICTIM="+report)
	assert.NilError(t, victim.Start())
	var display, runtime, bus string
	await(t, "the other test has a session", func() bool {
		text, err := os.ReadFile(report)
		if err != nil {
			return false
		}
		n, _ := fmt.Sscanln(string(text), &display, &runtime, &bus)
		return n == 3
	})
	n := len(processes(t, runtime))
	assert.Check(t, n >= 4, "only %d processes are known, so this test proves little", n)
	was := screen(t, display)
	assert.NilError(t, victim.Process.Kill())
	_ = victim.Wait() // it was killed
	await(t, "the session's folder is gone", func() bool {
		_, err := os.Stat(filepath.Dir(runtime))
		return os.IsNotExist(err)
	})
	isGone(t, was, runtime)
	socket := strings.TrimPrefix(bus, "unix:path=")
	await(t, "the bus's folder is gone", func() bool {
		_, err := os.Stat(filepath.Dir(socket))
		return os.IsNotExist(err)
	})
}

// TestVictim is the test that TestKilledTest kills. On its own it does nothing.
func TestVictim(t *testing.T) {
	report := os.Getenv("VICTIM")
	if report == "" {
		return
	}
	s := linuxtest.Start(t)
	s.Fixture(t, linuxtest.Qt6)
	assert.NilError(t, os.WriteFile(report, []byte(s.Display+" "+s.Runtime+" "+s.Address+"\n"), 0o600))
	select {}
}

func await(t *testing.T, what string, ready func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !ready() {
		assert.Assert(t, !time.Now().After(deadline), "it never came to this: %s", what)
		time.Sleep(5 * time.Millisecond)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("AAI_TEST_OF_THE_PERSON", "private")
	s := linuxtest.Start(t)
	for name, want := range map[string]string{
		"HOME": s.Home, "DISPLAY": s.Display, "XDG_RUNTIME_DIR": s.Runtime, "DBUS_SESSION_BUS_ADDRESS": s.Address,
		"AAI_TEST_OF_THE_PERSON": "", "AAI": "",
	} {
		assert.Check(t, is.Equal(s.Getenv(name), want), name)
	}
	assert.Check(t, s.Display != os.Getenv("DISPLAY"), "this is the person's own desktop")
	assert.Check(t, s.Address != os.Getenv("DBUS_SESSION_BUS_ADDRESS"), "this is the person's own desktop")
	assert.Check(t, s.Home != os.Getenv("HOME"), "this is the person's own desktop")
	info, err := os.Stat(s.Runtime)
	assert.NilError(t, err)
	assert.Check(t, info.Mode().Perm() == 0o700, "others may use the runtime folder: %v", info.Mode())
	env := s.LaunchEnv(t, []string{"AAI=more"}, "env")
	assert.NilError(t, env.Wait(t))
	want := strings.Join(append(slices.Clone(s.Env), "AAI=more"), "\n") + "\n"
	got := env.Output()
	assert.Check(t, is.Equal(got, want), "a program has the environment\n%s\nwant\n%s", got, want)
}

// TestTwoSessions checks that two sessions are independent.
func TestTwoSessions(t *testing.T) {
	one, two := linuxtest.Start(t), linuxtest.Start(t)
	assert.Assert(t, one.Display != two.Display, "both have the screen %s and the bus %s", one.Display, one.Address)
	assert.Assert(t, one.Address != two.Address, "both have the screen %s and the bus %s", one.Display, one.Address)
	f := one.Fixture(t, linuxtest.Qt6)
	got := two.ActiveWindow(t)
	assert.Check(t, is.Equal(got, ""), "the window %q is on the other screen too", got)
	two.Click(t, 50, 60, 1)
	x, y := f.ControlRect(t, "Twin 2").Centre()
	one.Click(t, x, y, 1)
	f.WaitState(t, "twin", 2)
	gotX, gotY := one.Pointer(t)
	assert.Check(t, is.Equal(gotX, x))
	assert.Check(t, is.Equal(gotY, y))
	x, y = two.Pointer(t)
	assert.Check(t, is.Equal(x, 50))
	assert.Check(t, is.Equal(y, 60))
}

// TestFocus checks that a new window gets the focus, even while the person uses another one.
func TestFocus(t *testing.T) {
	s := linuxtest.Start(t)
	for _, kind := range linuxtest.Kinds() {
		f := s.Fixture(t, kind)
		f.Press(t, "Full name")
		typeText(t, s, "busy")
		f.WaitState(t, "name", "busy")
		got := s.ActiveWindow(t)
		assert.Check(t, is.Equal(got, f.Title), "the active window is %q, want %q", got, f.Title)
	}
}

func TestStartLocked(t *testing.T) {
	s := linuxtest.StartLocked(t)
	s.Fixture(t, linuxtest.GTK4) // it has the cookie
	stranger := s.LaunchEnv(t, []string{"XAUTHORITY=/nonexistent"}, "xwininfo", "-root")
	if err := stranger.Wait(t); err == nil {
		t.Errorf("a program without the cookie saw the screen:\n%s", stranger.Output())
	}
}

func TestScreenshot(t *testing.T) {
	s := linuxtest.Start(t)
	f := s.Fixture(t, linuxtest.GTK3)
	file := filepath.Join(t.TempDir(), "screen.png")
	s.Screenshot(t, file)
	b, err := os.ReadFile(file)
	assert.NilError(t, err)
	picture, err := png.Decode(bytes.NewReader(b))
	assert.NilError(t, err)
	size := picture.Bounds().Size()
	assert.Check(t, is.Equal(size.X, linuxtest.ScreenWidth), size)
	assert.Check(t, is.Equal(size.Y, linuxtest.ScreenHeight), size)
	// A white field beside the grey of the window, at the fixture's position.
	r := f.ControlRect(t, "Notes")
	x, y := r.Centre()
	if red, green, blue, _ := picture.At(x, y).RGBA(); red != 0xffff || green != 0xffff || blue != 0xffff {
		t.Errorf("the field Notes is not white at %d,%d: %v", x, y, picture.At(x, y))
	}
	at := picture.At(x, r.Y+r.Height+4)
	assert.Check(t, at != picture.At(x, y), "below the field Notes it is %v too", at)
}

func TestCover(t *testing.T) {
	s := linuxtest.Start(t)
	f := s.Fixture(t, linuxtest.GTK3)
	cover := s.Cover(t, f)
	got := s.ActiveWindow(t)
	assert.Check(t, strings.HasPrefix(got, "Cover"), "the active window is %q", got)
	// A click at the button hits the cover.
	f.Press(t, "Press")
	cover.Kill(t)
	f.WaitState(t, "focused", true)
	f.Press(t, "Twin 1")
	f.WaitState(t, "twin", 1)
	f.WaitState(t, "presses", 0)
}

func TestCalc(t *testing.T) {
	s := linuxtest.Start(t)
	s.Calc(t)
	got := s.ActiveWindow(t)
	assert.Check(t, strings.HasSuffix(got, "LibreOffice Calc"), "the active window is %q", got)
}
