package discovery_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestKinds checks the kinds of interfaces, and the name of a program with all of them.
func TestKinds(t *testing.T) {
	for iface, kind := range map[string]string{
		"org.mpris.MediaPlayer2": "mpris", "org.mpris.MediaPlayer2.Player": "mpris", "org.gtk.Actions": "gtk-actions", "org.gtk.Menus": "gtk-menus",
		"org.freedesktop.Application": "application", "org.kde.KMainWindow": "kde", "org.qtproject.Qt.QWidget": "kde",
		"org.kde.StatusNotifierItem": "tray", "com.canonical.dbusmenu": "tray-menu", "org.freedesktop.portal.FileChooser": "portal",
		"org.example.Other": "dbus", "org.mpris.MediaPlayer20": "dbus", "org.kdenlive.App": "dbus",
		"org.freedesktop.DBus.Properties": "", "org.gtk.Application": "", "org.a11y.atspi.Accessible": "",
	} {
		bus := testkit.StartBus(t)
		serveHostile(t, bus, hostileService{text: always(`<node><interface name="` + iface + `"/></node>`)}, "org.example.App")
		report := look(t, discovery.ScannerConfig{SessionBus: at(bus.Address), CallTimeout: generousTimeout, ScanTimeout: 5 * generousTimeout})
		got := ""
		for _, w := range report.Integrations {
			got += w.Kind
			assert.Check(t, w.Benefit != "", "%s %+v", iface, w)
			assert.Check(t, w.HowTo != "", "%s %+v", iface, w)
			assert.Check(t, len(w.Locations) != 0, "%s %+v", iface, w)
		}
		assert.Check(t, is.Equal(got, kind), "%s is told as %q; want %q", iface, got, kind)
	}
}

// TestBackgroundTimeout checks names without the parts that change at each start.
func TestBackgroundTimeout(t *testing.T) {
	for name, want := range map[string]string{
		"org.kde.kate-1234": "org.kde.kate", "org.mpris.MediaPlayer2.vlc.instance77": "org.mpris.MediaPlayer2.vlc", "org.kde.StatusNotifierItem-12-1": "org.kde.StatusNotifierItem",
		"org.mpris.MediaPlayer2.firefox.instance_1_42": "org.mpris.MediaPlayer2.firefox", "org.freedesktop.login1": "org.freedesktop.login1",
		"org.freedesktop.UDisks2": "org.freedesktop.UDisks2", "a-1": "a-1", "": "",
	} {
		got := discovery.StableName(name)
		assert.Check(t, is.Equal(got, want), "%s lasts as %q; want %q", name, got, want)
	}
}

// FuzzNode checks that any introspection data yields only interface names.
func FuzzNode(f *testing.F) {
	f.Add(validIntrospection)
	f.Add(`<node name="/"><node name="a"/><interface name="org.gtk.Actions"><method name="List"/></interface></node>`)
	f.Add("<!DOCTYPE node [<!ENTITY a '&a;'>]><node>&a;</node>")
	f.Fuzz(func(t *testing.T, text string) {
		interfaces, children := discovery.ReadNode(text)
		for _, name := range interfaces {
			assert.Check(t, wire.ValidInterface(name), "%q", name)
		}
		assert.Check(t, len(interfaces)+len(children) <= len(text), "%d names of %d bytes", len(interfaces)+len(children), len(text))
	})
}

// FuzzEntry checks that actions of any desktop entry are clean text.
func FuzzEntry(f *testing.F) {
	f.Add(editor)
	f.Add("[Desktop Entry]\nActions=;;a;a\n[Desktop Action a]\nName=\x1b[0m\n")
	f.Fuzz(func(t *testing.T, text string) {
		actions := discovery.ReadEntry(text)
		assert.Check(t, len(actions) <= 50, "%d actions", len(actions))
		for _, name := range actions {
			assert.Assert(t, name != "", "%q", name)
			assert.Assert(t, len(name) <= 120, "%q", name)
			assert.Assert(t, !strings.ContainsAny(name, "\n\x1b\x00\u202e"), "%q", name)
		}
	})
}
