package desktoptest

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// window finds the program's window.
func (u *suite) window() (w desktop.WindowInfo) {
	u.Helper()
	u.until(func() error {
		windows, err := u.Backend.Windows.Windows(u.within())
		if err != nil {
			return err
		}
		i := slices.IndexFunc(windows, func(w desktop.WindowInfo) bool { return w.PID == u.PID && w.Title == u.Title })
		if i < 0 {
			return fmt.Errorf("no window %q of process %d among %+v", u.Title, u.PID, windows)
		}
		w = windows[i]
		return nil
	})
	return w
}

func (u *suite) listed() {
	w := u.window()
	if w.Frame.Empty() || w.Minimized || w.Covered != 0 {
		u.Errorf("the window in front of all others is %+v", w)
	}
	shot := u.snapshot()
	for i, e := range shot.Elements {
		if e.Role.IsInteractive() && shot.IsVisible(i) && shot.Elements[shot.WindowOf(i)].Name == u.Title && e.Frame.Intersect(w.Frame) != e.Frame {
			u.Errorf("%s is at %v, which is not in its window at %v", desktop.Describe(&e), e.Frame, w.Frame)
		}
	}
	windows, err := u.Backend.Windows.Windows(u.within())
	if err != nil {
		u.Fatal(err)
	}
	ids, active := make(map[desktop.WindowID]bool), 0
	for _, w := range windows {
		if ids[w.ID] || w.Covered < 0 || w.Covered > 1 {
			u.Errorf("window %+v is there twice, or cannot be", w)
		}
		ids[w.ID] = true
		if w.Active {
			active++
		}
	}
	if active > 1 {
		u.Errorf("%d windows have the keyboard", active)
	}
}

func (u *suite) pointed() {
	w := u.window()
	seen, err := u.Backend.Windows.WindowAt(u.within(), w.Frame.Center())
	if err != nil || seen.ID != w.ID {
		u.Errorf("in the middle of the window is %+v, %v", seen, err)
	}
}

func (u *suite) monitors() {
	monitors, err := u.Backend.Screen.Monitors(u.within())
	if err != nil || len(monitors) == 0 {
		u.Fatalf("monitors %+v, %v", monitors, err)
	}
	for _, m := range monitors {
		if m.Frame.Empty() || m.Scale <= 0 {
			u.Errorf("monitor %+v", m)
		}
	}
}

func (u *suite) capture() {
	if u.Backend.Windows == nil {
		return
	}
	w := u.window()
	own, err := u.Backend.Screen.CaptureWindow(u.within(), w.ID)
	if err != nil {
		u.Fatal(err)
	}
	seen, err := u.Backend.Screen.Capture(u.within(), w.Frame)
	if err != nil {
		u.Fatal(err)
	}
	for what, picture := range map[string]*image.RGBA{"the window": own, "the screen": seen} {
		if size := picture.Bounds().Size(); size != (image.Point{X: w.Frame.W, Y: w.Frame.H}) {
			u.Errorf("the picture of %s is %v, want %d × %d", what, size, w.Frame.W, w.Frame.H)
		}
		if !picture.Opaque() {
			u.Errorf("the picture of %s can be seen through", what)
		}
	}
	u.same(own, seen, w)
	if picture, err := u.Backend.Screen.CaptureWindow(u.within(), 1<<40); err == nil {
		u.Errorf("there is a picture of a window that does not exist: %v", picture.Bounds())
	}
}

// same checks that the window's own picture nearly equals the screen: a caret may blink.
func (u *suite) same(own, seen *image.RGBA, w desktop.WindowInfo) {
	u.Helper()
	differ := 0
	for y := range w.Frame.H {
		for x := range w.Frame.W {
			at := image.Point{X: x, Y: y}
			a, b := at.Add(own.Bounds().Min), at.Add(seen.Bounds().Min)
			if own.RGBAAt(a.X, a.Y) != seen.RGBAAt(b.X, b.Y) {
				differ++
			}
		}
	}
	if all := w.Frame.W * w.Frame.H; differ > all/50 {
		u.Errorf("%d of %d points of the window are not as on the screen", differ, all)
	}
}

func (u *suite) clipText() {
	for _, text := range []string{"Grüße\n日本 €🙂", strings.Repeat("long ", 100_000), "x"} {
		if _, err := u.Backend.Clipboard.Set(u.within(), desktop.Clip{Text: text}); err != nil {
			u.Fatal(err)
		}
		clip, err := u.Backend.Clipboard.Get(u.within())
		if err != nil || clip.Text != text || len(clip.PNG) > 0 {
			u.Errorf("%d bytes came back as %d and a picture of %d, %v", len(text), len(clip.Text), len(clip.PNG), err)
		}
	}
}

