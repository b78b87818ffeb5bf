package fakedesktop_test

import (
	"context"
	"fmt"
	"image/color"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// code returns the code of an error, "" for none.
func code(err error) aai.Code {
	if err == nil {
		return ""
	}
	return aai.AsError(err).Code
}

func shot(t testing.TB, d *fakedesktop.Desktop, p *fakedesktop.Program) *desktop.Snapshot {
	t.Helper()
	s, err := d.Backend().Tree.Snapshot(t.Context(), p.App())
	assert.NilError(t, err)
	return s
}

// TestHang checks that requests to a hanging program take effect when it resumes, in order, even if their
// callers have left.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := fakedesktop.New()
		p := d.Program("Editor")
		pressed := []string{}
		w := p.Window("One")
		first := w.Button("First", func() { pressed = append(pressed, "first") })
		second := w.Button("Second", func() { pressed = append(pressed, "second") })
		p.Hang()
		for _, b := range []*fakedesktop.Element{first, second} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := d.Backend().Actor.Execute(ctx, p.App(), b.ID(), desktop.Act{Verb: desktop.Press})
			assert.Check(t, is.Equal(code(err), aai.Timeout), err)
			assert.Check(t, is.Equal(aai.AsError(err).Delivery, aai.DeliveryUnknown), err)
			cancel()
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = d.Backend().Actor.Execute(ctx, p.App(), first.ID(), desktop.Act{Verb: desktop.Press}) // never reached the program
		begun := time.Now()
		p.After(time.Second, func() { pressed = append(pressed, "timer") })
		time.AfterFunc(time.Minute, p.Resume)
		_, err := d.Backend().Tree.Snapshot(t.Context(), p.App())
		assert.NilError(t, err)
		assert.Equal(t, time.Since(begun), time.Minute)
		synctest.Wait()
		want := []string{"first", "second", "timer"}
		assert.Check(t, slices.Equal(pressed, want), "happened: %q, want %q", pressed, want)
	})
}

// TestQuitWhileHanging checks that waiting callers get an error.
func TestQuitWhileHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := fakedesktop.New()
		p := d.Program("Editor")
		b := p.Window("One").Button("First", func() { t.Error("a program that has ended acts") })
		app := p.App()
		p.Hang()
		time.AfterFunc(time.Second, p.Quit)
		err := d.Backend().Actor.Execute(t.Context(), app, b.ID(), desktop.Act{Verb: desktop.Press})
		assert.Check(t, is.Equal(code(err), aai.AppNotRunning), err)
		_, err = d.Backend().Events.Watch(t.Context(), app)
		assert.Check(t, is.Equal(code(err), aai.AppNotRunning), err)
		apps, err := d.Backend().Tree.Apps(t.Context())
		assert.NilError(t, err)
		assert.Assert(t, is.Len(apps, 0))
	})
}

func TestHuge(t *testing.T) {
	d := fakedesktop.New()
	p := d.Program("Sheet")
	table := p.Window("One").HugeTable("Cells", 5, 1_000_000, func(i int) string { return fmt.Sprint("Row ", i) })
	s := shot(t, d, p)
	i := s.Index(table.ID())
	got := len(s.Children(i))
	assert.Check(t, is.Equal(got, 5))
	assert.Check(t, is.Equal(s.Elements[i].UnreadChildren, 999_995))
	tree := d.Backend().Tree
	for range 2 {
		rows, err := tree.Children(t.Context(), p.App(), table.ID(), 3, 4)
		assert.NilError(t, err)
		assert.Assert(t, is.Len(rows, 4))
		assert.Equal(t, rows[0].ID, s.Elements[s.Children(i)[3]].ID)
		assert.Equal(t, rows[3].Name, "Row 6")
		e, err := tree.Read(t.Context(), p.App(), rows[3].ID)
		assert.NilError(t, err, "%+v", e)
		assert.Equal(t, e.Name, "Row 6", "%+v", e)
	}
	rows, err := tree.Children(t.Context(), p.App(), table.ID(), 999_999, 10)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(rows, 1))
	assert.Check(t, is.Equal(shot(t, d, p).Version, s.Version), "reading rows has changed the program")
}

