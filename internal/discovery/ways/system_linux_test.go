package ways_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/godbus/dbus/v5"

	"aai/internal/discovery/ways"
	"aai/internal/drivers/dbus/dbustest"
)

// TestSystemBus: what is on the system bus is listed beside what is on the session's; where the
// configuration has closed it nobody there is asked anything, and the setting that opens it is
// named. What is never called is never asked.
func TestSystemBus(t *testing.T) {
	session, system := dbustest.Start(t), dbustest.Start(t)
	system.Activatable(t, "org.example.Sleeping", "/bin/false")
	var asked, forbidden atomic.Int64
	counting := func(n *atomic.Int64) liar {
		return liar{text: func(dbus.ObjectPath) string { n.Add(1); return honest }}
	}
	conn := lies(t, system, counting(&asked), "org.example.Honest")
	lies(t, system, counting(&forbidden), "org.freedesktop.systemd1")
	lies(t, session, liar{text: always(honest)}, "org.example.Honest")
	cfg := ways.Config{
		Bus: at(session.Address), System: at(system.Address), Patience: ample, Limit: 5 * ample,
		Never: func(service, _ string) bool { return service == "org.freedesktop.systemd1" },
	}
	get := func(report *ways.Report) map[string]string {
		got := make(map[string]string)
		for _, w := range report.Ways {
			got[strings.TrimSpace(w.Bus+" "+w.App)] = w.State + ": " + w.Get
			if w.Closed != strings.HasPrefix(w.Get, "Closed until the configuration allows it: set dbus.allowSystemBus to true; then aai-gateway generate --bus system "+w.App+" ") {
				t.Errorf("%+v", w)
			}
		}
		return got
	}
	got := get(look(t, cfg))
	if asked.Load()+forbidden.Load() > 0 {
		t.Errorf("on a bus that is closed %d programs were asked", asked.Load()+forbidden.Load())
	}
	for name, want := range map[string]string{
		"org.example.Honest": "running: aai-gateway generate org.example.Honest makes", "system org.example.Honest": "running: Closed until ",
		"system org.example.Sleeping": "startable: Closed until ", "system org.freedesktop.systemd1": "running: " + ways.NeverCalled,
	} {
		if !strings.HasPrefix(got[name], want) {
			t.Errorf("closed: %s is %q; want %q", name, got[name], want)
		}
	}

	cfg.SystemOpen = true
	got = get(look(t, cfg))
	if asked.Load() == 0 || forbidden.Load() > 0 {
		t.Errorf("open: %d programs were asked, and %d that are never called", asked.Load(), forbidden.Load())
	}
	for name, want := range map[string]string{
		"org.example.Honest": "running: aai-gateway generate org.example.Honest makes", "system org.example.Honest": "running: aai-gateway generate --bus system org.example.Honest makes",
		"system org.example.Sleeping":     "startable: Whether it has anything to call is known once it runs: aai-gateway generate --start --bus system org.example.Sleeping ",
		"system org.freedesktop.systemd1": "running: " + ways.NeverCalled,
	} {
		if !strings.HasPrefix(got[name], want) {
			t.Errorf("open: %s is %q; want %q", name, got[name], want)
		}
	}
	var owned bool
	if err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.example.Sleeping").Store(&owned); err != nil || owned {
		t.Errorf("a service of the system was started: %v, %v", owned, err)
	}
}

// TestFrozenSystem: a service of the system that does not answer is named by the usual clocks,
// and costs the session's nothing.
func TestFrozenSystem(t *testing.T) {
	session, system := dbustest.Start(t), dbustest.Start(t)
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	lies(t, session, liar{text: always(honest)}, "org.example.Honest")
	lies(t, system, liar{text: func(dbus.ObjectPath) string { <-never; return "" }}, "org.example.Frozen")
	report := look(t, ways.Config{Bus: at(session.Address), System: at(system.Address), SystemOpen: true})
	if !slices.Contains(report.Silent, "org.example.Frozen") {
		t.Errorf("silent: %q", report.Silent)
	}
	if slices.Contains(apps(report, ways.Running), "org.example.Frozen") {
		t.Errorf("ways into what never answered: %+v", report.Ways)
	}
}
