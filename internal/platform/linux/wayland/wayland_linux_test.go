package wayland_test

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		if err := s.Type(t.Context(), desktop.PersonSeat, w.ID, sample+"\n"); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool { return strings.HasSuffix(s.read("typed"), "\n") })
		if got := s.read("typed"); got != sample+"\n" {
			t.Errorf("typed %q, arrived %q", sample, got)
		}
	})
	t.Run("GTK", func(t *testing.T) {
		w := s.show(t, "sh", "-c", "exec zenity --entry --text=x > entered")
		if err := s.Type(t.Context(), desktop.PersonSeat, w.ID, sample); err != nil {
			t.Fatal(err)
		}
		if err := s.Key(t.Context(), desktop.PersonSeat, w.ID, desktop.Chord{Key: "return"}); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool { return strings.HasSuffix(s.read("entered"), "\n") })
		if got := s.read("entered"); got != sample+"\n" {
			t.Errorf("typed %q, arrived %q", sample, got)
		}
	})
}

// TestWaylandClipboard: wl-copy and wl-paste agree with the gateway.
func TestWaylandClipboard(t *testing.T) {
	s := newSession(t)
	if _, err := s.Set(t.Context(), desktop.Clip{Text: "Grüße 漢 😀"}); err != nil {
		t.Fatal(err)
	}
	if got := s.output(t, "wl-paste", "-n"); got != "Grüße 漢 😀" {
		t.Errorf("wl-paste has %q", got)
	}
	s.Launch(t, "wl-copy", "-f", "von wl-copy ü")
	until(t, func() bool {
		clip, err := s.Get(t.Context())
		return err == nil && clip.Text == "von wl-copy ü"
	})
	if _, err := s.Set(t.Context(), desktop.Clip{}); err != nil {
		t.Fatal(err)
	}
	clip, err := s.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if clip.Text != "" {
		t.Errorf("the emptied clipboard has %q", clip.Text)
	}
}

// TestWaylandCapture: the picture has the pixels of grim's.
func TestWaylandCapture(t *testing.T) {
	s := newSession(t)
	if s.refusesWindows(t) {
		return
	}
	if c := linuxtest.ChosenCompositor(); c != linuxtest.Sway {
		_, err := s.Capture(t.Context(), desktop.Rect{W: 10, H: 10})
		if e := aai.AsError(err); e == nil || e.Code != aai.AutomationNotSupported {
			t.Errorf("a picture without screencopy and portal: %v", err)
		}
		return
	}
	s.show(t, "foot", "sh", "-c", "printf '\\033[41m\\033[2J\\033[42mgreen\\033[0m'; sleep 60")
	area := desktop.Rect{X: 10, Y: 20, W: 700, H: 500}
	until(t, func() bool {
		got, err := s.Capture(t.Context(), area)
		if err != nil {
			t.Fatal(err)
		}
		s.output(t, "grim", "-g", "10,20 700x500", "shot.png")
		file, err := os.Open(filepath.Join(s.Home, "shot.png"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		want, err := png.Decode(file)
		if err != nil {
			t.Fatal(err)
		}
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
	if err := s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, at, desktop.LeftButton, 1); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return strings.Count(s.read("mouse"), "\x1b[<0;") == 2 }) // pressed and released
	if err := s.Scroll(t.Context(), desktop.PersonSeat, w.ID, at, 0, 2); err != nil {
		t.Fatal(err)
	}
	const lines = 3 // of a notch, in foot
	until(t, func() bool { return strings.Count(s.read("mouse"), "\x1b[<65;") == 2*lines })
	if err := s.Display.Click(t.Context(), desktop.OwnSeat, w.ID, at, desktop.LeftButton, 1); err == nil {
		t.Error("a click in the background moved the person's pointer")
	}
}
