package descriptors_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/descriptors"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/drivers/dbus"
	"github.com/gybob/aai-gateway/internal/schema"
)

// source returns the descriptor of an app.
func source(t testing.TB, id string) []byte {
	t.Helper()
	text, err := fs.ReadFile(descriptors.FS(), id+"/aai.json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// parse parses the descriptor as the gateway does on Linux, with the real driver, which does
// nothing before the first call.
func parse(t testing.TB, id string) *catalog.Descriptor {
	t.Helper()
	driver := dbus.New(dbus.Config{AllowSystemBus: true})
	d, err := catalog.Parse(source(t, id), catalog.Options{
		HostPlatform: "linux", Drivers: map[string]aai.Driver{"dbus": driver, "ipc": driver},
	})
	if err != nil {
		t.Fatalf("%v\n%v", err, aai.AsError(err).Err)
	}
	return d
}

func toolNames(app *aai.App) []string {
	names := make([]string, len(app.Tools))
	for i, tool := range app.Tools {
		names[i] = tool.Name
	}
	return names
}

// The embedded files are all files of the folders.
func TestFilesAreThoseOfTheFolders(t *testing.T) {
	found, err := filepath.Glob("*/aai.json")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, name := range found {
		id := filepath.Dir(name)
		ids = append(ids, id)
		onDisk, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(onDisk), string(source(t, id))); diff != "" {
			t.Errorf("%s is not what is embedded:\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(ids, descriptors.IDs()); diff != "" || len(ids) == 0 {
		t.Errorf("IDs are not the folders:\n%s", diff)
	}
}

func TestDescriptorsAreRight(t *testing.T) {
	for _, id := range descriptors.IDs() {
		t.Run(id, func(t *testing.T) {
			d := parse(t, id)
			if d.App.ID != id {
				t.Errorf("the folder is %s, the appId %s", id, d.App.ID)
			}
			for _, warning := range d.Warnings {
				t.Errorf("warning: %s", warning)
			}
			if len(d.App.Tools) == 0 {
				t.Error("there are no tools")
			}
			for _, tool := range d.App.Tools {
				checkTool(t, tool)
			}
		})
	}
}

func checkTool(t *testing.T, tool *aai.Tool) {
	t.Helper()
	if tool.Run == nil {
		t.Errorf("%s: the driver made no action of it", tool.Name)
	}
	if err := schema.Compile(tool.Params); err != nil {
		t.Errorf("%s: parameters: %v", tool.Name, err)
	}
	if err := schema.Compile(tool.Returns); err != nil {
		t.Errorf("%s: returns: %v", tool.Name, err)
	}
	if tool.Params.Source == nil {
		t.Errorf("%s: expected parameters", tool.Name)
	}
	if tool.Limits.Timeout > aai.DefaultTimeout || tool.Limits.Timeout < time.Second {
		t.Errorf("%s: a timeout of %s", tool.Name, tool.Limits.Timeout)
	}
}

// Every tool declares its effect, so that no default applies.
func TestEveryToolSaysItsEffect(t *testing.T) {
	for _, id := range descriptors.IDs() {
		var d struct {
			Platforms map[string]struct {
				Tools []struct{ Name, Effect string }
			}
			Tools []struct{ Name, Effect string } // in the other form
		}
		if err := json.Unmarshal(source(t, id), &d); err != nil {
			t.Fatal(err)
		}
		for _, tool := range append(d.Platforms["linux"].Tools, d.Tools...) {
			if !slices.Contains([]string{"reads", "changes", "destroys"}, tool.Effect) {
				t.Errorf("%s %s: effect %q", id, tool.Name, tool.Effect)
			}
		}
	}
}

// The tools of all apps and their effects, so that no change goes unnoticed. UPDATE_GOLDEN=1
// writes the list.
func TestToolsAreThoseOfTheList(t *testing.T) {
	const golden = "testdata/tools.txt"
	var got strings.Builder
	for _, id := range descriptors.IDs() {
		for _, tool := range parse(t, id).App.Tools {
			fmt.Fprintf(&got, "%s %s %s\n", id, tool.Name, tool.Effect)
		}
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the list says - but the descriptors +:\n%s", diff)
	}
}

// packages lists the packages in packages.txt, for the error about a missing program.
func packages(t testing.TB) []string { return packagesOf(t, "packages.txt") }

// packagesOf lists the packages in a file.
func packagesOf(t testing.TB, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, "#")
		names = append(names, strings.Fields(name)...)
	}
	return names
}

func TestPackagesAreListedOnce(t *testing.T) {
	names := append(packages(t), packagesOf(t, "more-packages.txt")...)
	slices.Sort(names)
	if once := slices.Compact(slices.Clone(names)); len(once) != len(names) || len(names) == 0 {
		t.Errorf("some are there twice, or none: %v", names)
	}
}

// The README's table lists every app with all its tools, in order, and packages of packages.txt.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	told, listed := map[string][]string{}, append(packages(t), packagesOf(t, "more-packages.txt")...)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		id := strings.Trim(cells[1], " `")
		told[id] = strings.Split(strings.TrimSpace(cells[5]), ", ")
		for word := range strings.FieldsFuncSeq(cells[2], func(r rune) bool { return strings.ContainsRune(" ,;", r) }) {
			if word == "for" || word == "(or" { // the rest is a remark
				break
			}
			if !slices.Contains(listed, word) {
				t.Errorf("%s: the package %s is in no list of packages", id, word)
			}
		}
	}
	for _, id := range descriptors.IDs() {
		if diff := cmp.Diff(toolNames(parse(t, id).App), told[id]); diff != "" {
			t.Errorf("%s: the README lists other tools than the descriptor:\n%s", id, diff)
		}
		delete(told, id)
	}
	for id := range told {
		t.Errorf("the README tells of %s, which is not here", id)
	}
}
