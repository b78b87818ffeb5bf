package gui_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/process"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// editor is a real editor with unsaved text, while another accessibility client listens to
// everything.
type editor struct {
	*realWorld
	app, file, title string
}

func openEditor(t *testing.T) editor {
	t.Helper()
	e := editor{realWorld: ownWorld(t), file: filepath.Join(t.TempDir(), "a.txt")}
	assert.NilError(t, os.WriteFile(e.file, nil, 0o600))
	listens := filepath.Join(t.TempDir(), "listens")
	e.Launch(t, "/usr/bin/python3", programFile(t, "listener.py"), listens)
	e.eventually("another client listens", func() bool { _, err := os.Stat(listens); return err == nil })
	e.app = e.process(e.Launch(t, "mousepad", e.file))
	e.eventually("the editor has the keyboard", func() bool { e.title = e.ActiveWindow(t); return e.title != "" })
	return e
}

// types types as a person does.
func (e editor) types(keys ...string) {
	e.Helper()
	assert.NilError(e, e.Launch(e.T, "xdotool", append([]string{"key", "--delay", "20"}, keys...)...).Wait(e.T))
}

// opens opens the dialog by its menu item; the program uses gtk_dialog_run.
func (e editor) opens(item, title string) {
	e.Helper()
	e.ok("ax_click", params{"app": e.app, "query": item})
	e.eventually(title+" has the keyboard", func() bool { return e.ActiveWindow(e.T) == title })
}

func (e editor) closed(title string) {
	e.Helper()
	e.eventually(title+" is closed, and the editor has the keyboard", func() bool {
		active := e.ActiveWindow(e.T)
		return active == e.title || active == "*"+e.title
	})
}

// saved waits until the file has the text, after the person has saved it.
func (e editor) saved(want string) {
	e.Helper()
	e.types("ctrl+s")
	e.eventually("what was typed is in the file: "+want, func() bool {
		text, err := os.ReadFile(e.file)
		return err == nil && string(text) == want
	})
}

// TestKeysIntoADialogThatIsRun: a dialog that we opened accepts the person's keys, whatever
// requests the program gets meanwhile, and no key is lost.
func TestKeysIntoADialogThatIsRun(t *testing.T) {
	e := openEditor(t)
	e.types("a", "b")
	for _, dialog := range []struct{ item, title, end string }{
		{"Save As...", "Save As", "Cancel"}, {"Open...", "Open File", "Cancel"}, {"About", "About Mousepad", "Close"},
	} {
		e.opens(dialog.item, dialog.title)
		e.types("x", "Tab")
		e.shown(e.app)
		e.types("Tab")
		if dialog.title == "Save As" {
			e.done("ax_set_value", params{"app": e.app, "query": "role:textbox title:Name", "value": "other.txt"})
			e.types("Tab", "Tab")
		}
		e.done("ax_click", params{"app": e.app, "query": "button " + dialog.end})
		e.closed(dialog.title)
	}
	e.types("c")
	e.saved("abc")
}

// TestKeysIntoADialogThatOutlivesUs: so does one that stays open after the gateway that opened it
// has ended.
func TestKeysIntoADialogThatOutlivesUs(t *testing.T) {
	e := openEditor(t)
	e.types("a")
	t.Run("gateway", func(t *testing.T) {
		other := e
		other.realWorld = joined(t, e.Session, e.Getenv)
		other.opens("Save As...", "Save As")
	})
	e.types("x", "Tab", "Escape")
	e.closed("Save As")
	e.types("b")
	e.saved("ab")
}

// TestPressedOverTheBusAlone: if a program's own socket is unreachable, as in some sandboxes, the
// reply contains a warning.
func TestPressedOverTheBusAlone(t *testing.T) {
	e := openEditor(t)
	e.shown(e.app)
	sockets, err := filepath.Glob(filepath.Join(e.Runtime, "at-spi2-socket-*"))
	if err != nil || len(sockets) == 0 {
		t.Fatalf("the program has no socket of its own in %s: %v", e.Runtime, err)
	}
	for _, socket := range sockets {
		assert.NilError(t, os.Remove(socket))
	}
	a := e.ok("ax_click", params{"app": e.app, "query": "About"})
	e.says(a.Text, "over the bus")
	e.says(a.Warning, "may hang at the next key")
	e.ok("ax_click", params{"app": e.app, "query": "button Close"})
	e.closed("About Mousepad")
}

// TestKeysIntoADialogOfWhoWasKilled: and after the gateway was killed, without any cleanup.
func TestKeysIntoADialogOfWhoWasKilled(t *testing.T) {
	if app := os.Getenv("AAI_TEST_OPENS"); app != "" {
		w := joined(t, &linuxtest.Session{}, os.Getenv)
		w.ok("ax_click", params{"app": app, "query": "Save As..."})
		_, _ = os.Stdout.WriteString("opened\n")
		select {}
	}
	e := openEditor(t)
	e.types("a")
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run", t.Name())
	other.Env = append(slices.Clone(e.Env), "AAI_TEST_OPENS="+e.app)
	assert.NilError(t, other.Start())
	e.eventually("the dialog has the keyboard", func() bool { return e.ActiveWindow(t) == "Save As" })
	e.eventually("the connection is held", func() bool { return holds(t, other.Process.Pid) })
	_ = other.Process.Kill()
	_ = other.Wait()
	e.types("x", "Tab", "Escape")
	e.closed("Save As")
	e.types("b")
	e.saved("ab")
}

// holds reports whether the process has a child that holds a connection for others.
func holds(t *testing.T, pid int) bool {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	assert.NilError(t, err)
	for _, name := range names {
		if line, err := os.ReadFile(name); err != nil || string(line) != "/bin/cat\x00" {
			continue
		}
		holder, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if in, err := os.Readlink(filepath.Join(filepath.Dir(name), "fd", "0")); err == nil && strings.HasPrefix(in, "socket:") && process.ParentPID(holder) == pid {
			return true
		}
	}
	return false
}
