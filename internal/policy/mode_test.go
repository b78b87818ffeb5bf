package policy

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"aai"
)

// toolOf is a request for a tool of an app with the effect.
func toolOf(app *aai.App, tool aai.Tool) *aai.Request {
	return &aai.Request{Call: &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Name: "agent"}}, App: app, Target: app, Tool: &tool}
}

func TestModes(t *testing.T) {
	app := &aai.App{ID: notes}
	screen := &aai.App{ID: aai.DesktopApp, Targets: func(context.Context, *aai.Call, string) (*aai.App, error) { return nil, nil }}
	starts := toolOf(screen, aai.Tool{Effect: aai.Reads, Starts: true})
	starts.Target = &aai.App{ID: "desktop/xterm"}
	connects := toolOf(screen, aai.Tool{Effect: aai.Reads, Starts: true})
	connects.Target = &aai.App{ID: "desktop/xterm", PID: 7}
	requests := map[string]*aai.Request{
		"reads": toolOf(app, aai.Tool{Effect: aai.Reads}), "changes": toolOf(app, aai.Tool{Effect: aai.Changes}),
		"destroys": toolOf(app, aai.Tool{}), "script": toolOf(app, aai.Tool{Kind: aai.KindScript}),
		"starts": starts, "connects": connects, "own": toolOf(&aai.App{ID: aai.OwnApp}, aai.Tool{Effect: aai.Changes}),
	}
	admitted := map[Mode][]string{
		Normal:    {"changes", "connects", "destroys", "own", "reads", "script", "starts"},
		Safe:      {"changes", "connects", "destroys", "own", "reads", "starts"},
		Sandboxed: {"connects", "own", "reads"},
	}
	for mode, want := range admitted {
		m := NewModes(mode, filepath.Join(t.TempDir(), "mode.json"))
		for name, r := range requests {
			_, err := m.Check(t.Context(), r)
			if slices.Contains(want, name) != (err == nil) {
				t.Errorf("%s %s: %v", mode, name, err)
			}
			if e := aai.AsError(err); e != nil && (e.Code != aai.PermissionDenied || e.Hint == "") {
				t.Errorf("%s %s: %v, hint %q", mode, name, e, e.Hint)
			}
		}
	}
}

// TestTheStricterModeHolds: what a person set in one gateway holds in another at
// once, and never loosens what is configured.
func TestTheStricterModeHolds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		path := filepath.Join(t.TempDir(), "mode.json")
		pick := rapid.SampledFrom([]Mode{Normal, Safe, Sandboxed})
		one, other := NewModes(pick.Draw(r, "one"), path), NewModes(pick.Draw(r, "other"), path)
		for range rapid.IntRange(0, 5).Draw(r, "changes") {
			set := pick.Draw(r, "set")
			now, err := one.Set(set)
			if err != nil || now != stricter(one.configured, set) {
				r.Fatalf("set %s in %s: %s %v", set, one.configured, now, err)
			}
			if now, err := other.Current(); err != nil || now != stricter(other.configured, set) {
				r.Fatalf("the other, %s, has %s %v after %s", other.configured, now, err, set)
			}
		}
	})
}

// TestUnreadableModeIsTheStrictest: a file that says nothing sure lets only what
// reads through, and says why.
func TestUnreadableModeIsTheStrictest(t *testing.T) {
	for _, content := range []string{"", "{", `{}`, `{"mode":"free"}`, `"normal"`, "\x00"} {
		path := filepath.Join(t.TempDir(), "mode.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		m := NewModes(Normal, path)
		if mode, err := m.Current(); mode != Sandboxed || err == nil {
			t.Errorf("%q: %s %v", content, mode, err)
		}
		if _, err := m.Check(t.Context(), toolOf(&aai.App{ID: notes}, aai.Tool{Effect: aai.Changes})); aai.AsError(err).Code != aai.PermissionDenied {
			t.Errorf("%q: %v", content, err)
		}
		if now, err := m.Set(Safe); now != Safe || err != nil {
			t.Errorf("%q: cannot be mended: %s %v", content, now, err)
		}
	}
	if _, err := NewModes(Normal, filepath.Join(t.TempDir(), "m")).Set("free"); aai.AsError(err).Code != aai.InvalidParams {
		t.Errorf("%v", err)
	}
}

// TestListedTools: in the mode "sandboxed" only what reads is listed, everything
// is found, and whoever listens is told of the change.
func TestListedTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := []*aai.Tool{{Name: "look", Effect: aai.Reads}, {Name: "turn", Effect: aai.Changes}, {Name: "drop"}}
		apps := oneApp{app: &aai.App{ID: notes, Tools: tools}}
		m := NewModes(Normal, filepath.Join(t.TempDir(), "mode.json"))
		listed := NewListed(apps, m)
		var told atomic.Int32
		stop := listed.OnChange(func() { told.Add(1) })
		ctx, cancel := context.WithCancel(t.Context())
		watched := make(chan struct{})
		go func() { defer close(watched); m.Watch(ctx) }()
		synctest.Wait() // it has seen the mode as it was
		names := func() (names []string) {
			for _, tool := range listed.Apps()[0].Tools {
				names = append(names, tool.Name)
			}
			return names
		}
		for i, step := range []struct {
			mode Mode
			want int
		}{{Sandboxed, 1}, {Safe, 3}, {Safe, 3}, {Sandboxed, 1}} {
			if _, err := m.Set(step.mode); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * watchMode)
			if got := names(); len(got) != step.want {
				t.Errorf("%s lists %q", step.mode, got)
			}
			if want := []int32{1, 2, 2, 3}[i]; told.Load() != want {
				t.Errorf("%s: told %d times, want %d", step.mode, told.Load(), want)
			}
		}
		if app, err := listed.Find(ctx, notes); err != nil || len(app.Tools) != 3 || len(tools) != 3 {
			t.Errorf("found %v %v", app, err)
		}
		stop()
		_, _ = m.Set(Normal)
		time.Sleep(2 * watchMode)
		if told.Load() != 3 {
			t.Error("told after stop")
		}
		cancel()
		<-watched
	})
}

// oneApp is a catalog of one app that never changes.
type oneApp struct{ app *aai.App }

func (c oneApp) Apps() []*aai.App { return []*aai.App{c.app} }

func (c oneApp) Find(context.Context, string) (*aai.App, error) { return c.app, nil }

func (c oneApp) OnChange(func()) (stop func()) { return func() {} }
