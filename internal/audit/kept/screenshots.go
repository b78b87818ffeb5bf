// Package pictures keeps, of the apps that the person names and of no other, what a window
// looked like after it was acted on: for the person, who may want to see what was done, and
// never for agents. A picture is made as the desktop's tools make one for a caller, so not
// while a password is typed or the window guards the person. It is kept a day at most.
//
// The package knows the desktop as an app with tools, and keeps pictures as answers are kept.
package kept

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// ScreenshotToolName is the tool that gives a picture.
const ScreenshotToolName = "picture"

const (
	// MaxScreenshotBytes is how large what is kept of a picture may be, in bytes.
	MaxScreenshotBytes = 2 << 20
	// maxSide is the longer side of a picture, in pixels.
	maxSide = 1024
	// captureTimeout is how long a picture may take.
	captureTimeout = 5 * time.Second
)

// ScreenshotConfig says what is kept.
type ScreenshotConfig struct {
	Results *ResultStore
	// Apps are the ids of the apps of which pictures are kept, such as "desktop/mousepad", or
	// "*" for all; none: nothing is kept.
	Apps []string
	// Desktop is the app whose tools look at windows; nil: there is none.
	Desktop *aai.App
	// NextObserver hears of each deed before.
	NextObserver aai.MutationObserver
	Log          *slog.Logger
}

// An Album keeps pictures. It is safe for concurrent use.
type ScreenshotStore struct {
	cfg ScreenshotConfig

	busy     chan struct{} // full while one is taken: what comes meanwhile is not pictured
	captures sync.WaitGroup
}

// NewScreenshotStore returns the album. It touches nothing until something is done.
func NewScreenshotStore(cfg ScreenshotConfig) *ScreenshotStore {
	return &ScreenshotStore{cfg: cfg, busy: make(chan struct{}, 1)}
}

// ObserveMutation implements aai.Deeds. It does not wait for the picture.
func (a *ScreenshotStore) ObserveMutation(ctx context.Context, d *aai.Mutation) {
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

// A picture is what is kept.
type screenshot struct {
	MIME   string `json:"mime"`
	Data   []byte `json:"data"`
	Window string `json:"window,omitempty"`
}

// capture takes the picture of the window that was acted on, and keeps it.
func (a *ScreenshotStore) capture(ctx context.Context, d *aai.Mutation) error {
	entry := &aai.Entry{Kind: aai.Outcome, Time: d.Time, Call: d.Call, App: d.App, Tool: d.Tool, Target: d.Target}
	entry.ResultValue = func() any { return nil }
	if taken, _ := a.cfg.Results.PrepareEntry(ctx, entry); taken == entry {
		return nil // of this app none is kept
	}
	call := &aai.Call{
		ID: d.Call, Caller: aai.Caller{Door: aai.DoorWeb, Name: ScreenshotToolName, Session: ScreenshotToolName}, // nobody's conversation
		App: aai.DesktopApp, Args: map[string]any{"app": strings.TrimPrefix(d.Target, aai.DesktopApp+"/"), "max_side": maxSide},
	}
	target, err := a.cfg.Desktop.FindTarget(ctx, call, call.Args["app"].(string)) //nolint:forcetypeassert // it is set above
	if err != nil {
		return err
	}
	if call.Target = target; target.ID != d.Target {
		return aai.Errorf(aai.AppNotRunning, "%s is not there any more", d.Target)
	}
	if target.LockReason != nil {
		if what := target.LockReason(ctx); what != "" {
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

// windowIndex is the index of the program's window with the title, as ax_screenshot counts; of
// none the front one's.
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

// Close waits for a picture that is being taken.
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

// Tool returns the tool that gives the picture of a call.
func (a *ScreenshotStore) Tool() *aai.Tool {
	return &aai.Tool{
		Name: ScreenshotToolName, Description: "Show what a window looked like after a call acted on it, where that is kept",
		Params: schema.MustParse(screenshotParams), Returns: aai.Schema{Source: json.RawMessage(screenshotReturns)},
		Effect: aai.Reads, EffectInherent: true, PrivateResult: true, TakesScreenshot: true, Run: a.runTool,
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
