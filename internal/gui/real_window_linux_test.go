package gui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealWindowTool: windows are minimized, restored, raised, activated and closed; the window
// system confirms it, and only activate takes the person's focus.
func TestRealWindowTool(t *testing.T) {
	w := parallelWorld(t)
	f, app := w.open(linuxtest.GTK3)
	p := w.somebody()
	does := func(action string) answer {
		t.Helper()
		a := w.ok("ax_window", params{"app": app, "action": action})
		assert.Check(t, is.Equal(a.data["done"], true), "%s %s %v", action, a.Text, a.data)
		return a
	}
	listed := func() map[string]any {
		rows, _ := w.ok("ax_list_windows", params{"app": app}).data["windows"].([]any)
		row, _ := rows[0].(map[string]any)
		return row
	}
	does("minimize")
	assert.Check(t, is.Equal(listed()["minimized"], true), "it is not minimized: %v", listed())
	w.says(does("minimize").Text, "is in this state already")
	does("restore")
	assert.Check(t, listed()["minimized"] != true, "it is minimized: %v", listed())
	p.undisturbed(t)
	w.Cover(t, f)
	does("raise")
	assert.Check(t, is.Equal(listed()["covered"], 0.0), "it is covered: %v", listed())
	does("activate")
	w.eventually("it has the focus", func() bool { return w.ActiveWindow(t) == f.Title })
	e := w.refused(aai.ElementNotFound, "ax_window", params{"app": app, "action": "close", "window": "Nothing"})
	w.says(strings.Join(e.Candidates, " "), f.Title)
	p.back(t)
	does("close")
	<-f.Done()
}

// TestRealWindowThatAsks: a window with unsaved changes asks instead of closing, and closing it is
// judged as irreversible.
func TestRealWindowThatAsks(t *testing.T) {
	w := parallelWorld(t)
	file := filepath.Join(w.Home, "a.txt")
	assert.NilError(t, os.WriteFile(file, []byte("a"), 0o600))
	app := w.process(w.Launch(t, "mousepad", "--disable-server", file))
	w.awaitElement(app, "role:textbox")
	closing := params{"app": app, "action": "close"}
	assert.Assert(t, w.destroys(closing), "to close a window may destroy, to minimize it does not")
	assert.Assert(t, !w.destroys(params{"app": app, "action": "minimize"}), "to close a window may destroy, to minimize it does not")
	w.ok("ax_type", params{"app": app, "query": "role:textbox", "text": "b"})
	a := w.ok("ax_window", closing)
	assert.Equal(t, a.data["done"], false, "%v %q", a.data, a.Warning)
	assert.Assert(t, is.Contains(a.Text, "asks"), "%v %q", a.data, a.Warning)
	assert.Assert(t, a.Warning != "", "%v %q", a.data, a.Warning)
}

// destroys reports whether a call of ax_window is judged as irreversible.
func (w *realWorld) destroys(p params) bool {
	w.Helper()
	call := &aai.Call{App: w.tools.ID, Tool: "ax_window", Args: p}
	target, err := w.tools.Operator.FindTarget(w.Context(), call, p["app"].(string))
	assert.NilError(w, err)
	call.Target = target
	return w.tools.Operator.ResolveTarget(w.Context(), call).Irreversible
}

// TestRealNoWindowManager: without a window manager the tool returns an error that says so.
func TestRealNoWindowManager(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	_, app := w.open(linuxtest.GTK3)
	for _, p := range w.Programs() {
		if p.Name != "openbox" {
			continue
		}
		assert.NilError(t, p.End())
	}
	e := w.refused(aai.AutomationNotSupported, "ax_window", params{"app": app, "action": "minimize"})
	w.says(e.Message, "no window manager")
	assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered), "%+v", e)
	assert.Check(t, e.Hint != "", "%+v", e)
}

// heardIn opens an xterm with a program that receives clicks, prints its input and logs it to a
// file: a window without a tree.
func (w *realWorld) heardIn(title string) (heard func() string) {
	w.Helper()
	file := filepath.Join(w.TempDir(), "heard")
	w.Launch(w.T, "xterm", "-T", title, "-geometry", "80x20+100+80", "-e", "sh", "-c", `stty raw -echo; printf '\033[?1002h'; tee `+file+` | cat -v`)
	w.eventually("the program in it listens", func() bool { _, err := os.Stat(file); return err == nil })
	_ = w.windowCalled(title)
	return func() string {
		text, err := os.ReadFile(file)
		if err != nil {
			return ""
		}
		return string(text)
	}
}

