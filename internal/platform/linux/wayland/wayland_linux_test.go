package wayland_test

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// sample has letters of several scripts, in both cases, and more characters than a keyboard has keys.
const sample = `The quick brown fox jumps over the lazy dog. ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 äöü ÄÖÜ ß € 漢字 😀 yz;:_'"#~{}[]\|`

// TestWaylandType: the letters arrive in a terminal and in a GTK program, by their own word.
func TestWaylandType(t *testing.T) {
	s := newSession(t)
	if s.refusesWindows(t) {
		return
	}
	t.Run("foot", func(t *testing.T) {
		w := s.show(t, "foot", "sh", "-c", "cat > typed")
		until(t, func() bool { _, err := os.Stat(filepath.Join(s.Home, "typed")); return err == nil })
		assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, sample+"\n"))
		until(t, func() bool { return strings.HasSuffix(s.read("typed"), "\n") })
		got := s.read("typed")
		assert.Check(t, is.Equal(got, sample+"\n"), "typed %q, arrived %q", sample, got)
	})
	t.Run("GTK", func(t *testing.T) {
		w := s.show(t, "sh", "-c", "exec zenity --entry --text=x > entered")
		assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, sample))
		assert.NilError(t, s.Key(t.Context(), desktop.PersonSeat, w.ID, desktop.Chord{Key: "return"}))
		until(t, func() bool { return strings.HasSuffix(s.read("entered"), "\n") })
		got := s.read("entered")
		assert.Check(t, is.Equal(got, sample+"\n"), "typed %q, arrived %q", sample, got)
	})
}

// TestWaylandClipboard: wl-copy and wl-paste agree with the gateway.
func TestWaylandClipboard(t *testing.T) {
	s := newSession(t)
	if _, err := s.Set(t.Context(), desktop.Clip{Text: "Grüße 漢 😀"}); err != nil {
		t.Fatal(err)
	}
	got := s.output(t, "wl-paste", "-n")
	assert.Check(t, is.Equal(got, "Grüße 漢 😀"), "wl-paste has %q", got)
	s.Launch(t, "wl-copy", "-f", "von wl-copy ü")
	until(t, func() bool {
		clip, err := s.Get(t.Context())
		return err == nil && clip.Text == "von wl-copy ü"
	})
	if _, err := s.Set(t.Context(), desktop.Clip{}); err != nil {
		t.Fatal(err)
	}
	clip, err := s.Get(t.Context())
	assert.NilError(t, err)
	assert.Check(t, is.Equal(clip.Text, ""), "the emptied clipboard has %q", clip.Text)
}

// TestWaylandCapture: the picture has the pixels of grim's.
func TestWaylandCapture(t *testing.T) {
	s := newSession(t)
	if s.refusesWindows(t) {
		return
	}
	if c := linuxtest.ChosenCompositor(); c != linuxtest.Sway {
		_, err := s.Capture(t.Context(), desktop.Rect{W: 10, H: 10})
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "a picture without screencopy and portal: %v", err)
		assert.Equal(t, e.Code, aai.AutomationNotSupported, err)
		return
	}
	s.show(t, "foot", "sh", "-c", "printf '\\033[41m\\033[2J\\033[42mgreen\\033[0m'; sleep 60")
	area := desktop.Rect{X: 10, Y: 20, W: 700, H: 500}
	until(t, func() bool {
		got, err := s.Capture(t.Context(), area)
		assert.NilError(t, err)
		s.output(t, "grim", "-g", "10,20 700x500", "shot.png")
		file, err := os.Open(filepath.Join(s.Home, "shot.png"))
		assert.NilError(t, err)
		defer func() { _ = file.Close() }()
		want, err := png.Decode(file)
		assert.NilError(t, err)
		colours := map[[3]uint32]bool{}
		for y := range area.H {
			for x := range area.W {
				r, g, b, _ := got.At(x, y).RGBA()
				wr, wg, wb, _ := want.At(x, y).RGBA()
				if r != wr || g != wg || b != wb {
					return false
				}
				colours[[3]uint32{r, g, b}] = true
			}
		}
		return len(colours) > 2
	})
}

// TestWaylandClick: the click and the scroll arrive at their place, by the person's pointer alone.
func TestWaylandClick(t *testing.T) {
	s := newSession(t)
	if s.refusesWindows(t) {
		return
	}
	// The terminal reports button and cell.
	w := s.show(t, "foot", "sh", "-c", "stty raw -echo; printf '\\033[?1002h\\033[?1006h'; cat > mouse")
	until(t, func() bool { _, err := os.Stat(filepath.Join(s.Home, "mouse")); return err == nil })
	at := desktop.Point{X: w.Frame.X + w.Frame.W/2, Y: w.Frame.Y + w.Frame.H/2}
	assert.NilError(t, s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, at, desktop.LeftButton, 1))
	until(t, func() bool { return strings.Count(s.read("mouse"), "\x1b[<0;") == 2 }) // pressed and released
	assert.NilError(t, s.Scroll(t.Context(), desktop.PersonSeat, w.ID, at, 0, 2))
	const lines = 3 // of a notch, in foot
	until(t, func() bool { return strings.Count(s.read("mouse"), "\x1b[<65;") == 2*lines })
	assert.Check(t, s.Display.Click(t.Context(), desktop.OwnSeat, w.ID, at, desktop.LeftButton, 1) != nil, "a click in the background moved the person's pointer")
}
