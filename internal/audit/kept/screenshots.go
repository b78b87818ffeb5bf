package kept

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// ScreenshotToolName is the name of the tool that returns a screenshot.
const ScreenshotToolName = "picture"

const (
	// MaxScreenshotBytes is the limit for a stored screenshot, in bytes.
	MaxScreenshotBytes = 2 << 20
	// maxSide is the longer side of a screenshot, in pixels.
	maxSide = 1024
	// captureTimeout is the limit for one capture.
	captureTimeout = 5 * time.Second
)

// ScreenshotConfig configures a ScreenshotStore.
type ScreenshotConfig struct {
	Results *ResultStore
	// Apps are the IDs of the apps with stored screenshots, such as "desktop/mousepad", or
	// "*" for all. Empty means none.
	Apps []string
	// Desktop is the app with the window tools. Nil means that there is none.
	Desktop *aai.App
	// NextObserver observes each mutation first.
	NextObserver gateway.MutationObserver
	Log          *slog.Logger
}

// A ScreenshotStore takes screenshots of windows that calls acted on, and keeps them in a
// ResultStore. It is safe for concurrent use.
type ScreenshotStore struct {
	cfg ScreenshotConfig

	busy     chan struct{} // full during a capture; mutations meanwhile get no screenshot
	captures sync.WaitGroup
}

// NewScreenshotStore returns the store. It creates no file before the first mutation.
func NewScreenshotStore(cfg ScreenshotConfig) *ScreenshotStore {
	return &ScreenshotStore{cfg: cfg, busy: make(chan struct{}, 1)}
}

// ObserveMutation implements gateway.MutationObserver. It does not wait for the screenshot.
func (a *ScreenshotStore) ObserveMutation(ctx context.Context, d *gateway.Mutation) {
	a.cfg.NextObserver.ObserveMutation(ctx, d)
	if len(a.cfg.Apps) == 0 || a.cfg.Desktop == nil || d.App != aai.DesktopApp || d.Target == "" {
		return
	}
	select {
	case a.busy <- struct{}{}:
	default:
		return
	}
	a.captures.Go(func() {
		defer func() { <-a.busy }()
		defer func() {
			if v := recover(); v != nil {
				a.cfg.Log.Warn("a picture cannot be kept", "call", d.Call, "cause", v)
			}
		}()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), captureTimeout)
		defer cancel()
		if err := a.capture(ctx, d); err != nil {
			a.cfg.Log.Debug("a picture cannot be kept", "call", d.Call, "cause", err)
		}
	})
}

// A screenshot is the stored content of a Result.
type screenshot struct {
	MIME   string `json:"mime"`
	Data   []byte `json:"data"`
	Window string `json:"window,omitempty"`
}

// capture takes a screenshot of the window that the call acted on, and stores it.
func (a *ScreenshotStore) capture(ctx context.Context, d *gateway.Mutation) error {
	entry := &aai.Entry{Kind: aai.Outcome, Time: d.Time, Call: d.Call, App: d.App, Tool: d.Tool, Target: d.Target}
	entry.ResultValue = func() any { return nil }
	if taken, _ := a.cfg.Results.PrepareEntry(ctx, entry); taken == entry {
		return nil // this app has no stored screenshots
	}
	call := &aai.Call{
		ID: d.Call, Caller: aai.Caller{Door: aai.DoorWeb, Name: ScreenshotToolName, Session: ScreenshotToolName}, // belongs to no conversation
		App: aai.DesktopApp, Args: map[string]any{"app": strings.TrimPrefix(d.Target, aai.DesktopApp+"/"), "max_side": maxSide},
	}
	target, err := a.cfg.Desktop.Operator.FindTarget(ctx, call, call.Args["app"].(string)) //nolint:forcetypeassert // it is set above
	if err != nil {
		return err
	}
	if call.Target = target; target.ID != d.Target {
		return aai.Errorf(aai.AppNotRunning, "%s is not there any more", d.Target)
	}
	if target.Process.LockReason != nil {
		if what := target.Process.LockReason(ctx); what != "" {
			return aai.Errorf(aai.PermissionDenied, "it shows %s", what)
		}
	}
	if call.Args["window_index"], err = a.windowIndex(ctx, call, d.Element.Window); err != nil {
		return err
	}
	result, err := a.cfg.Desktop.Tool("ax_screenshot").Run(ctx, call)
	if err != nil {
		return err
	}
	if len(result.Images) != 1 {
		return aai.Errorf(aai.Internal, "%d pictures were taken; expected one", len(result.Images))
	}
	entry.ResultValue = func() any { return screenshot{result.Images[0].MIME, result.Images[0].Data, d.Element.Window} }
	_, keep := a.cfg.Results.PrepareEntry(ctx, entry)
	keep()
	return nil
}

