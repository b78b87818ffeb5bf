package kept_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	_ "image/png"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit/kept"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// everything is a catalog, a gate and a journal that admit all calls, and a no-op observer.
type everything struct{ app *aai.App }

func (e everything) Apps() []*aai.App                               { return []*aai.App{e.app} }
func (e everything) Find(context.Context, string) (*aai.App, error) { return e.app, nil }
func (everything) OnChange(func()) (stop func())                    { return func() {} }
func (everything) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	return nil, nil
}
func (everything) Record(context.Context, *aai.Entry) error           { return nil }
func (everything) ObserveMutation(context.Context, *gateway.Mutation) {}

// TestPictures checks that screenshots are stored after mutations of configured apps, but
// not of other apps, not after reads, and not beyond a day.
func TestPictures(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	screen := x11.New(x11.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
	tree := atspi.New(atspi.Config{Getenv: s.Getenv, Windows: screen})
	t.Cleanup(func() { tree.Close(); _ = screen.Close() })
	desk := gui.New(gui.Config{Open: func() desktop.Backend {
		return desktop.Backend{Tree: tree, Offscreen: tree, Actor: tree, Events: tree, Windows: screen, Input: screen, Screen: screen, Clipboard: screen}
	}})
	for _, tool := range desk.Tools { // a slow tool has not failed
		tool.Limits.Timeout += 2 * time.Minute
	}
	f := s.Fixture(t, linuxtest.GTK3)
	parts := everything{desk}
	// album stores screenshots of the apps in a new folder, and returns the gateway that
	// it observes.
	album := func(apps ...string) (*kept.ScreenshotStore, *gateway.Gateway, string) {
		folder := t.TempDir()
		a := kept.NewScreenshotStore(kept.ScreenshotConfig{
			Results: kept.NewResultStore(kept.ResultConfig{Folder: folder, Apps: apps, MaxAge: time.Hour, MaxBytes: kept.MaxScreenshotBytes}),
			Apps:    apps, Desktop: desk, NextObserver: parts, Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		return a, &gateway.Gateway{Catalog: parts, Gates: []aai.Gate{parts}, Journal: parts, MutationObserver: a}, folder
	}
	call := func(g *gateway.Gateway, id, tool string, args map[string]any) error {
		args["app"] = strconv.Itoa(f.PID)
		_, err := g.Do(t.Context(), &aai.Call{ID: id, Caller: aai.Caller{Door: aai.DoorMCP, Identity: "/bin/a"}, App: aai.DesktopApp, Tool: tool, Args: args})
		return err
	}
	picture := func(a *kept.ScreenshotStore, id string) (*aai.Result, error) {
		if err := a.Close(); err != nil { // the screenshot is stored by then
			t.Fatal(err)
		}
		return a.Tool().Run(t.Context(), &aai.Call{Args: map[string]any{"call": id}})
	}

	a, g, folder := album("*")
	for late := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // until its window exists
		err := call(g, "find", "ax_find", map[string]any{"query": "button Press"})
		if err == nil {
			break
		}
		assert.Assert(t, !time.Now().After(late), err)
	}
	assert.NilError(t, call(g, "act", "ax_click", map[string]any{"query": "button Press"}))
	result, err := picture(a, "act")
	assert.NilError(t, err)
	shown, _, err := image.Decode(bytes.NewReader(result.Images[0].Data))
	assert.NilError(t, err)
	assert.Assert(t, shown.Bounds().Dx() >= 100, "the picture is none: %v", err)
	assert.Assert(t, shown.Bounds().Dy() >= 100, "the picture is none: %v", err)
	data, err := json.Marshal(result.Data)
	assert.NilError(t, err, data)
	assert.Assert(t, bytes.Contains(data, []byte(`"tool":"ax_click"`)), data)
	assert.Assert(t, bytes.Contains(data, []byte(f.Title)), data)
	last, err := picture(a, "")
	assert.NilError(t, err, "%+v", last)
	assert.Assert(t, is.Len(last.Images, 1), "%+v", last)
	_, err = picture(a, "find")
	assert.Check(t, err != nil, "of what only reads there is a picture")
	files, err := os.ReadDir(folder)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(files, 1))
	if info, err := files[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}

	for name, apps := range map[string][]string{"none": nil, "another": {"desktop/another"}} {
		a, g, folder := album(apps...)
		assert.NilError(t, call(g, "act", "ax_click", map[string]any{"query": "button Press"}))
		_, err := picture(a, "act")
		assert.Check(t, err != nil, "%s: a picture is kept", name)
		last, err := picture(a, "")
		assert.NilError(t, err, "%s %+v", name, last)
		assert.Assert(t, is.Len(last.Images, 0), "%s %+v", name, last)
		files, err := os.ReadDir(folder)
		assert.NilError(t, err, name)
		assert.Assert(t, is.Len(files, 0), name)
	}
}
