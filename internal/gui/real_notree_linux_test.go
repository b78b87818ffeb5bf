package gui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

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
	t.Parallel()
	w := newRealWorld(t)
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
	t.Parallel()
	w := newRealWorld(t)
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
