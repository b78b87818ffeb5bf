package recording_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/gui/recording"
)

// tool returns a builtin tool about recordings.
func tool(m *recording.Manager, name string) *aai.Tool {
	for _, t := range m.Tools() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// TestPicturesOfSteps: each step has a picture beside the recording, which only the person can read. Fields for secrets are
// black in it. A person at another process sees that the recording runs, ends it, and deletes it with its pictures.
func TestPicturesOfSteps(t *testing.T) {
	w := newWorld(t)
	p := w.orders()
	folder := t.TempDir()
	m, elsewhere := &recording.Manager{Folder: folder}, &recording.Manager{Folder: folder}
	g := &gateway.Gateway{Gates: []aai.Gate{&admitAll{}}, Journal: &journal{}}
	g.Catalog = desk{gui.New(gui.Config{Open: func() desktop.Backend { return w.backend }, Recordings: m})}
	if _, err := g.Do(t.Context(), &aai.Call{Caller: aai.Caller{Door: aai.DoorCLI, Session: "s"}, App: aai.DesktopApp, Tool: "ax_record", Args: map[string]any{"app": p.app.ID}}); err != nil {
		t.Fatal(err)
	}
	at := &aai.Call{Caller: aai.Caller{Door: aai.DoorWeb}}
	rows := func() []recording.Row {
		result, err := tool(elsewhere, recording.ListTool).Run(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		return result.Data.([]recording.Row)
	}
	if all := rows(); len(all) != 1 || !all[0].Recording {
		t.Fatalf("%+v", all)
	}
	if _, err := tool(elsewhere, recording.StopTool).Run(t.Context(), &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Session: "other"}}); err == nil {
		t.Error("an agent has stopped the recording of another")
	}
	p.click(`role:textbox name:"Door PIN"`)
	p.types("482913")
	p.click(`role:checkbox name:"Wrap as gift"`)
	w.until("two steps", func() bool { return rows()[0].Count == 2 })
	pin, frame := w.find(p.app, `role:textbox name:"Door PIN"`).Frame, desktop.Rect{}
	windows, err := w.screen.Windows(t.Context())
	for _, one := range windows {
		if one.PID == p.app.PID {
			frame = one.Frame
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool(elsewhere, recording.StopTool).Run(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	all := rows()
	if all[0].Recording || all[0].Count != 2 {
		t.Fatalf("%+v", all)
	}
	pictures, err := filepath.Glob(filepath.Join(folder, "*.png"))
	if err != nil || len(pictures) != 2 {
		t.Fatalf("%q, %v", pictures, err)
	}
	for _, path := range pictures {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if to := os.Getenv("AAI_PICTURES"); to != "" {
			_ = os.WriteFile(filepath.Join(to, filepath.Base(path)), b, 0o600)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
		picture, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		field := image.Rect(pin.X, pin.Y, pin.X+pin.W, pin.Y+pin.H).Sub(image.Pt(frame.X, frame.Y)).Inset(4)
		for y := field.Min.Y; y < field.Max.Y; y++ {
			for x := field.Min.X; x < field.Max.X; x++ {
				if r, green, blue, _ := picture.At(x, y).RGBA(); r+green+blue != 0 {
					t.Fatalf("%s: the field for the PIN is not black at %d, %d", path, x, y)
				}
			}
		}
	}
	if _, err := tool(elsewhere, recording.DeleteTool).Run(t.Context(), &aai.Call{Caller: at.Caller, Args: map[string]any{"name": all[0].Name}}); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*-*")); err != nil || len(left) != 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
