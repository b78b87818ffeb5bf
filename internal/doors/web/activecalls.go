package web

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// stopPageName is the page that says what is stopped, of all that is.
const stopPageName = "now"

// activeCallsPage shows what runs, and stops it.
func activeCallsPage() page {
	return page{
		name: stopPageName, path: "/now", nav: true, live: []string{EventActiveCalls, EventJournal}, show: showActiveCalls,
		acts: map[string]act{"stop": stopCalls, "start": restartCalls},
	}
}

// activeCall is a call as the tool "running" tells it.
type activeCall struct {
	Call     string    `json:"call"`
	Parent   string    `json:"parent"`
	Caller   string    `json:"caller"`
	Identity string    `json:"identity"`
	Door     string    `json:"door"`
	App      string    `json:"app"`
	Tool     string    `json:"tool"`
	Target   string    `json:"target"`
	On       string    `json:"on"`
	Stage    string    `json:"stage"`
	Since    time.Time `json:"since"`
	Done     float64   `json:"done"`
	Total    float64   `json:"total"`
	Message  string    `json:"message"`

	// Inner says that it is within another call that is shown.
	Inner bool `json:"-"`
	// Who is by what its caller can be stopped.
	Who string `json:"-"`
	// Seconds are how long it has been under way.
	Seconds int `json:"-"`
}

// stopEntry is something that a person has stopped; without a name it is everything.
type stopEntry struct {
	Call   string    `json:"call"`
	Caller string    `json:"caller"`
	At     time.Time `json:"at"`
}

// Unknown reports whether all are stopped of whom a door knows nothing for certain.
func (s stopEntry) Unknown() bool { return strings.HasSuffix(s.Caller, ":") }

// activeCallsPageData is what the page shows.
type activeCallsPageData struct {
	Calls      []activeCall `json:"calls"`
	Stops      []stopEntry  `json:"stops"`
	Unreadable string       `json:"unreadable"`
	More       int          `json:"more"`

	All     bool            `json:"-"` // everything is stopped
	Picture *keptScreenshot `json:"-"` // the last that is kept; nil: none is
	Last    []pastCall      `json:"-"` // those before, where nothing runs
}

// lastCalls is how many calls are shown where nothing runs.
const lastCalls = 8

// keptScreenshot is what a window looked like after a call acted on it.
type keptScreenshot struct {
	Address string    `json:"-"`
	Call    string    `json:"call"`
	App     string    `json:"app"`
	Tool    string    `json:"tool"`
	Time    time.Time `json:"time"`
	Window  string    `json:"window"`
}

// screenshotOf is the one that is kept of a call, of "" the last. The page is good without.
func (v *pageRequest) screenshotOf(call string) *keptScreenshot {
	args := make(map[string]any)
	if call != "" {
		args["call"] = call
	}
	result, err := v.call("picture", args)
	if err != nil || len(result.Images) != 1 {
		return nil
	}
	var p keptScreenshot
	if err := decodeData(result, &p); err != nil {
		return nil
	}
	if p.Address = v.door.images.add(v.session.id, result.Images[0]); p.Address == "" {
		return nil
	}
	return &p
}

func showActiveCalls(v *pageRequest) (any, error) {
	var shown activeCallsPageData
	if err := v.read("running", nil, &shown); err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(shown.Calls))
	for i := range shown.Calls {
		c := &shown.Calls[i]
		known[c.Call] = true
		c.Inner = known[c.Parent]
		if c.Who = c.Identity; c.Who == "" {
			c.Who = c.Door + ":" // all like it: a name is a caller's own word
		}
		c.Seconds = int(math.Max(0, v.door.now().Sub(c.Since).Seconds()))
	}
	for _, s := range shown.Stops {
		shown.All = shown.All || s.Call == "" && s.Caller == ""
	}
	shown.Picture = v.screenshotOf("")
	if len(shown.Calls) == 0 {
		// The page is good without.
		_ = v.read("history", map[string]any{"limit": lastCalls, "looks": false}, &shown.Last)
	}
	return shown, nil
}

// stopArgs are the arguments of a stop or a start by its form.
func (v *pageRequest) stopArgs() map[string]any {
	args := make(map[string]any)
	for _, name := range []string{"call", "caller"} {
		if value := v.form.Get(name); value != "" {
			args[name] = value
		}
	}
	return args
}

// stopCalls stops what the form names, also where the person has closed the page since.
func stopCalls(v *pageRequest) (any, error) {
	v.ctx = context.WithoutCancel(v.ctx)
	args := v.stopArgs()
	result, err := v.call("stop", args)
	if err != nil {
		return nil, err
	}
	v.setNotice(v.text("now", "did."+nameOf(args)))
	if result.Warning != "" {
		v.setNotice(v.text("now", "did."+nameOf(args)) + " " + aai.CleanText(result.Warning, 500))
	}
	return nil, nil
}

func restartCalls(v *pageRequest) (any, error) {
	if _, err := v.call("start", v.stopArgs()); err != nil {
		return nil, err
	}
	v.setNotice(v.text("now", "started"))
	return nil, nil
}

// nameOf says what the arguments name.
func nameOf(args map[string]any) string {
	if who, _ := args["caller"].(string); strings.HasSuffix(who, ":") {
		return "unknown"
	}
	for _, name := range []string{"call", "caller"} {
		if args[name] != nil {
			return name
		}
	}
	return "all"
}