// TestRealWindowWithoutATree: the window is clicked, dragged and scrolled at points of its
// screenshot, also of a scaled one and after a move, and typed into. The screenshot shows the
// effect; the program's log confirms it.
func TestRealWindowWithoutATree(t *testing.T) {
	w := parallelWorld(t)
	heard := w.heardIn("listens")
	e := w.refused(aai.InvalidParams, "ax_click_at", params{"app": "xterm", "x": 1, "y": 1, "in_picture": true, "mode": "focus"})
	w.says(e.Hint, "ax_screenshot")
	picture := w.ok("ax_screenshot", params{"app": "xterm", "max_side": 160})
	width, height := whole(picture.data["width"]), whole(picture.data["height"])
	for _, move := range []string{"100", "200"} {
		w.run("xdotool", "search", "--name", "^listens$", "windowmove", "--sync", move, move)
		before := len(heard())
		a := w.done("ax_click_at", params{"app": "xterm", "x": width / 4, "y": height / 2, "in_picture": true, "mode": "focus"})
		w.says(a.Text, "What changed: its picture")
		w.eventually("the click is heard", func() bool { return len(heard()) >= before+12 })
		at := heard()[before:] // ESC [ M, and the button, column and row from 32
		assert.Check(t, is.Equal(at[:4], "\x1b[M "), "%q", at)
		assert.Check(t, at[4]-32 >= 18, "it heard %q", at)
		assert.Check(t, at[4]-32 <= 22, "it heard %q", at)
		assert.Check(t, at[5]-32 >= 9, "it heard %q", at)
		assert.Check(t, at[5]-32 <= 12, "it heard %q", at)
	}
	before := len(heard())
	w.done("ax_scroll", params{"app": "xterm", "x": width / 2, "y": height / 2, "in_picture": true, "direction": "up", "mode": "focus"})
	w.eventually("the wheel is heard", func() bool { return strings.Contains(heard()[before:], "\x1b[M`") })
	w.done("ax_drag", params{"app": "xterm", "from_x": width / 4, "from_y": height / 2, "to_x": width / 2, "to_y": height / 2, "in_picture": true, "mode": "focus"})
	w.eventually("the movement is heard", func() bool { return strings.Contains(heard(), "\x1b[M@") })
	w.done("ax_key_press", params{"app": "xterm", "key": "x", "mode": "focus"})
	w.done("ax_type", params{"app": "xterm", "text": unicode, "submit": true, "mode": "focus"})
	w.eventually("the keys are heard", func() bool { return strings.HasSuffix(heard(), "x"+unicode+"\r") })
	on := w.record.last(aai.Outcome).Element
	assert.Check(t, is.Equal(on.Window, "listens"), "%+v", on)
	assert.Check(t, on.UnknownEffect, "on record is %+v", on)
	e = w.refused(aai.AutomationNotSupported, "ax_click", params{"app": "xterm", "query": "button OK"})
	w.says(fmt.Sprint(e, e.Hint), "no tree", "ax_click_at")
}

// TestRealWindowWithoutATreeThatDoesNothing: a missing effect is reported, and a window that closes
// is a change.
func TestRealWindowWithoutATreeThatDoesNothing(t *testing.T) {
	w := parallelWorld(t)
	w.Launch(t, "xterm", "-T", "starts", "-e", "sh", "-c", `stty -echo; printf '\033]2;deaf\007'; read line`)
	_ = w.windowCalled("deaf")
	a := w.ok("ax_key_press", params{"app": "xterm", "key": "x", "mode": "focus"})
	w.says(a.Warning, "its picture did not change")
	assert.Check(t, is.Equal(at(a.data, "verified"), false), "it says %v", a.data)
	a = w.done("ax_key_press", params{"app": "xterm", "key": "return", "mode": "focus"})
	w.says(a.Text, `the window "deaf" is gone`)
}

// TestRealLaunchWithoutATree: a program without a tree starts, and is connected when its window
// shows.
func TestRealLaunchWithoutATree(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	a := w.ok("ax_connect", params{"app": "xterm", "launch": true, "arguments": []any{"-T", "launched", "-e", "sh", "-c", "stty -echo; read line"}})
	w.says(a.Text, "1 window")
	w.says(a.Warning, "shows no tree")
	a = w.done("ax_key_press", params{"app": fmt.Sprint(whole(a.data["pid"])), "key": "return", "mode": "focus"})
	w.says(a.Text, `the window "launched" is gone`)
}

