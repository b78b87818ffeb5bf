package introspect

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestServicesOfAnotherName checks the suggestions for a program with its name as a part of
// several services.
func TestServicesOfAnotherName(t *testing.T) {
	all := []string{"org.mate.atril.Daemon", ":1.7", "org.mate.atrils", "org.mate.Atril.View-3", "org.mate.atril.Daemon"}
	got := similarNames("atril", all)
	assert.Check(t, slices.Equal(got, []string{"org.mate.Atril.View-3", "org.mate.atril.Daemon"}), "%q", got)
}

// TestTitles checks the name of a service with a generic last part.
func TestTitles(t *testing.T) {
	for service, want := range map[string]string{
		"org.mate.atril.Daemon": "Atril daemon", "org.example.Service": "Example service", "example.Daemon": "Daemon", "com.example.mail.Main": "Mail main",
	} {
		assert.Check(t, is.Equal(titleOf(service), want), service)
	}
}

// TestWhatDiscoverNamesIsFound checks that the name without process numbers, as discover shows
// it, finds the service.
func TestWhatDiscoverNamesIsFound(t *testing.T) {
	for name, word := range map[string]string{
		"org.gtk.vfs.mountpoint_16596":                 "org.gtk.vfs.mountpoint",
		"org.kde.kate-123":                             "org.kde.kate",
		"org.kde.StatusNotifierItem-12-1":              "org.kde.StatusNotifierItem",
		"org.mpris.MediaPlayer2.vlc.instance7":         "org.mpris.MediaPlayer2.vlc",
		"org.mpris.MediaPlayer2.firefox.instance_1_42": "org.mpris.MediaPlayer2.firefox",
		"org.freedesktop.login1":                       "org.freedesktop.login1",
	} {
		got := serviceOf(word, nil, []string{"org.example.Other", name})
		assert.Check(t, is.Equal(got, name), "%s is found as %q; want %q", word, got, name)
	}
}