func (u *suite) clipPicture() {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 40, 30))); err != nil {
		u.Fatal(err)
	}
	if _, err := u.Backend.Clipboard.Set(u.within(), desktop.Clip{PNG: b.Bytes()}); err != nil {
		u.Fatal(err)
	}
	clip, err := u.Backend.Clipboard.Get(u.within())
	if err != nil || clip.Text != "" || !bytes.Equal(clip.PNG, b.Bytes()) {
		u.Errorf("%d bytes came back as %d and %d of text, %v", b.Len(), len(clip.PNG), len(clip.Text), err)
	}
}

func (u *suite) unknownProgram() {
	_, err := u.Backend.Programs.Find("no-such-program-anywhere")
	u.coded(err, aai.AppNotFound)
	if u.Backend.Programs.IsDescendant(u.PID, 1<<30) {
		u.Error("the program was started by a process that does not exist")
	}
}

func (u *suite) inputTests() []test {
	return []test{
		{"own pointer", "clicks", (*suite).ownPointer}, {"unknown key", "", (*suite).unknownKey},
		{"click", "clicks", (*suite).click}, {"type", "name", (*suite).typing},
	}
}

// ownPointer checks that the gateway's own pointer either clicks or returns an error, and that the person's
// pointer does not move.
func (u *suite) ownPointer() {
	u.inBackground("click", []test{{"canvas", "", func(u *suite) {
		clicks := len(u.clicks())
		canvas := u.showing("Canvas", desktop.Canvas, desktop.Generic, desktop.Group, desktop.Image, desktop.Region)
		err := u.Backend.Input.Click(u.within(), desktop.OwnSeat, u.window().ID, canvas.Frame.Center(), desktop.LeftButton, 1)
		if err == nil {
			u.until(func() error { return u.clicked(clicks+1, 1, 1) })
			return
		}
		u.refused(err, aai.AutomationNotSupported)
		if got := len(u.clicks()); got != clicks {
			u.Errorf("it clicked %d times anyway", got-clicks)
		}
	}}})
}

// clicks returns the clicks in the program's state.
func (u *suite) clicks() []any {
	all, _ := u.State(u)["clicks"].([]any)
	return all
}

// clicked returns an error if the last of n clicks is wrong.
func (u *suite) clicked(n int, button desktop.MouseButton, count int) error {
	clicks := u.clicks()
	if len(clicks) < n {
		return fmt.Errorf("there were %d clicks, want %d", len(clicks), n)
	}
	last, _ := clicks[len(clicks)-1].(map[string]any)
	if last["button"] != float64(button) || last["count"] != float64(count) {
		return fmt.Errorf("the last click is %v, want button %d for the %d. time", last, button, count)
	}
	return nil
}

func (u *suite) unknownKey() {
	err := u.Backend.Input.Key(u.within(), desktop.OwnSeat, u.window().ID, desktop.Chord{Key: "no such key"})
	u.coded(err, aai.InvalidParams)
}

// click clicks with the person's pointer.
func (u *suite) click() {
	w := u.window()
	if err := u.Backend.Windows.Activate(u.within(), w.ID); err != nil {
		u.Fatal(err)
	}
	canvas := u.showing("Canvas", desktop.Canvas, desktop.Generic, desktop.Group, desktop.Image, desktop.Region)
	n := len(u.clicks())
	if err := u.Backend.Input.Click(u.within(), desktop.PersonSeat, w.ID, canvas.Frame.Center(), desktop.RightButton, 1); err != nil {
		u.Fatal(err)
	}
	u.until(func() error { return u.clicked(n+1, desktop.RightButton, 1) })
}

// typing types with the person's keyboard.
func (u *suite) typing() {
	w := u.window()
	if err := u.Backend.Windows.Activate(u.within(), w.ID); err != nil {
		u.Fatal(err)
	}
	box := u.control("Full name")
	if err := u.Backend.Input.Click(u.within(), desktop.PersonSeat, w.ID, box.Frame.Center(), desktop.LeftButton, 1); err != nil {
		u.Fatal(err)
	}
	if err := u.Backend.Input.Key(u.within(), desktop.PersonSeat, w.ID, desktop.Chord{Key: "a", Modifiers: []string{"ctrl"}}); err != nil {
		u.Fatal(err)
	}
	const text = "Grüße αβγ 日本"
	if err := u.Backend.Input.Type(u.within(), desktop.PersonSeat, w.ID, text); err != nil {
		u.Fatal(err)
	}
	u.waitState("name", text)
}
