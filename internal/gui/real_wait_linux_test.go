package gui_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/process"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// stepsPage has a button "Next" that executes one step after the other, like the programs steps_*.py.
const (
	stepsPage = `<p id="saved" hidden>Saved</p><input aria-label="Name" id="name"><label><input type="checkbox" id="agree">Agree</label>
<button id="send" disabled>Send</button><button id="next">Next</button><script>
const of = (id) => document.getElementById(id);
const steps = [() => of("saved").hidden = false, () => of("saved").hidden = true, () => of("name").value = "Ann", () => of("agree").checked = true, () => of("send").disabled = false, () => of("send").remove()];
of("next").onclick = () => steps.shift()();
</script>`
)

// stepsWorld opens the window.
func (w *realWorld) stepsWorld(kind linuxtest.Kind) (app string) {
	w.Helper()
	if kind == linuxtest.Chromium {
		app, _ = w.webPage(web(stepsPage))
		return app
	}
	return w.python("steps_"+string(kind)+".py", "button Next")
}

// TestRealWait: in each toolkit a wait ends when its condition holds, which another call causes
// meanwhile.
func TestRealWait(t *testing.T) {
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.Qt6, linuxtest.Chromium} {
		t.Run(string(kind), func(t *testing.T) {
			w := parallelWorld(t)
			app := w.stepsWorld(kind)
			next := w.ok("ax_find", params{"app": app, "query": "button Next"}).data["element_ref"]
			for _, step := range []struct {
				p    params
				says string
			}{
				{params{"query": "Saved"}, `"Saved" [e`},
				{params{"query": "Saved", "until": "vanishes"}, "Gone after"},
				{params{"query": "textbox Name", "until": "value", "value": "Ann"}, `"Name" [e`},
				{params{"query": "checkbox Agree", "until": "state", "state": "checked"}, `"Agree" [e`},
				{params{"query": "button Send", "until": "state", "state": "enabled"}, `"Send" [e`},
				{params{"query": "button Send", "until": "vanishes"}, "Gone after"},
			} {
				step.p["app"], step.p["timeout_ms"] = app, 60000
				waits := make(chan bool)
				hears := sync.OnceFunc(func() { close(waits) })
				ctx := gateway.WithProgress(w.Context(), func(float64, float64, string) { hears() })
				var all sync.WaitGroup
				all.Go(func() {
					result, err := w.do(ctx, "ax_wait", step.p)
					if hears(); err != nil {
						t.Errorf("%v: %v; candidates %q", step.p, err, err.Candidates)
						return
					}
					w.says(result.Text, step.says)
				})
				<-waits // the condition does not hold yet
				_, err := w.do(w.Context(), "ax_click", params{"app": app, "query": next})
				if err != nil && step.p["query"] != "button Send" { // the last one ends the program
					t.Errorf("before %v: %v", step.p, err)
				}
				all.Wait()
			}
		})
	}
}

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
