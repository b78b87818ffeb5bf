package descriptors_test

import (
	"fmt"
	"os"
	"strings"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// daemon starts a service of the system bus.
func (w *world) daemon(program, service string) *app {
	w.Helper()
	w.start(program)
	w.onBus("--system", service)
	return w.app(service)
}

func checkLocale(w *world) {
	const service, object = "org.freedesktop.locale1", "/org/freedesktop/locale1"
	l := w.daemon("/lib/systemd/systemd-localed", service)
	for tool, property := range map[string]string{
		"language": "Locale", "keyboard_layout": "X11Layout", "keyboard_variant": "X11Variant", "keyboard_model": "X11Model",
		"keyboard_options": "X11Options", "console_keymap": "VConsoleKeymap",
	} {
		l.matchesBusctl(tool, `{}`, "--system", service, object, service, "."+property)
	}
	told := strings.Join(l.list("language", `{}`), "\n")
	if said, err := os.ReadFile("/etc/default/locale"); err == nil {
		for line := range strings.Lines(string(said)) {
			line = strings.TrimSpace(line)
			assert.Check(w, !strings.HasPrefix(line, "LANG=") || strings.Contains(told, strings.ReplaceAll(line, `"`, "")), "language: /etc/default/locale says %s, got %s", line, told)
		}
	}
}

func checkAccounts(w *world) {
	const service, object = "org.freedesktop.Accounts", "/org/freedesktop/Accounts"
	a := w.daemon("/usr/libexec/accounts-daemon", service)
	uid := strings.Split(w.output("getent", "passwd", "daemon"), ":")[2]
	want := fmt.Sprintf(`"%s/User%s"`, object, uid)
	a.gives("find_by_name", `{"name": "daemon"}`, want)
	a.gives("find_by_id", `{"uid": `+uid+`}`, want)
	a.matchesBusctl("list_users", `{}`, "--system", service, object, service, "ListCachedUsers")
	a.matchesBusctl("has_several_users", `{}`, "--system", service, object, service, ".HasMultipleUsers")
	a.matchesBusctl("automatic_login", `{}`, "--system", service, object, service, ".AutomaticLoginUsers")
	version := strings.Fields(w.output("dpkg-query", "-W", "accountsservice"))[1]
	got := a.text("version", `{}`)
	assert.Check(w, strings.HasPrefix(version, got), "version: dpkg says %s, got %s", version, got)
}

func checkUDisks(w *world) {
	const service, object, iface = "org.freedesktop.UDisks2", "/org/freedesktop/UDisks2/Manager", "org.freedesktop.UDisks2.Manager"
	u := w.daemon("/usr/libexec/udisks2/udisksd", service)
	u.matchesBusctl("list_devices", `{}`, "--system", service, object, iface, "GetBlockDevices", "a{sv}", "0")
	u.matchesBusctl("file_systems", `{}`, "--system", service, object, iface, ".SupportedFilesystems")
	u.matchesBusctl("version", `{}`, "--system", service, object, iface, ".Version")
	everything, _ := u.call("everything", `{}`).(map[string]any)
	devices := u.list("list_devices", `{}`)
	for _, device := range devices {
		assert.Check(w, everything[device] != nil, "everything: nothing of %s", device)
	}
	told := w.output("udisksctl", "dump")
	got := strings.Count(told, "org.freedesktop.UDisks2.Block:")
	assert.Check(w, is.Equal(got, len(devices)), "list_devices: udisksctl tells of %d, got %d", got, len(devices))
	for name := range strings.FieldsSeq(w.output("ls", "/sys/class/block")) {
		u.matchesBusctl("find_by_file", `{"device": "/dev/`+name+`"}`, "--system", service, object, iface, "ResolveDevice",
			"a{sv}a{sv}", "1", "path", "s", "/dev/"+name, "0")
	}
	u.gives("find_by_label", `{"label": "nobody has this"}`, `[]`)
}

func checkColours(w *world) {
	const service, object = "org.freedesktop.ColorManager", "/org/freedesktop/ColorManager"
	c := w.daemon("/usr/libexec/colord", service)
	const file = "/usr/share/color/icc/colord/sRGB.icc"
	for tool, method := range map[string]string{"list_profiles": "GetProfiles", "list_devices": "GetDevices", "list_sensors": "GetSensors"} {
		c.matchesBusctl(tool, `{}`, "--system", service, object, service, method)
	}
	c.matchesBusctl("list_profiles_of_kind", `{"kind": "display-device"}`, "--system", service, object, service, "GetProfilesByKind", "s", "display-device")
	srgb := c.text("find_profile", `{"space": "srgb"}`)
	w.shows(`Object Path: *`+srgb+`\n`, "colormgr", "get-standard-space", "srgb")
	c.has("list_profiles", `{}`, srgb)
	c.gives("find_profile_by_file", `{"file": "`+file+`"}`, `"`+c.text("find_profile_by_file", `{"file": "`+file+`"}`)+`"`)
	w.shows(c.text("find_profile_by_file", `{"file": "`+file+`"}`), "colormgr", "find-profile-by-filename", file)
	w.property("'"+c.text("version", `{}`)+"'", "--system", service, object, service, "DaemonVersion")
}

func checkPowerProfiles(w *world) {
	const service, object = "net.hadess.PowerProfiles", "/net/hadess/PowerProfiles"
	p := w.daemon("/usr/libexec/power-profiles-daemon", service)
	w.shows(`^`+p.text("profile", `{}`)+`$`, "powerprofilesctl", "get")
	for tool, property := range map[string]string{"profiles": "Profiles", "performance_degraded": "PerformanceDegraded", "holds": "ActiveProfileHolds"} {
		p.matchesBusctl(tool, `{}`, "--system", service, object, service, "."+property)
	}
}
