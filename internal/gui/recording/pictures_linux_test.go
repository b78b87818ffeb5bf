package recording_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
		assert.NilError(t, err)
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
	assert.NilError(t, err)
	_, err = tool(elsewhere, recording.StopTool).Run(t.Context(), at)
	assert.NilError(t, err)
	all := rows()
	assert.Assert(t, !all[0].Recording, "%+v", all)
	assert.Equal(t, all[0].Count, 2, "%+v", all)
	pictures, err := filepath.Glob(filepath.Join(folder, "*.png"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(pictures, 2))
	for _, path := range pictures {
		b, err := os.ReadFile(path)
		assert.NilError(t, err)
		if to := os.Getenv("AAI_PICTURES"); to != "" {
			_ = os.WriteFile(filepath.Join(to, filepath.Base(path)), b, 0o600)
		}
		info, err := os.Stat(path)
		assert.NilError(t, err, "%s %v", path, info)
		assert.Assert(t, info.Mode().Perm() == 0o600, "%s %v", path, info)
		picture, err := png.Decode(bytes.NewReader(b))
		assert.NilError(t, err)
		field := image.Rect(pin.X, pin.Y, pin.X+pin.W, pin.Y+pin.H).Sub(image.Pt(frame.X, frame.Y)).Inset(4)
		for y := field.Min.Y; y < field.Max.Y; y++ {
			for x := field.Min.X; x < field.Max.X; x++ {
				r, green, blue, _ := picture.At(x, y).RGBA()
				assert.Assert(t, r+green+blue == 0, "%s: the field for the PIN is not black at %d, %d", path, x, y)
			}
		}
	}
	_, err = tool(elsewhere, recording.DeleteTool).Run(t.Context(), &aai.Call{Caller: at.Caller, Args: map[string]any{"name": all[0].Name}})
	assert.NilError(t, err)
	left, err := filepath.Glob(filepath.Join(folder, "*-*"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(left, 0))
}
