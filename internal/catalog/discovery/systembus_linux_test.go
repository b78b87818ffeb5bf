package discovery_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestSystemBus checks that the system bus is listed beside the session bus. If the configuration
// forbids it, no program there is called, and the setting is named. Services that are never
// called are not queried.
func TestSystemBus(t *testing.T) {
	session, system := testkit.StartBus(t), testkit.StartBus(t)
	system.AddService(t, "org.example.Sleeping", "/bin/false")
	var asked, forbidden atomic.Int64
	counting := func(n *atomic.Int64) hostileService {
		return hostileService{text: func(dbus.ObjectPath) string { n.Add(1); return validIntrospection }}
	}
	conn := serveHostile(t, system, counting(&asked), "org.example.Honest")
	serveHostile(t, system, counting(&forbidden), "org.freedesktop.systemd1")
	serveHostile(t, session, hostileService{text: always(validIntrospection)}, "org.example.Honest")
	cfg := discovery.ScannerConfig{
		SessionBus: at(session.Address), SystemBus: at(system.Address), CallTimeout: generousTimeout, ScanTimeout: 5 * generousTimeout,
		NeverCalled: func(service, _ string) bool { return service == "org.freedesktop.systemd1" },
	}
	get := func(report *discovery.ScanReport) map[string]string {
		got := make(map[string]string)
		for _, w := range report.Integrations {
			got[strings.TrimSpace(w.Bus+" "+w.App)] = w.State + ": " + w.HowTo
			assert.Check(t, is.Equal(w.NotAllowed, strings.HasPrefix(w.HowTo, "Closed until the configuration allows it: set dbus.allowSystemBus to true; then aai-gateway generate --bus system "+w.App+" ")), "%+v", w)
		}
		return got
	}
	got := get(look(t, cfg))
	assert.Check(t, asked.Load()+forbidden.Load() <= 0, "on a bus that is closed %d programs were asked", asked.Load()+forbidden.Load())
	for name, want := range map[string]string{
		"org.example.Honest": "running: aai-gateway generate org.example.Honest makes", "system org.example.Honest": "running: Closed until ",
		"system org.example.Sleeping": "startable: Closed until ", "system org.freedesktop.systemd1": "running: " + discovery.NeverCalledHowTo,
	} {
		assert.Check(t, strings.HasPrefix(got[name], want), "closed: %s is %q; want %q", name, got[name], want)
	}

	cfg.SystemBusAllowed = true
	got = get(look(t, cfg))
	if asked.Load() == 0 || forbidden.Load() > 0 {
		t.Errorf("open: %d programs were asked, and %d that are never called", asked.Load(), forbidden.Load())
	}
	for name, want := range map[string]string{
		"org.example.Honest": "running: aai-gateway generate org.example.Honest makes", "system org.example.Honest": "running: aai-gateway generate --bus system org.example.Honest makes",
		"system org.example.Sleeping":     "startable: Its methods are known once it runs: aai-gateway generate --start --bus system org.example.Sleeping ",
		"system org.freedesktop.systemd1": "running: " + discovery.NeverCalledHowTo,
	} {
		assert.Check(t, strings.HasPrefix(got[name], want), "open: %s is %q; want %q", name, got[name], want)
	}
	var owned bool
	err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.example.Sleeping").Store(&owned)
	assert.NilError(t, err, owned)
	assert.Assert(t, !owned, "a service of the system was started: %v, %v", owned, err)
}

// TestFrozenSystem checks that a system service without replies is named within the default
// timeout, and does not delay the session bus.
func TestFrozenSystem(t *testing.T) {
	session, system := testkit.StartBus(t), testkit.StartBus(t)
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	serveHostile(t, session, hostileService{text: always(validIntrospection)}, "org.example.Honest")
	serveHostile(t, system, hostileService{text: func(dbus.ObjectPath) string { <-never; return "" }}, "org.example.Frozen")
	report := look(t, discovery.ScannerConfig{SessionBus: at(session.Address), SystemBus: at(system.Address), SystemBusAllowed: true})
	assert.Check(t, is.Contains(report.Unresponsive, "org.example.Frozen"))
	if slices.Contains(apps(report, discovery.StateRunning), "org.example.Frozen") {
		t.Errorf("ways into what never answered: %+v", report.Integrations)
	}
}
