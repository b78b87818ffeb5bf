// Package pictures keeps, of the apps that the person names and of no other, what a window
// looked like after it was acted on: for the person, who may want to see what was done, and
// never for agents. A picture is made as the desktop's tools make one for a caller, so not
// while a password is typed or the window guards the person. It is kept a day at most.
//
// The package knows the desktop as an app with tools, and keeps pictures as answers are kept.
package pictures

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"aai"
	"aai/internal/answers"
	"aai/internal/schema"
)

// ToolName is the tool that gives a picture.
const ToolName = "picture"

const (
	// Most is how large what is kept of a picture may be, in bytes.
	Most = 2 << 20
	// side is the longer side of a picture, in pixels.
	side = 1024
	// patience is how long a picture may take.
	patience = 5 * time.Second
)

// Config says what is kept.
type Config struct {
	Keeper *answers.Keeper
	// Apps are the ids of the apps of which pictures are kept, such as "desktop/mousepad", or
	// "*" for all; none: nothing is kept.
	Apps []string
	// Desktop is the app whose tools look at windows; nil: there is none.
	Desktop *aai.App
	// Next hears of each deed before.
	Next aai.Deeds
	Log  *slog.Logger
}

// An Album keeps pictures. It is safe for concurrent use.
type Album struct {
	cfg Config

	taking chan struct{} // full while one is taken: what comes meanwhile is not pictured
	all    sync.WaitGroup
}

// New returns the album. It touches nothing until something is done.
func New(cfg Config) *Album { return &Album{cfg: cfg, taking: make(chan struct{}, 1)} }

// Did implements aai.Deeds. It does not wait for the picture.
func (a *Album) Did(ctx context.Context, d *aai.Deed) {
	a.cfg.Next.Did(ctx, d)
	if len(a.cfg.Apps) == 0 || a.cfg.Desktop == nil || d.App != aai.DesktopApp || d.Target == "" {
		return
	}
	select {
	case a.taking <- struct{}{}:
	default:
		return
	}
	a.all.Go(func() {
		defer func() { <-a.taking }()
		defer func() {
			if v := recover(); v != nil {
				a.cfg.Log.Warn("a picture cannot be kept", "call", d.Call, "cause", v)
			}
		}()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		if err := a.keep(ctx, d); err != nil {
			a.cfg.Log.Debug("a picture cannot be kept", "call", d.Call, "cause", err)
		}
	})
}

// A picture is what is kept.
type picture struct {
	MIME   string `json:"mime"`
	Data   []byte `json:"data"`
	Window string `json:"window,omitempty"`
}

// keep takes the picture of the window that was acted on, and keeps it.
func (a *Album) keep(ctx context.Context, d *aai.Deed) error {
	entry := &aai.Entry{Kind: aai.Outcome, Time: d.Time, Call: d.Call, App: d.App, Tool: d.Tool, Target: d.Target}
	entry.Answer = func() any { return nil }
	if taken, _ := a.cfg.Keeper.Take(ctx, entry); taken == entry {
		return nil // of this app none is kept
	}
	call := &aai.Call{
		ID: d.Call, Caller: aai.Caller{Door: aai.DoorWeb, Name: ToolName, Session: ToolName}, // nobody's conversation
		App: aai.DesktopApp, Args: map[string]any{"app": strings.TrimPrefix(d.Target, aai.DesktopApp+"/"), "max_side": side},
	}
	target, err := a.cfg.Desktop.Targets(ctx, call, call.Args["app"].(string)) //nolint:forcetypeassert // it is set above
	if err != nil {
		return err
	}
	if call.Target = target; target.ID != d.Target {
		return aai.Errorf(aai.AppNotRunning, "%s is not there any more", d.Target)
	}
	if target.Guards != nil {
		if what := target.Guards(ctx); what != "" {
			return aai.Errorf(aai.PermissionDenied, "it shows %s", what)
		}
	}
	if call.Args["window_index"], err = a.window(ctx, call, d.On.Window); err != nil {
		return err
	}
	result, err := a.cfg.Desktop.Tool("ax_screenshot").Run(ctx, call)
	if err != nil {
		return err
	}
	if len(result.Images) != 1 {
		return aai.Errorf(aai.Internal, "%d pictures were taken; expected one", len(result.Images))
	}
	entry.Answer = func() any { return picture{result.Images[0].MIME, result.Images[0].Data, d.On.Window} }
	_, keep := a.cfg.Keeper.Take(ctx, entry)
	keep()
	return nil
}

// window is the index of the program's window with the title, as ax_screenshot counts; of
// none the front one's.
func (a *Album) window(ctx context.Context, call *aai.Call, title string) (int, error) {
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
func (a *Album) Close() error {
	a.all.Wait()
	return nil
}

const (
	params = `{"type": "object", "additionalProperties": false, "properties": {
		"call": {"type": "string", "minLength": 1, "maxLength": 100, "description": "The id of a call that acted on a window; without it the last of which a picture is kept"}}}`
	returns = `{"type": "object", "properties": {"call": {"type": "string"}, "app": {"type": "string"}, "tool": {"type": "string"},
		"time": {"type": "string", "format": "date-time"}, "window": {"type": "string"}}}`
)

// Tool returns the tool that gives the picture of a call.
func (a *Album) Tool() *aai.Tool {
	return &aai.Tool{
		Name: ToolName, Description: "Show what a window looked like after a call acted on it, where that is kept",
		Params: schema.MustParse(params), Returns: aai.Schema{Source: json.RawMessage(returns)},
		Effect: aai.Reads, Natural: true, Private: true, Pictures: true, Run: a.show,
	}
}

func (a *Album) show(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	id, _ := call.Args["call"].(string)
	look := a.cfg.Keeper.Latest
	if id != "" {
		look = func(ctx context.Context) (*answers.Answer, error) { return a.cfg.Keeper.Get(ctx, id) }
	}
	kept, err := look(ctx)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the picture cannot be read: %w", err)
	}
	var p picture
	if kept == nil && id == "" {
		return &aai.Result{Text: "No picture is kept.", Data: map[string]any{}}, nil
	}
	if kept != nil {
		err = json.Unmarshal(kept.Answer, &p)
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