// TestCovered compares the covered part of a window with the pixels of a screenshot.
func TestCovered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := fakedesktop.New()
		side := func(name string, most int) int { return rapid.IntRange(1, most).Draw(t, name) }
		window := func(i int) *fakedesktop.Window {
			frame := desktop.Rect{X: side("x", 30), Y: side("y", 30), W: side("w", 30), H: side("h", 30)}
			return d.Program(fmt.Sprint(i)).Window(fmt.Sprint(i)).Move(frame)
		}
		w := window(0)
		for i := range rapid.IntRange(0, 4).Draw(t, "others") {
			window(i + 1)
		}
		windows, err := d.Backend().Windows.Windows(context.Background())
		assert.NilError(t, err)
		info := windows[len(windows)-1]
		picture, err := d.Backend().Screen.Capture(context.Background(), info.Frame)
		assert.NilError(t, err)
		hidden := 0
		for y := range info.Frame.H {
			for x := range info.Frame.W {
				at := desktop.Point{X: info.Frame.X + x, Y: info.Frame.Y + y}
				seen, err := d.Backend().Windows.WindowAt(context.Background(), at)
				assert.NilError(t, err)
				assert.Equal(t, (seen.ID == info.ID), (picture.RGBAAt(x, y) == w.Color()), "at %v is seen %+v, but the picture has %v", at, seen, picture.RGBAAt(x, y))
				if seen.ID != info.ID {
					hidden++
				}
			}
		}
		want := float64(hidden) / float64(info.Frame.W*info.Frame.H)
		assert.Assert(t, !(info.Covered < want-1e-9), "covered is %v, want %v", info.Covered, want)
		assert.Assert(t, !(info.Covered > want+1e-9), "covered is %v, want %v", info.Covered, want)
	})
}

// TestPictures checks that each showing element is painted at its position in its own colour.
func TestPictures(t *testing.T) {
	d := fakedesktop.New()
	f := d.Fixture("Fixture")
	seen := make(map[color.RGBA]bool)
	for _, x := range []*fakedesktop.Element{f.Main.Button("a", nil), f.Main.Slider("b", 0, 1, 0)} {
		frame := x.Frame()
		picture, err := d.Backend().Screen.Capture(t.Context(), frame)
		assert.NilError(t, err, x)
		assert.Equal(t, picture.RGBAAt(0, 0), x.Color(), x)
		assert.Equal(t, picture.RGBAAt(frame.W-1, frame.H-1), x.Color(), x)
		assert.Check(t, !seen[x.Color()], "%s has another's colour", x)
		seen[x.Color()] = true
	}
}

func TestRecycle(t *testing.T) {
	d := fakedesktop.New()
	p := d.Program("Files")
	list := p.Window("One").List("Files", 0, "a", "b")
	before := shot(t, d, p)
	list.Recycle("c")
	after := shot(t, d, p)
	i := len(before.Elements) - 2
	if before.Elements[i].ID != after.Elements[i].ID || after.Elements[i].Name != "c" || after.Elements[i+1].Name != "b" {
		t.Errorf("recycled %+v to %+v", before.Elements[i:], after.Elements[i:])
	}
	list.Rerender("c", "b")
	anew := shot(t, d, p)
	assert.Check(t, anew.Elements[i].ID != after.Elements[i].ID, "drawn anew %+v", anew.Elements[i])
	assert.Check(t, is.Equal(anew.Elements[i].Name, "c"), "%+v", anew.Elements[i])
	desktoptest.WellFormed(t, anew)
}

// TestPauseWhenCovered checks that the program answers, and does nothing while it is covered.
func TestPauseWhenCovered(t *testing.T) {
	d := fakedesktop.New()
	p := d.Program("Browser").PauseWhenCovered()
	n := 0
	w := p.Window("One")
	b := w.Button("Count", func() { n++ })
	press := func(want int) {
		t.Helper()
		if err := d.Backend().Actor.Execute(t.Context(), p.App(), b.ID(), desktop.Act{Verb: desktop.Press}); err != nil || n != want {
			t.Errorf("pressed %d times, want %d, %v", n, want, err)
		}
	}
	press(1)
	cover := d.Program("Cover").Window("Cover").Move(desktop.Rect{W: fakedesktop.Width, H: fakedesktop.Height})
	press(1)
	cover.Close()
	press(2)
	w.Minimize()
	press(2)
	w.Raise()
	press(3)
}

