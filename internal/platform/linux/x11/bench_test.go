//go:build linux

package x11_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

func BenchmarkWindows(b *testing.B) {
	s := linuxtest.Start(b)
	d := open(b, s)
	for range 5 {
		s.Fixture(b, linuxtest.GTK3)
	}
	for b.Loop() {
		_, err := d.Windows(b.Context())
		assert.NilError(b, err)
	}
}

// BenchmarkCapture captures the whole screen, 1600 by 1000 pixels.
func BenchmarkCapture(b *testing.B) {
	s := linuxtest.Start(b)
	d := open(b, s)
	s.Fixture(b, linuxtest.GTK3)
	for b.Loop() {
		_, err := d.Capture(b.Context(), desktop.Rect{W: linuxtest.ScreenWidth, H: linuxtest.ScreenHeight})
		assert.NilError(b, err)
	}
}

// BenchmarkCaptureCovered captures a window of 700 by 600 pixels under another.
func BenchmarkCaptureCovered(b *testing.B) {
	s := linuxtest.Start(b)
	d := open(b, s)
	f := s.Fixture(b, linuxtest.GTK3)
	w := window(b, d, f)
	s.Cover(b, f)
	for b.Loop() {
		_, err := d.CaptureWindow(b.Context(), w.ID)
		assert.NilError(b, err)
	}
}

// BenchmarkType types a line, with and without letters that the keyboard lacks.
func BenchmarkType(b *testing.B) {
	s := linuxtest.Start(b)
	d := open(b, s)
	f := s.Fixture(b, linuxtest.GTK3)
	w := id(b, f)
	f.Press(b, "Full name")
	for name, text := range map[string]string{"own": "the quick brown fox", "borrowed": "съешь ещё этих"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				assert.NilError(b, d.Type(b.Context(), desktop.PersonSeat, w, text))
			}
		})
	}
}
