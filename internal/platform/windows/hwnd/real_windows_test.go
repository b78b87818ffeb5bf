package hwnd_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows/registry"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/platform/windows/hwnd"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
	"github.com/gybob/aai-gateway/internal/platform/windows/wintree"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest"
)

// patience is the time that the tests wait for an effect. It expires only on failure.
const patience = time.Minute

// A program is a running program of the system, read by window messages.
type program struct {
	testing.TB
	tree *wintree.Tree
	app  desktop.App
}

// start starts a program and waits for its window.
func start(t *testing.T, name string, args ...string) *program {
	t.Helper()
	if !windowstest.IsWine() {
		t.Skip("the windows of these programs are those of Wine")
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	assert.NilError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its status does not matter
		close(ended)
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	p := &program{TB: t, tree: wintree.New(wintree.Config{Sources: []wintree.Source{hwnd.New(nil)}})}
	p.until(name+" has a window", func(ctx context.Context) bool {
		apps, err := p.tree.Apps(ctx)
		assert.NilError(t, err)
		i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == cmd.Process.Pid })
		if i >= 0 {
			p.app = apps[i]
		}
		return i >= 0
	})
	return p
}

// until waits until a condition is true.
func (p *program) until(what string, is func(context.Context) bool) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	for !is(ctx) {
		if ctx.Err() != nil {
			shot, _ := p.tree.Snapshot(p.Context(), p.app)
			for i := range shot.Elements {
				p.Logf("%+v", shot.Elements[i])
			}
			p.Fatalf("after %s: not yet: %s", patience, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// element waits for the first element of the program with the role and the name.
func (p *program) element(role desktop.Role, name string) (found desktop.Element) {
	p.Helper()
	p.until(fmt.Sprintf("there is a %s %q", role, name), func(ctx context.Context) bool {
		shot, err := p.tree.Snapshot(ctx, p.app)
		if err != nil {
			return false
		}
		desktoptest.WellFormed(p, shot)
		i := slices.IndexFunc(shot.Elements, func(e desktop.Element) bool { return e.Role == role && e.Name == name })
		if i >= 0 {
			found = shot.Elements[i]
		}
		return i >= 0
	})
	return found
}

func (p *program) act(e desktop.Element, act desktop.Act) {
	p.Helper()
	assert.NilError(p, p.tree.Execute(p.Context(), p.app, e.ID, act), desktop.Describe(&e))
}

// window returns the program's first top-level window.
func (p *program) window() win32.Window {
	for _, w := range win32.TopLevel() {
		if pid, _ := w.Process(); int(pid) == p.app.PID && w.IsVisible() {
			return w
		}
	}
	p.Fatal("the program has no window")
	return 0
}

// TestNotepad types a text and saves it through the question at the end and the dialog for files. The file on the disk is the judge.
func TestNotepad(t *testing.T) {
	p := start(t, "notepad.exe")
	assert.Equal(t, p.app.ID, "notepad")
	file := filepath.Join(t.TempDir(), "saved.txt")
	const text = "first line\nsecond line"
	p.act(p.element(desktop.Textbox, ""), desktop.Act{Verb: desktop.SetText, Text: text})
	assert.NilError(t, p.window().Post(0x0010, 0, 0)) // WM_CLOSE
	p.act(p.element(desktop.Button, "Yes"), desktop.Act{Verb: desktop.Press})
	p.act(p.fileName(), desktop.Act{Verb: desktop.SetText, Text: file})
	p.act(p.element(desktop.Button, "Save"), desktop.Act{Verb: desktop.Press})
	p.until("the file has the text", func(context.Context) bool {
		got, err := os.ReadFile(file)
		return err == nil && strings.TrimPrefix(string(got), "\uFEFF") == strings.ReplaceAll(text, "\n", "\r\n")
	})
}

// fileName waits for the field of the dialog for files.
func (p *program) fileName() (field desktop.Element) {
	p.Helper()
	p.until("the dialog asks for a name", func(ctx context.Context) bool {
		shot, err := p.tree.Snapshot(ctx, p.app)
		if err != nil {
			return false
		}
		for i, e := range shot.Elements {
			if strings.HasPrefix(e.Name, "File name") && e.States.Has(desktop.Editable) && shot.IsVisible(i) {
				field = e
				return true
			}
		}
		return false
	})
	return field
}

// TestRegedit finds a value that the test wrote to the registry.
func TestRegedit(t *testing.T) {
	key, _, err := registry.CreateKey(registry.CURRENT_USER, `Software\AaiTest`, registry.ALL_ACCESS)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = registry.DeleteKey(registry.CURRENT_USER, `Software\AaiTest`) })
	assert.NilError(t, key.SetStringValue("Colour", "blue é"))
	assert.NilError(t, key.Close())
	p := start(t, "regedit.exe")
	for _, name := range []string{"HKEY_CURRENT_USER", "Software"} {
		e := p.element(desktop.TreeItem, name)
		p.act(e, desktop.Act{Verb: desktop.ScrollTo})
		if !e.States.Has(desktop.Expanded) {
			p.until(name+" shows", func(ctx context.Context) bool {
				e, err = p.tree.Read(ctx, p.app, e.ID)
				return err == nil && e.States.Has(desktop.Showing)
			})
			p.act(e, desktop.Act{Verb: desktop.Press})
		}
	}
	p.act(p.element(desktop.TreeItem, "AaiTest"), desktop.Act{Verb: desktop.ScrollTo})
	p.act(p.element(desktop.TreeItem, "AaiTest"), desktop.Act{Verb: desktop.SelectItem})
	row := p.element(desktop.Row, "Colour")
	cell := p.element(desktop.Cell, "blue é")
	assert.Check(t, row.Frame.Intersect(cell.Frame) == cell.Frame, "the cell is at %v, its row at %v", cell.Frame, row.Frame)
	p.act(row, desktop.Act{Verb: desktop.SelectItem})
	p.until("the row is selected", func(ctx context.Context) bool {
		e, err := p.tree.Read(ctx, p.app, row.ID)
		return err == nil && e.States.Has(desktop.Selected)
	})
}

// TestWinecfg changes a setting in a property sheet. The registry is the judge.
func TestWinecfg(t *testing.T) {
	p := start(t, "winecfg.exe")
	p.act(p.element(desktop.Tab, "Libraries"), desktop.Act{Verb: desktop.SelectItem})
	p.until("the tab is selected", func(context.Context) bool { return p.element(desktop.Tab, "Libraries").States.Has(desktop.Selected) })
	p.act(p.element(desktop.Tab, "Applications"), desktop.Act{Verb: desktop.SelectItem})
	for _, version := range []struct{ name, build string }{{"Windows 8.1", "9600"}, {"Windows 10", "19043"}} {
		p.act(p.element(desktop.Option, version.name), desktop.Act{Verb: desktop.SelectItem})
		p.until("the change can be applied", func(context.Context) bool { return p.element(desktop.Button, "Apply").States.Has(desktop.Enabled) })
		p.act(p.element(desktop.Button, "Apply"), desktop.Act{Verb: desktop.Press})
		p.until("the registry has the version", func(context.Context) bool {
			key, err := registry.OpenKey(registry.LOCAL_MACHINE, `Software\Microsoft\Windows NT\CurrentVersion`, registry.QUERY_VALUE)
			assert.NilError(t, err)
			defer key.Close() //nolint:errcheck // it was only read
			build, _, err := key.GetStringValue("CurrentBuild")
			return err == nil && build == version.build
		})
	}
}
