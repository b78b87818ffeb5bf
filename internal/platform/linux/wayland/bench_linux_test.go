package wayland_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// BenchmarkWayland times one request of each part, beside the usual program for it, which starts anew each time.
func BenchmarkWayland(b *testing.B) {
	s := newSession(b)
	w := s.show(b, "foot", "sh", "-c", "stty -echo; : > typed; while read -r line; do echo \"$line\" >> typed; done")
	until(b, func() bool { _, err := os.Stat(filepath.Join(s.Home, "typed")); return err == nil })
	screen := desktop.Rect{W: linuxtest.ScreenWidth, H: linuxtest.ScreenHeight}
	b.Run("Windows", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Windows(b.Context())
			assert.NilError(b, err)
		}
	})
	b.Run("Capture", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Capture(b.Context(), screen)
			assert.NilError(b, err)
		}
	})
	b.Run("Capture/grim", func(b *testing.B) {
		for b.Loop() {
			s.output(b, "grim", "-t", "ppm", filepath.Join(s.Home, "grim.ppm"))
		}
	})
	const text = "zwanzig Zeichen äöüß"
	lines := 0
	arrived := func(b *testing.B) { // the text is in the program
		b.Helper()
		lines++
		until(b, func() bool { return strings.Count(s.read("typed"), text+"\n") == lines })
	}
	b.Run("Type", func(b *testing.B) {
		for b.Loop() {
			assert.NilError(b, s.Type(b.Context(), desktop.PersonSeat, w.ID, text+"\n"))
			arrived(b)
		}
	})
	b.Run("Type/wtype", func(b *testing.B) {
		for b.Loop() {
			s.output(b, "wtype", text+"\n")
			arrived(b)
		}
	})
	b.Run("Clipboard", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Set(b.Context(), desktop.Clip{Text: text})
			assert.NilError(b, err)
			clip, err := s.Get(b.Context())
			assert.NilError(b, err)
			assert.Equal(b, clip.Text, text)
		}
	})
	b.Run("Clipboard/wl-paste", func(b *testing.B) {
		for b.Loop() {
			got := s.output(b, "wl-paste", "-n")
			assert.Equal(b, got, text, "wl-paste has %q", got)
		}
	})
}
