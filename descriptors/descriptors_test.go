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
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
	assert.NilError(t, err)
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
	assert.NilError(t, err)
	var ids []string
	for _, name := range found {
		id := filepath.Dir(name)
		ids = append(ids, id)
		onDisk, err := os.ReadFile(name)
		assert.NilError(t, err)
		assert.Check(t, is.DeepEqual(string(onDisk), string(source(t, id))), "%s", name)
	}
	diff := cmp.Diff(ids, descriptors.IDs())
	assert.Check(t, is.Equal(diff, ""))
	assert.Check(t, len(ids) != 0, "IDs are not the folders:\n%s", diff)
}

func TestDescriptorsAreRight(t *testing.T) {
	for _, id := range descriptors.IDs() {
		t.Run(id, func(t *testing.T) {
			d := parse(t, id)
			assert.Check(t, is.Equal(d.App.ID, id), "the folder is %s, the appId %s", id, d.App.ID)
			for _, warning := range d.Warnings {
				t.Errorf("warning: %s", warning)
			}
			assert.Check(t, len(d.App.Tools) != 0, "there are no tools")
			for _, tool := range d.App.Tools {
				checkTool(t, tool)
			}
		})
	}
}

func checkTool(t *testing.T, tool *aai.Tool) {
	t.Helper()
	assert.Check(t, tool.Run != nil, "%s: the driver made no action of it", tool.Name)
	assert.Check(t, schema.Compile(tool.Params), tool.Name)
	assert.Check(t, schema.Compile(tool.Returns), tool.Name)
	assert.Check(t, tool.Params.Source != nil, "%s: expected parameters", tool.Name)
	assert.Check(t, tool.Limits.Timeout <= aai.DefaultTimeout, "%s: a timeout of %s", tool.Name, tool.Limits.Timeout)
	assert.Check(t, tool.Limits.Timeout >= time.Second, "%s: a timeout of %s", tool.Name, tool.Limits.Timeout)
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
		assert.NilError(t, json.Unmarshal(source(t, id), &d))
		for _, tool := range append(d.Platforms["linux"].Tools, d.Tools...) {
			assert.Check(t, is.Contains([]string{"reads", "changes", "destroys"}, tool.Effect), "%s %s", id, tool.Name)
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
		assert.NilError(t, os.WriteFile(golden, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(string(want), got.String()))
}

// packages lists the packages in packages.txt, for the error about a missing program.
func packages(t testing.TB) []string { return packagesOf(t, "packages.txt") }

// packagesOf lists the packages in a file.
func packagesOf(t testing.TB, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
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
	once := slices.Compact(slices.Clone(names))
	assert.Assert(t, is.Len(once, len(names)), names)
	assert.Assert(t, len(names) != 0, "some are there twice, or none: %v", names)
}

// The README's table lists every app with all its tools, in order, and packages of packages.txt.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	assert.NilError(t, err)
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
			assert.Check(t, is.Contains(listed, word), "%s: the package %s is in no list of packages", id, word)
		}
	}
	for _, id := range descriptors.IDs() {
		assert.Check(t, is.DeepEqual(toolNames(parse(t, id).App), told[id]), "%s", id)
		delete(told, id)
	}
	for id := range told {
		t.Errorf("the README tells of %s, which is not here", id)
	}
}
