//go:build linux

package x11_test

import (
	"context"
	"errors"
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

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// open returns a display of the session's screen.
func open(t testing.TB, s *linuxtest.Session) *x11.Display {
	t.Helper()
	d := x11.New(x11.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
	t.Cleanup(func() {
		assert.Check(t, d.Close())
	})
	return d
}

// patience is the limit for expected events. No test waits for it to expire.
const patience = 2 * time.Minute

// soon returns the context of a call that should end soon.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// tool runs a program that provides a second opinion.
func tool(t testing.TB, s *linuxtest.Session, stdin []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(soon(t), name, args...)
	cmd.Env = s.Env
	if stdin != nil {
		cmd.Stdin = strings.NewReader(string(stdin))
	}
	out, err := cmd.Output()
	assert.NilError(t, err, "%s %q", name, args)
	return out
}

// id returns the fixture's window according to xdotool.
func id(t testing.TB, f *linuxtest.Fixture) desktop.WindowID {
	t.Helper()
	n, err := strconv.ParseUint(f.Window(t), 10, 32)
	assert.NilError(t, err)
	return desktop.WindowID(n)
}

// window finds the fixture's window in the list.
func window(t testing.TB, d *x11.Display, f *linuxtest.Fixture) desktop.WindowInfo {
	t.Helper()
	return windowByID(t, d, id(t, f))
}

func windowByID(t testing.TB, d *x11.Display, id desktop.WindowID) desktop.WindowInfo {
	t.Helper()
	windows, err := d.Windows(soon(t))
	assert.NilError(t, err)
	for _, w := range windows {
		if w.ID == id {
			return w
		}
	}
	t.Fatalf("0x%x is not in the list: %+v", uint64(id), windows)
	return desktop.WindowInfo{}
}

// await waits until ready returns true.
func await(t testing.TB, what string, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ready(); time.Sleep(10 * time.Millisecond) {
		assert.Assert(t, !time.Now().After(deadline), "it is still not so: %s", what)
	}
}

// minimize returns when the window manager has done it.
func minimize(t testing.TB, s *linuxtest.Session, d *x11.Display, id desktop.WindowID) {
	t.Helper()
	tool(t, s, nil, "xdotool", "windowminimize", strconv.FormatUint(uint64(id), 10))
	await(t, "it is minimized", func() bool { return windowByID(t, d, id).Minimized })
}

// fails checks the error of a call.
func fails(t testing.TB, err error, code aai.Code, delivery aai.Delivery, words ...string) {
	t.Helper()
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, "the error is %v, not one for callers", err)
	assert.Check(t, is.Equal(e.Code, code), err)
	assert.Check(t, is.Equal(e.Delivery, delivery), err)
	for _, word := range words {
		assert.Check(t, is.Contains(e.Message, word), "the message does not say %q: %s", word, e.Message)
	}
}

func rect(r linuxtest.Rect) desktop.Rect {
	return desktop.Rect{X: r.X, Y: r.Y, W: r.Width, H: r.Height}
}

// screenProcess returns the session's X server.
func screenProcess(t testing.TB, s *linuxtest.Session) int {
	t.Helper()
	for _, folder := range testkit.ProcessesWithEnv(t, "XDG_RUNTIME_DIR="+s.Runtime+"\x00") {
		if name, err := os.ReadFile(filepath.Join(folder, "comm")); err == nil && string(name) == "Xvfb\n" {
			pid, err := strconv.Atoi(filepath.Base(folder))
			assert.NilError(t, err)
			return pid
		}
	}
	t.Fatal("the session's X server was not found")
	return 0
}

// pause stops a process until proceed.
func pause(t testing.TB, pid int) {
	t.Helper()
	assert.NilError(t, syscall.Kill(pid, syscall.SIGSTOP))
	t.Cleanup(func() { proceed(t, pid) })
}

func proceed(t testing.TB, pid int) {
	t.Helper()
	assert.Check(t, syscall.Kill(pid, syscall.SIGCONT))
}
