package descriptors_test

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// ask calls a method of the session bus with gdbus.
func (s *session) ask(method string, args ...string) string {
	return s.output("gdbus", append([]string{"call", "--session", "--dest", "org.freedesktop.DBus",
		"--object-path", "/org/freedesktop/DBus", "--method", "org.freedesktop.DBus." + method}, args...)...)
}

// names returns the well-known names in a text or list, sorted.
func names(words ...string) []string {
	var found []string
	for _, word := range words {
		found = append(found, regexp.MustCompile(`[A-Za-z_][\w-]*(\.[\w-]+)+`).FindAllString(word, -1)...)
	}
	slices.Sort(found)
	return found
}

func checkSessionBus(w *world) {
	d := w.app("org.freedesktop.DBus")
	const xfconf = `{"arg_0": "org.xfce.Xfconf"}`
	d.gives("is_running", xfconf, `false`)
	w.ask("StartServiceByName", "org.xfce.Xfconf", "0")
	d.eventuallyGives("is_running", xfconf, `true`)
	d.gives("is_running", `{"arg_0": "org.example.Nobody"}`, `false`)

	d.has("list_running", `{}`, "org.freedesktop.DBus", "org.xfce.Xfconf")
	w.eventually(func() error { // the needs of a starting program appear a little later
		if diff := cmp.Diff(names(w.ask("ListNames")), names(d.list("list_running", `{}`)...)); diff != "" {
			return fmt.Errorf("list_running: gdbus says - but got +:\n%s", diff)
		}
		return nil
	})
	d.has("list_startable", `{}`, "org.xfce.Xfconf")
	assert.Check(w, is.DeepEqual(names(w.ask("ListActivatableNames")), names(d.list("list_startable", `{}`)...)))

	got, want := "('"+d.text("owner", xfconf)+"',)", w.ask("GetNameOwner", "org.xfce.Xfconf")
	assert.Check(w, is.Equal(got, want), "owner: gdbus says %s, got %s", want, got)
	d.fails("owner", `{"arg_0": "org.example.Nobody"}`, aai.AppNotRunning, "NameHasNoOwner")
	pid := d.number("process_id", xfconf)
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%v/comm", pid))
	assert.NilError(w, err, "%v %q", pid, comm)
	assert.Equal(w, string(comm), "xfconfd\n", "%v %q", pid, comm)
	credentials, _ := d.call("credentials", xfconf).(map[string]any)
	assert.Check(w, is.Equal(credentials["ProcessID"], pid), credentials)
	assert.Check(w, is.Equal(credentials["UnixUserID"], float64(os.Getuid())), credentials)

	got, want = "('"+d.text("bus_id", `{}`)+"',)", w.ask("GetId")
	assert.Check(w, is.Equal(got, want), "bus_id: gdbus says %s, got %s", want, got)
	features := "['" + strings.Join(d.list("features", `{}`), "', '") + "']"
	w.property(features, "--session", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Features")
}

func checkAccessibility(w *world) {
	const service, object, status = "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Status"
	a := w.app(service)
	path, ok := strings.CutPrefix(a.text("address", `{}`), "unix:path=")
	path, _, _ = strings.Cut(path, ",")
	info, err := os.Stat(path)
	assert.Assert(w, ok, "address: there is no socket of this session at %s (%v)", path, err)
	assert.NilError(w, err, path)
	assert.Assert(w, info.Mode()&fs.ModeSocket != 0, "address: there is no socket of this session at %s (%v)", path, err)
	assert.Assert(w, strings.HasPrefix(path, w.run), "address: there is no socket of this session at %s (%v)", path, err)
	a.gives("is_enabled", `{}`, `false`)
	w.property("false", "--session", service, object, status, "IsEnabled")
	a.gives("screen_reader_enabled", `{}`, `false`)
	w.property("false", "--session", service, object, status, "ScreenReaderEnabled")
	a.callsVoid("set_enabled", `{"value": true}`)
	w.property("true", "--session", service, object, status, "IsEnabled")
	a.gives("is_enabled", `{}`, `true`)
	a.gives("screen_reader_enabled", `{}`, `false`)
}

func checkGVfs(w *world) {
	v := w.app("org.gtk.vfs.Daemon")
	v.has("list_types", `{}`, "trash")
	mountable, _ := v.call("list_mountable", `{}`).([]any)
	assert.Check(w, slices.ContainsFunc(mountable, func(kind any) bool {
		return cmp.Equal(kind, []any{"trash", "trash", []any{}, 0.0, false})
	}), "list_mountable: expected the trash in %v", mountable)

	v.gives("list_mounts", `{}`, `[]`)
	w.shows(`^$`, "gio", "list", "trash:///") // which mounts it
	mounts, _ := v.call("list_mounts", `{}`).([]any)
	assert.Assert(w, is.Len(mounts, 1), "list_mounts: expected one, got %v", mounts)
	mount, _ := mounts[0].([]any)
	assert.Assert(w, is.Len(mount, 12))
	assert.Equal(w, mount[2], "Trash")
	assert.Equal(w, mount[3], "trash:")
	assert.Equal(w, mount[8], false)
	w.shows(`'Trash', 'trash:'`, "gdbus", "call", "--session", "--dest", "org.gtk.vfs.Daemon",
		"--object-path", "/org/gtk/vfs/mounttracker", "--method", "org.gtk.vfs.MountTracker.ListMounts2", "false")
	v.gives("list_mounts", `{"user_visible_only": true}`, `[]`)
}
