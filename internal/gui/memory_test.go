package gui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// atTerminal returns a function that makes a world like a terminal command: a new process on the
// same desktop and folder.
func atTerminal(t *testing.T, d *fakedesktop.Desktop) (command func() *world, folder string) {
	folder = filepath.Join(t.TempDir(), "refs")
	return func() *world {
		w := &world{
			T: t, d: d, record: &record{}, caller: aai.Caller{Door: aai.DoorCLI, Name: "terminal"},
			app: gui.New(gui.Config{Open: func() desktop.Backend { return d.Backend() }, RefsFolder: folder}),
		}
		w.gateway = &gateway.Gateway{Catalog: catalog{w.app}, Gates: []aai.Gate{admitAll{w.record}}, Journal: w.record}
		return w
	}, folder
}

// refOf returns the ref in the first line that contains thing.
func refOf(t *testing.T, text, thing string) string {
	t.Helper()
	_, after, found := strings.Cut(text, thing)
	ref, _, closed := strings.Cut(strings.TrimPrefix(after, " ["), "]")
	assert.Assert(t, found, "%s %s", thing, text)
	assert.Assert(t, closed, "%s %s", thing, text)
	return ref
}

// TestTerminalRemembers: a ref of one command is valid in the next ones for an hour, and its number
// is not reused.
func TestTerminalRemembers(t *testing.T) {
	d := fakedesktop.New()
	command, folder := atTerminal(t, d)
	f := form(command())
	box := refOf(t, command().ok("ax_get_tree", `{"app": "Form"}`).Text, `textbox "Full name"`)
	command().ok("ax_type", `{"app": "Form", "query": "`+box+`", "text": "Ada"}`)
	got := command().ok("ax_get_value", `{"app": "Form", "query": "`+box+`"}`)
	assert.Check(t, is.Equal(got.data["value"], "Ada"), "%s %v", box, got.data)
	f.Main.Button("New one", nil)
	ref := refOf(t, command().ok("ax_get_tree", `{"app": "Form"}`).Text, `"New one"`)
	assert.Check(t, ref != box, "%s was given twice", ref)

	files, err := filepath.Glob(filepath.Join(folder, "*-*.json")) // not the fields for passwords
	assert.NilError(t, err)
	assert.Assert(t, is.Len(files, 1))
	data, err := os.ReadFile(files[0])
	assert.NilError(t, err, data)
	assert.Assert(t, !strings.Contains(string(data), "Ada"), "what was typed is kept: %s, %v", data, err)
	for path, want := range map[string]os.FileMode{files[0]: 0o600, files[0] + ".lock": 0o600, folder: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	old := time.Now().Add(-61 * time.Minute)
	assert.NilError(t, os.Chtimes(files[0], old, old))
	command().fails(aai.StaleRef, "ax_get_value", `{"app": "Form", "query": "`+box+`"}`)
	again := refOf(t, command().ok("ax_get_tree", `{"app": "Form"}`).Text, `textbox "Full name"`)
	assert.Check(t, again != box, "%s was given again after an hour", again)
}

// TestTerminalProgramBegunAnew: a ref of a program that has ended is stale in the same program
// after a restart, even after a read.
func TestTerminalProgramBegunAnew(t *testing.T) {
	d := fakedesktop.New()
	command, _ := atTerminal(t, d)
	begin := func(label string) *fakedesktop.Program {
		p := d.Program("Notes")
		p.Window("Notes").Button(label, func() { t.Errorf("%s was pressed", label) })
		return p
	}
	p := begin("Dead")
	dead := refOf(t, command().ok("ax_get_tree", `{"app": "Notes"}`).Text, `"Dead"`)
	p.Quit()
	begin("Zebra")
	for range 2 {
		command().fails(aai.StaleRef, "ax_click", `{"app": "Notes", "query": "`+dead+`"}`)
		assert.Check(t, refOf(t, command().ok("ax_get_tree", `{"app": "Notes"}`).Text, `"Zebra"`) != dead, "%s was given again", dead)
	}
}

// TestTerminalForgets: an hour after the last command on a program, a command on another one
// removes its names, and after a week its file.
func TestTerminalForgets(t *testing.T) {
	d := fakedesktop.New()
	command, folder := atTerminal(t, d)
	form(command())
	d.Fixture("Other")
	command().ok("ax_get_tree", `{"app": "Form"}`)
	files, err := filepath.Glob(filepath.Join(folder, "*-*.json")) // not the fields for passwords
	assert.NilError(t, err)
	assert.Assert(t, is.Len(files, 1))
	age := func(hours int) {
		t.Helper()
		old := time.Now().Add(-time.Duration(hours) * time.Hour)
		assert.NilError(t, os.Chtimes(files[0], old, old))
		command().ok("ax_get_tree", `{"app": "Other"}`)
	}
	age(2)
	data, err := os.ReadFile(files[0])
	assert.NilError(t, err, data)
	assert.Assert(t, !strings.Contains(string(data), "Full name"), "after two hours there is %s, %v", data, err)
	assert.Assert(t, is.Contains(string(data), `"last"`), data)
	age(24 * 8)
	if _, err := os.Stat(files[0]); !os.IsNotExist(err) {
		t.Errorf("after a week there is %s, %v", files[0], err)
	}
}

// TestTerminalCannotRemember: the error names a broken file, and nothing is done.
func TestTerminalCannotRemember(t *testing.T) {
	d := fakedesktop.New()
	command, folder := atTerminal(t, d)
	f := form(command())
	command().ok("ax_get_tree", `{"app": "Form"}`)
	files, _ := filepath.Glob(filepath.Join(folder, "*-*.json")) // not the fields for passwords
	assert.NilError(t, os.WriteFile(files[0], []byte("{"), 0o600))
	err := command().failure(aai.AutomationFailed, "ax_click", `{"app": "Form", "query": "Press"}`)
	assert.Assert(t, is.Contains(err.Message, files[0]), err)
	assert.Equal(t, err.Delivery, aai.NotDelivered, err)
	n := f.State()["presses"]
	assert.Check(t, n == nil || n == 0.0, "it was pressed")
}

// TestTerminalAtOnce: concurrent commands give each element a unique ref.
func TestTerminalAtOnce(t *testing.T) {
	d := fakedesktop.New()
	command, _ := atTerminal(t, d)
	form(command())
	names := []string{"Press", "Disabled", "Slow", "Dead", "Agree", "Full name", "Notes", "Shuffle"}
	told := make(chan string, len(names))
	for _, name := range names {
		go func() {
			result, err := command().do("ax_find", `{"app": "Form", "query": "`+name+`"}`)
			if err != nil {
				told <- err.Error()
				return
			}
			told <- fmt.Sprint(name, " ", asJSON(t, result.Data)["element_ref"])
		}()
	}
	whose := map[string]string{}
	for range names {
		said := <-told
		i := strings.LastIndex(said, " ")
		assert.Check(t, is.Equal(whose[said[i:]], ""), said)
		assert.Check(t, refs.Is(said[i+1:]), said)
		whose[said[i:]] = said
	}
}
