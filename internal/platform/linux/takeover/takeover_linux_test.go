package takeover_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image/png"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/platform/linux/takeover"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A world is a running isolated session with a window that writes the input that it gets.
type world struct {
	*private.Isolated
	desk   *private.Session
	window *private.Program
	relay  *takeover.Relay
}

func newWorld(t *testing.T) *world {
	t.Helper()
	i, err := private.NewIsolated(private.Options{Width: 600, Height: 400, Label: "a test"})
	assert.NilError(t, err)
	w := &world{Isolated: i, relay: takeover.New()}
	t.Cleanup(func() {
		assert.Check(t, w.relay.Close())
		w.end(t)
		assert.Check(t, i.LockFile().Close())
	})
	w.desk, err = i.Start(t.Context(), os.Environ(), nil)
	assert.NilError(t, err)
	w.window, err = w.desk.Start(private.Command{Name: "xev", Args: []string{"-geometry", "300x200+100+100", "-event", "keyboard", "-event", "button", "-event", "focus"}})
	assert.NilError(t, err)
	assert.NilError(t, w.window.Await(t.Context(), "it has the keyboard", func() bool { return strings.Contains(w.window.Output(), "FocusIn") }))
	return w
}

// end ends the session and removes it. It may be called again.
func (w *world) end(t *testing.T) {
	t.Helper()
	assert.Check(t, w.desk.End())
	assert.Check(t, w.Finish())
}

// inputs returns the names of the window's events, without those of the focus.
func (w *world) inputs() (events []string) {
	for line := range strings.Lines(w.window.Output()) {
		if name, _, is := strings.Cut(line, " event,"); is && !strings.HasPrefix(name, "Focus") && name != "KeymapNotify" {
			events = append(events, name)
		}
	}
	return events
}

// do calls a tool through a door.
func (w *world) do(t *testing.T, door, tool string, args map[string]any) (*aai.Result, error) {
	t.Helper()
	tools := w.relay.Tools()
	i := slices.IndexFunc(tools, func(other *aai.Tool) bool { return other.Name == tool })
	return tools[i].Run(t.Context(), &aai.Call{Caller: aai.Caller{Door: door, Name: "test"}, App: aai.BuiltinApp, Tool: tool, Args: args})
}

// TestInputReachesOneSession checks that the input of the page reaches the window of its session, and no window of
// another session or of the person's own screen, to which DISPLAY leads.
func TestInputReachesOneSession(t *testing.T) {
	w, other, own := newWorld(t), newWorld(t), newWorld(t)
	t.Setenv("DISPLAY", own.Display())
	t.Setenv("XAUTHORITY", own.Getenv("XAUTHORITY"))
	_, err := w.do(t, aai.DoorWeb, takeover.TakeTool, map[string]any{"id": w.ID()})
	assert.NilError(t, err)
	for _, input := range []map[string]any{
		{"x": 250, "y": 250}, {"x": 250, "y": 250, "button": "right", "count": 2}, {"text": "aé€"}, {"key": "f5"}, {"key": "v", "modifiers": []any{"ctrl"}},
		{"x": 599, "y": 399}, // the empty part of the screen
	} {
		input["id"] = w.ID()
		_, err := w.do(t, aai.DoorWeb, takeover.InputTool, input)
		assert.NilError(t, err, "%v", input)
	}
	assert.NilError(t, w.window.Await(t.Context(), "it has all input", func() bool { return strings.Contains(w.window.Output(), "keysym 0x76, v)") }))
	said := w.window.Output()
	for _, part := range []string{"button 1,", "button 3,", "keysym 0x61, a)", "keysym 0xe9, eacute)", "U20AC)", "F5)", "Control_L)"} {
		assert.Check(t, is.Contains(said, part))
	}
	assert.Check(t, is.Equal(strings.Count(said, "ButtonPress event"), 3))
	assert.Check(t, is.Len(other.inputs(), 0))
	assert.Check(t, is.Len(own.inputs(), 0))
}