// windowIndex returns the index of the window with the title, in the numbering of
// ax_screenshot, or 0 for the front window.
func (a *ScreenshotStore) windowIndex(ctx context.Context, call *aai.Call, title string) (int, error) {
	result, err := a.cfg.Desktop.Tool("ax_list_windows").Run(ctx, call)
	if err != nil {
		return 0, err
	}
	var found struct {
		Windows []struct {
			Index int    `json:"index"`
			Title string `json:"title"`
		} `json:"windows"`
	}
	text, err := json.Marshal(result.Data)
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil {
		return 0, err
	}
	for _, w := range found.Windows {
		if w.Title == title {
			return w.Index, nil
		}
	}
	return 0, nil
}

// Close waits for a running capture.
func (a *ScreenshotStore) Close() error {
	a.captures.Wait()
	return nil
}

const (
	screenshotParams = `{"type": "object", "additionalProperties": false, "properties": {
		"call": {"type": "string", "minLength": 1, "maxLength": 100, "description": "The id of a call that acted on a window; without it the last of which a picture is kept"}}}`
	screenshotReturns = `{"type": "object", "properties": {"call": {"type": "string"}, "app": {"type": "string"}, "tool": {"type": "string"},
		"time": {"type": "string", "format": "date-time"}, "window": {"type": "string"}}}`
)

// Tool returns the tool that returns the screenshot of a call.
func (a *ScreenshotStore) Tool() *aai.Tool {
	return &aai.Tool{
		Name: ScreenshotToolName, Description: "Show what a window looked like after a call acted on it, where that is kept",
		Params: schema.MustParse(screenshotParams), Returns: aai.Schema{Source: json.RawMessage(screenshotReturns)},
		Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true, TakesScreenshot: true}), Privacy: aai.Privacy{Result: true}, Run: a.runTool,
	}
}

func (a *ScreenshotStore) runTool(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	id, _ := call.Args["call"].(string)
	look := a.cfg.Results.Latest
	if id != "" {
		look = func(ctx context.Context) (*Result, error) { return a.cfg.Results.Get(ctx, id) }
	}
	kept, err := look(ctx)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the picture cannot be read: %w", err)
	}
	var p screenshot
	if kept == nil && id == "" {
		return &aai.Result{Text: "No picture is kept.", Data: map[string]any{}}, nil
	}
	if kept != nil {
		err = json.Unmarshal(kept.Content, &p)
	}
	if err != nil || len(p.Data) == 0 {
		e := aai.Errorf(aai.ElementNotFound, "no picture is kept of the call %s", aai.CleanLabel(id, 60))
		e.Hint = "Pictures are kept for a day, of the apps that the setting journal.pictures names."
		return nil, e
	}
	return &aai.Result{
		Text: kept.Tool + " of " + kept.App, Images: []aai.Image{{MIME: p.MIME, Data: p.Data}},
		Data: map[string]any{"call": kept.Call, "app": kept.App, "tool": kept.Tool, "time": kept.Time, "window": p.Window},
	}, nil
}
