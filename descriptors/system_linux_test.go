package descriptors_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func checkHostname(w *world) {
	const service, object = "org.freedesktop.hostname1", "/org/freedesktop/hostname1"
	w.start(hostnamed)
	w.onBus("--system", service)
	h := w.app(service)

	name, release := w.output("uname", "-n"), w.output("uname", "-r")
	all, _ := h.call("describe", `{}`).(map[string]any)
	assert.Check(w, is.Equal(all["Hostname"], name), all)
	assert.Check(w, is.Equal(all["KernelName"], "Linux"), all)
	assert.Check(w, is.Equal(all["KernelRelease"], release), all)
	h.gives("hostname", `{}`, fmt.Sprintf(`%q`, name))
	h.gives("kernel_release", `{}`, fmt.Sprintf(`%q`, release))
	about, err := os.ReadFile("/etc/os-release")
	assert.NilError(w, err)
	pretty := regexp.MustCompile(`(?m)^PRETTY_NAME="?([^"\n]*)`).FindSubmatch(about)
	system := h.text("operating_system", `{}`)
	assert.Assert(w, pretty != nil, "operating_system: got %q, but /etc/os-release says %q", system, pretty)
	assert.Equal(w, system, string(pretty[1]), "%q", pretty)
	w.property("'"+h.text("pretty_hostname", `{}`)+"'", "--system", service, object, service, "PrettyHostname")
	w.property("'"+h.text("chassis", `{}`)+"'", "--system", service, object, service, "Chassis")
}

func checkUPower(w *world) {
	const service, object = "org.freedesktop.UPower", "/org/freedesktop/UPower"
	const display, device = object + "/devices/DisplayDevice", service + ".Device"
	w.start(upowerd)
	w.onBus("--system", service)
	u := w.app(service)

	w.shows(regexp.QuoteMeta(u.text("version", `{}`)), "upower", "--version")
	u.gives("display_device", `{}`, `"`+display+`"`)
	devices := append(u.list("list_devices", `{}`), display)
	slices.Sort(devices)
	listed := strings.Fields(w.output("upower", "-e"))
	slices.Sort(listed)
	assert.Check(w, is.DeepEqual(listed, devices))
	w.shows(`critical-action: +`+u.text("critical_action", `{}`), "upower", "-d")

	// Values that change over time may differ between the two reads, so both are repeated.
	for _, p := range []struct{ tool, object, iface, property, format string }{
		{"on_battery", object, service, "OnBattery", "<%v>"},
		{"lid_is_closed", object, service, "LidIsClosed", "<%v>"},
		{"has_battery", display, device, "IsPresent", "<%v>"},
		{"battery_percentage", display, device, "Percentage", "<%v>"},
		{"battery_state", display, device, "State", "<uint32 %v>"},
		{"time_to_empty", display, device, "TimeToEmpty", "<int64 %v>"},
	} {
		w.eventually(func() error {
			text := fmt.Sprintf(p.format, u.call(p.tool, `{}`))
			if p.tool == "battery_percentage" && !strings.Contains(text, ".") {
				text = strings.TrimSuffix(text, ">") + ".0>" // a double, as GVariant writes it
			}
			seen := w.output("gdbus", "call", "--system", "--dest", service, "--object-path", p.object,
				"--method", "org.freedesktop.DBus.Properties.Get", p.iface, p.property)
			return match(`^\(`+regexp.QuoteMeta(text)+`,\)$`, seen, p.tool)
		})
	}
}