// TestInputIsRefused checks that input needs the page, a running session, and a person who has taken it over.
func TestInputIsRefused(t *testing.T) {
	w := newWorld(t)
	input := map[string]any{"id": w.ID(), "key": "return"}
	refused := func(door, tool string, args map[string]any, code aai.Code) {
		t.Helper()
		_, err := w.do(t, door, tool, args)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s by %q", tool, door)
		assert.Check(t, is.Equal(e.Code, code), e)
		assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered), e)
	}
	refused(aai.DoorWeb, takeover.InputTool, input, aai.PermissionDenied) // not taken over
	assert.NilError(t, w.SetTaken(true))
	for _, door := range []string{aai.DoorMCP, aai.DoorCLI, ""} {
		refused(door, takeover.InputTool, input, aai.PermissionDenied)
	}
	for _, tool := range []string{takeover.TakeTool, takeover.GiveTool} {
		refused(aai.DoorMCP, tool, map[string]any{"id": w.ID()}, aai.PermissionDenied)
	}
	assert.Check(t, private.IsTaken(w.Folder))
	for _, id := range []string{"0", ""} {
		refused(aai.DoorWeb, takeover.GiveTool, map[string]any{"id": id}, aai.AppNotFound)
	}
	assert.Check(t, is.Len(w.inputs(), 0))
}

// TestInputNeedsTheSessionsServer checks that no input is sent to another X server at the display of the session.
func TestInputNeedsTheSessionsServer(t *testing.T) {
	w, own := newWorld(t), newWorld(t)
	assert.NilError(t, w.SetTaken(true))
	cookie, err := os.ReadFile(own.Getenv("XAUTHORITY"))
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(w.Getenv("XAUTHORITY"), cookie, 0o600))
	assert.NilError(t, os.WriteFile(w.Folder+"/display", []byte(own.Display()), 0o600))
	_, err = w.do(t, aai.DoorWeb, takeover.InputTool, map[string]any{"id": w.ID(), "key": "return"})
	assert.Check(t, is.ErrorContains(err, "not that of the session"))
	assert.Check(t, is.Len(own.inputs(), 0))
}

// TestList checks the list of sessions, and that it has no ended ones.
func TestList(t *testing.T) {
	w := newWorld(t)
	row := func() *answer.Session {
		result, err := w.do(t, aai.DoorCLI, takeover.ListTool, nil)
		assert.NilError(t, err)
		text, err := json.Marshal(result.Data)
		assert.NilError(t, err)
		var rows []answer.Session
		assert.NilError(t, json.Unmarshal(text, &rows))
		if i := slices.IndexFunc(rows, func(s answer.Session) bool { return s.ID == w.ID() }); i >= 0 {
			return &rows[i]
		}
		return nil
	}
	got := row()
	assert.Assert(t, got != nil)
	assert.Check(t, time.Since(got.Since) < time.Minute)
	assert.Check(t, is.DeepEqual(*got, answer.Session{ID: w.ID(), Label: "a test", Display: w.Display(), Width: 600, Height: 400, Since: got.Since}))
	for _, tool := range []string{takeover.TakeTool, takeover.GiveTool} {
		for _, noOp := range []bool{false, true} {
			result, err := w.do(t, aai.DoorWeb, tool, map[string]any{"id": w.ID()})
			assert.NilError(t, err)
			assert.Check(t, is.Equal(result.NoOp, noOp), tool)
			assert.Check(t, is.Equal(row().Taken, tool == takeover.TakeTool))
		}
	}
	w.end(t)
	assert.Check(t, row() == nil)
}

