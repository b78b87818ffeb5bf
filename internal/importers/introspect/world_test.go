package introspect_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/drivers/dbus"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// A world is a private bus with a generator.
type world struct {
	testing.TB
	bus     *testkit.Bus
	driver  *dbus.Driver
	folder  string
	entries string
	*introspect.Generator
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return worldOn(t, testkit.StartBus(t), func(string) string { return "" })
}

// worldOn returns a world on a bus, with more variables.
func worldOn(t testing.TB, bus *testkit.Bus, more func(string) string) *world {
	t.Helper()
	w := &world{TB: t, bus: bus, folder: t.TempDir(), entries: t.TempDir()}
	w.driver = dbus.New(dbus.Config{AllowSystemBus: true, Getenv: func(name string) string {
		if name == "DBUS_SESSION_BUS_ADDRESS" {
			return bus.Address
		}
		if value := more(name); value != "" {
			return value
		}
		return "unix:path=/nonexistent"
	}})
	t.Cleanup(func() { _ = w.driver.Close() })
	w.Generator = w.in("")
	return w
}

// in returns a generator for a person with that language.
func (w *world) in(language string) *introspect.Generator {
	return introspect.New(introspect.Config{
		Driver: w.driver, EntryFolders: []string{w.entries, "/usr/share/applications"}, Folder: w.folder, Language: func() string { return language },
	})
}

// introspected serves objects with the given introspection data.
func (w *world) introspected(name string, texts map[string]string) *godbus.Conn {
	w.Helper()
	c := w.bus.Connect(w)
	for path, text := range texts {
		w.export(c, path, "org.freedesktop.DBus.Introspectable", map[string]any{
			"Introspect": func() (string, *godbus.Error) { return text, nil },
		})
	}
	w.own(c, name)
	return c
}

func (w *world) export(c *godbus.Conn, path, iface string, methods map[string]any) {
	w.Helper()
	assert.NilError(w, c.ExportMethodTable(methods, godbus.ObjectPath(path), iface))
}

func (w *world) own(c *godbus.Conn, name string) {
	w.Helper()
	reply, err := c.RequestName(name, godbus.NameFlagDoNotQueue)
	assert.NilError(w, err, name)
	assert.Equal(w, reply, godbus.RequestNameReplyPrimaryOwner, name)
}

// draft generates a draft, or fails the test.
func (w *world) draft(r introspect.Request) *introspect.Draft {
	w.Helper()
	d, err := w.Draft(w.Context(), r)
	assert.NilError(w, err, r.App)
	return d
}

// tool returns a tool of a draft, which must exist.
func tool(t testing.TB, d *introspect.Draft, name string) catalog.ToolDeclaration {
	t.Helper()
	for _, tool := range d.Document.Sections[0].Tools {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %q in\n%s", name, d.Text)
	return catalog.ToolDeclaration{}
}

// app parses the draft as the gateway would.
func (w *world) app(d *introspect.Draft) *aai.App {
	w.Helper()
	read, err := catalog.Parse(d.Text, catalog.Options{HostPlatform: "linux", Drivers: map[string]aai.Driver{"linux/dbus": w.driver}})
	if err != nil {
		w.Fatalf("%v\n%s", err, d.Text)
	}
	return read.App
}

// golden compares a text with a file; UPDATE_GOLDEN=1 writes it.
func golden(t testing.TB, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		assert.NilError(t, os.WriteFile(file, got, 0o600))
	}
	want, err := os.ReadFile(file)
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(string(want), string(got)), "%s", name)
}

// ownTool returns a tool of the builtin app.
func (w *world) ownTool(name string) aai.Action {
	for _, tool := range w.Tools() {
		if tool.Name == name {
			return tool.Run
		}
	}
	w.Fatalf("there is no tool %s", name)
	return nil
}

// answerOf calls a builtin tool, and decodes its result like a front end.
func (w *world) answerOf(name string, args map[string]any) (map[string]any, error) {
	w.Helper()
	return w.answerTo(w.Context(), name, &aai.Call{Caller: aai.Caller{Door: aai.DoorCLI}, Args: args})
}

// answerTo is answerOf for a given caller.
func (w *world) answerTo(ctx context.Context, name string, call *aai.Call) (map[string]any, error) {
	w.Helper()
	result, err := w.ownTool(name)(ctx, call)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(result.Data)
	assert.NilError(w, err)
	var answer map[string]any
	return answer, json.Unmarshal(raw, &answer)
}

// patience limits the wait for expected events.
const patience = time.Minute

func jsonText(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}