// TestWhoTakesTheFocus checks that the person notices exactly those actions that raise a window.
func TestWhoTakesTheFocus(t *testing.T) {
	d := fakedesktop.New()
	eager, calm := d.Program("GTK").RaiseOnFocus(), d.Program("Qt")
	boxes := []*fakedesktop.Element{eager.Window("One").Textbox("a"), calm.Window("Two").Textbox("b")}
	d.Program("Person").Window("Mail")
	for i, p := range []*fakedesktop.Program{calm, eager} {
		assert.NilError(t, d.Backend().Actor.Execute(t.Context(), p.App(), boxes[1-i].ID(), desktop.Act{Verb: desktop.TakeFocus}))
		if !boxes[1-i].Has(desktop.Focused) || d.Person().FocusMoves != i {
			t.Errorf("%s: focused %v, noticed %+v", p.App().Name, boxes[1-i].Has(desktop.Focused), d.Person())
		}
	}
}

func TestPrograms(t *testing.T) {
	d := fakedesktop.New()
	shell := d.Program("sh")
	script := d.Program("script").SetParent(shell.PID())
	app := d.Program("app").SetParent(script.PID())
	d.Install("editor", func() *fakedesktop.Program { return d.Program("Editor") })
	programs := d.Backend().Programs
	for _, c := range []struct {
		pid, ancestor int
		want          bool
	}{
		{app.PID(), script.PID(), true}, {app.PID(), shell.PID(), true}, {shell.PID(), app.PID(), false},
		{app.PID(), app.PID(), false}, {app.PID(), 999_999, false}, {999_999, shell.PID(), false},
	} {
		assert.Check(t, is.Equal(programs.IsDescendant(c.pid, c.ancestor), c.want), "%d %d", c.pid, c.ancestor)
	}
	editor, err := programs.Find("editor")
	assert.NilError(t, err)
	pid, err := programs.Start(t.Context(), editor, nil)
	assert.NilError(t, err, "%d", pid)
	assert.Assert(t, pid > app.PID(), "Start: %d, %v", pid, err)
	assert.Assert(t, programs.IsRunning(pid), "Start: %d, %v", pid, err)
	assert.Assert(t, !programs.IsRunning(999_999), "Start: %d, %v", pid, err)
	_, err = programs.Find("edtor")
	assert.Check(t, is.Equal(code(err), aai.AppNotFound), err)
	assert.Check(t, is.Contains(aai.AsError(err).Candidates, "editor"), err)
}

// TestAnything applies random actions to a program, and takes a snapshot after each step.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := fakedesktop.New()
		f := d.Fixture("Fixture")
		backend := d.Backend()
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			s, err := backend.Tree.Snapshot(context.Background(), f.App())
			assert.NilError(t, err)
			wellFormed(t, s)
			e := s.Elements[rapid.IntRange(0, len(s.Elements)-1).Draw(t, "element")]
			verb := rapid.SampledFrom([]desktop.Verb{
				desktop.Press, desktop.SetText, desktop.InsertText, desktop.SetNumber, desktop.SelectItem, desktop.TakeFocus, desktop.ScrollTo,
			}).Draw(t, "verb")
			err = backend.Actor.Execute(context.Background(), f.App(), e.ID, desktop.Act{Verb: verb, Text: "ä", Number: 40})
			if c := code(err); c != "" && c != aai.AutomationNotSupported && c != aai.AutomationFailed {
				t.Fatalf("%s of %s: %v", verb, desktop.Describe(&e), err)
			}
			now, err := backend.Tree.Read(context.Background(), f.App(), e.ID)
			assert.Assert(t, err != nil || now.ID == e.ID, "Read of %s gives %s", e.ID, now.ID)
		}
	})
}

// wellFormed is desktoptest.WellFormed for rapid, which does not implement testing.TB.
func wellFormed(t *rapid.T, s *desktop.Snapshot) {
	t.Helper()
	ids := make(map[desktop.ID]bool)
	for i, e := range s.Elements {
		assert.Assert(t, !ids[e.ID], "element %d is %+v", i, e)
		assert.Assert(t, e.Parent < i, "element %d is %+v", i, e)
		assert.Assert(t, e.End > i, "element %d is %+v", i, e)
		assert.Assert(t, !e.States.Has(desktop.Protected) || e.Value == "", "element %d is %+v", i, e)
		assert.Assert(t, e.States.Has(desktop.Showing) != e.Frame.Empty(), "element %d is %+v", i, e)
		ids[e.ID] = true
	}
}