// TestRealLockIsAGuard: an unknown screen lock is recognized by a window over the whole screen,
// past the window manager. The same program with another window is no lock.
func TestRealLockIsAGuard(t *testing.T) {
	w := newRealWorld(t)
	w.gateway.Gates = []aai.Gate{risk.ProtectedWindows{}}
	popup := func(width, height string) string {
		return strconv.Itoa(w.script("popup.py", "0", "0", width, height).PID)
	}
	for pid, want := range map[string]aai.Code{popup("1600", "1000"): aai.PermissionDenied, popup("300", "200"): ""} {
		for until := time.Now().Add(realPatience); ; time.Sleep(50 * time.Millisecond) {
			_, err := w.do(t.Context(), "ax_get_tree", params{"app": pid})
			var got aai.Code
			if err != nil {
				got = err.Code
			}
			if got == want {
				break
			}
			if time.Now().After(until) {
				t.Errorf("it ends with %q, want %q: %v", got, want, err)
				break
			}
		}
	}
}

// TestRealLaunch: a program is connected however it starts: one that hands a second document to the
// running one, itself or through scripts, and one without a tree.
func TestRealLaunch(t *testing.T) {
	const sheet = "ID;PWXL;N;E\nC;Y1;X1;K1\nE\n" // in SYLK, which opens without a question
	for name, args := range map[string][]any{
		"mousepad": {},
		"kate":     {}, // started with an option to wait until the file is closed
		"soffice":  {"--norestore", "--nologo", "-env:UserInstallation=file://" + filepath.Join(t.TempDir(), "office")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := ownWorld(t)
			ahead := w.target(name, true)
			open := func(file string) answer {
				path := filepath.Join(w.Home, file)
				assert.NilError(t, os.WriteFile(path, []byte(sheet), 0o600))
				return w.ok("ax_connect", params{"app": name, "launch": true, "arguments": append(args[:len(args):len(args)], path)})
			}
			first := open("first.slk")
			now := w.target(name, false)
			assert.Check(t, name != "mousepad" || now.Digest == ahead.Digest, "as it is installed it is %+v, as it runs %+v", ahead, now)
			second := open("second.slk")
			w.says(second.Text, "It ran already")
			if second.data["pid"] != first.data["pid"] || strings.Contains(first.Text, "It ran already") {
				t.Errorf("%s\n%s", first.Text, second.Text)
			}
		})
	}
	t.Run("chromium", func(t *testing.T) { // a script starts it, and a second page is a tab
		t.Parallel()
		w := ownWorld(t)
		profile := w.Path("tmp", "second")
		t.Cleanup(func() { endThose(t, profile) })
		open := func(page string) answer {
			return w.ok("ax_connect", params{"app": "chromium", "launch": true, "arguments": []any{"--no-sandbox", "--no-first-run", "--password-store=basic", "--force-renderer-accessibility", "--disable-gpu",
				"--disable-background-networking", "--user-data-dir=" + profile, "data:text/html,<title>" + page + "</title>"}})
		}
		first := open("one")
		second := open("two")
		w.says(second.Text, "It ran already")
		assert.Check(t, is.Equal(first.data["pid"], second.data["pid"]), "%s %s", first.Text, second.Text)
		for _, tab := range []string{"one", "two"} {
			w.eventually("there is a tab "+tab, func() bool {
				_, err := w.do(w.Context(), "ax_find", params{"app": fmt.Sprint(first.data["pid"]), "query": "role:tab title:" + tab})
				return err == nil
			})
		}
	})
	t.Run("xterm", func(t *testing.T) {
		t.Parallel()
		w := ownWorld(t)
		a := w.ok("ax_connect", params{"app": "xterm", "launch": true})
		w.says(a.Warning, "shows no tree")
	})
}

// target returns the program as gates see it: the installed one, or the running one.
func (w *realWorld) target(name string, installed bool) *aai.App {
	w.Helper()
	args := map[string]any{}
	if installed {
		args = map[string]any{"launch": true, "arguments": []any{}}
	}
	app, err := w.tools.Operator.FindTarget(w.Context(), &aai.Call{Caller: w.caller, Tool: "ax_connect", Args: args}, name)
	assert.NilError(w, err)
	return app
}

// endThose ends the processes with the text in their arguments: a browser's may outlive the screen.
func endThose(t *testing.T, argument string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	assert.NilError(t, err)
	for _, line := range lines {
		text, err := os.ReadFile(line)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(line)))
		if err == nil && pid > 1 && strings.Contains(string(text), argument) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// TestRealCloseUnderMenu: a window is not closed under its open menu.
func TestRealCloseUnderMenu(t *testing.T) {
	w := parallelWorld(t)
	app := w.python("openmenu.py", "More")
	w.done("ax_click", params{"app": app, "query": "More", "mode": "focus"})
	e := w.refused(aai.AutomationFailed, "ax_window", params{"app": app, "action": "close"})
	w.says(e.Message, "is open")
	w.says(e.Hint, "escape")
	w.ok("ax_key_press", params{"app": app, "key": "escape", "mode": "focus"})
	w.ok("ax_window", params{"app": app, "action": "close"})
}