// TestWatch checks that a picture is shown at once and after changes alone, and that the last one of a session that ends
// is dark.
func TestWatch(t *testing.T) {
	w := newWorld(t)
	shown, errs := make(chan []byte, 100), make(chan error, 1)
	go func() {
		errs <- takeover.Watch(t.Context(), w.ID(), func(png []byte) error { shown <- png; return nil })
	}()
	first, err := png.Decode(bytes.NewReader(<-shown))
	assert.NilError(t, err)
	assert.Check(t, is.Equal(first.Bounds().Dx(), 600))
	red, _, _, _ := first.At(250, 150).RGBA()
	assert.Check(t, red > 0xf000, "the window is not white: %x", red)
	select {
	case <-shown: // a program may draw once more
	case <-time.After(time.Second):
	}
	select {
	case <-shown:
		t.Error("a picture is shown again without a change")
	case <-time.After(time.Second):
	}
	assert.NilError(t, w.window.End())
	changed, err := png.Decode(bytes.NewReader(<-shown))
	assert.NilError(t, err)
	red, _, _, _ = changed.At(250, 150).RGBA()
	assert.Check(t, red < 0x4000, "the window is still there: %x", red)
	w.end(t)
	assert.NilError(t, <-errs)
	assert.Check(t, len(shown) > 0, "the end is not shown")
}

// swayVariable makes this program the part of TestSway that runs as another account.
const swayVariable = "AAI_TEST_SWAY"

// TestSway checks the picture and the input of a session with Sway.
func TestSway(t *testing.T) {
	if os.Getenv(swayVariable) == "" {
		self, err := os.Executable()
		assert.NilError(t, err)
		folder := t.TempDir()
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestSway$")
		cmd.Dir, cmd.SysProcAttr = folder, linuxtest.AsNobody(t, folder)
		cmd.Env = append(os.Environ(), swayVariable+"=1", "HOME="+folder, "TMPDIR="+folder, "XDG_RUNTIME_DIR="+folder)
		out, err := cmd.CombinedOutput()
		assert.NilError(t, err, string(out))
		return
	}
	i, err := private.NewIsolated(private.Options{Width: 600, Height: 400, Wayland: true})
	assert.NilError(t, err)
	w := &world{Isolated: i, relay: takeover.New()}
	defer func() { assert.Check(t, w.relay.Close()); w.end(t) }()
	w.desk, err = i.Start(t.Context(), os.Environ(), nil)
	assert.NilError(t, err)
	w.window, err = w.desk.Start(private.Command{Name: "zenity", Args: []string{"--entry", "--text", "Name"}})
	assert.NilError(t, err)
	shown, ctx := make(chan []byte, 1000), t.Context()
	go func() { _ = takeover.Watch(ctx, w.ID(), func(png []byte) error { shown <- png; return nil }) }()
	_, err = w.do(t, aai.DoorWeb, takeover.TakeTool, map[string]any{"id": w.ID()})
	assert.NilError(t, err)
	isWhite := func() bool { // the field of the dialog, which fills the screen
		picture, err := png.Decode(bytes.NewReader(<-shown))
		assert.NilError(t, err)
		red, _, _, _ := picture.At(300, 200).RGBA()
		return red > 0x8000
	}
	for !isWhite() {
	}
	for _, input := range []map[string]any{{"x": 300, "y": 200}, {"text": "aé€"}, {"key": "return"}} {
		input["id"] = w.ID()
		_, err := w.do(t, aai.DoorWeb, takeover.InputTool, input)
		assert.NilError(t, err, "%v", input)
	}
	assert.NilError(t, w.window.AwaitEnd())
	assert.Check(t, is.Contains(w.window.Output(), "aé€"))
}

// TestWatchEnds checks that watching ends with the context, and with an error of show.
func TestWatchEnds(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := takeover.Watch(ctx, w.ID(), func([]byte) error { cancel(); return nil })
	assert.Check(t, is.ErrorIs(err, context.Canceled))
	gone := errors.New("gone")
	assert.Check(t, is.ErrorIs(takeover.Watch(t.Context(), w.ID(), func([]byte) error { return gone }), gone))
	assert.Check(t, aai.AsError(takeover.Watch(t.Context(), "0", nil)).Code == aai.AppNotFound)
}
