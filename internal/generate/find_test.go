package generate

import "testing"

// TestWhatDiscoverNamesIsFound: discover names a service without the numbers of its process,
// and by that name it is found.
func TestWhatDiscoverNamesIsFound(t *testing.T) {
	for name, word := range map[string]string{
		"org.gtk.vfs.mountpoint_16596":                 "org.gtk.vfs.mountpoint",
		"org.kde.kate-123":                             "org.kde.kate",
		"org.kde.StatusNotifierItem-12-1":              "org.kde.StatusNotifierItem",
		"org.mpris.MediaPlayer2.vlc.instance7":         "org.mpris.MediaPlayer2.vlc",
		"org.mpris.MediaPlayer2.firefox.instance_1_42": "org.mpris.MediaPlayer2.firefox",
		"org.freedesktop.login1":                       "org.freedesktop.login1",
	} {
		if got := serviceOf(word, nil, []string{"org.example.Other", name}); got != name {
			t.Errorf("%s is found as %q; want %q", word, got, name)
		}
	}
}
