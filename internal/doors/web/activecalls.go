package web

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// stopPageName is the page that lists the stops.
const stopPageName = "now"

// activeCallsPage shows the active calls, and stops them.
func activeCallsPage() page {
	return page{
		name: stopPageName, path: "/now", nav: true, live: []string{EventActiveCalls, EventJournal, EventDesktops}, show: showActiveCalls,
		acts: map[string]act{"stop": stopCalls, "start": restartCalls},
	}
}

// activeCall is a call in the answer of the tool "running".
type activeCall struct {
	answer.ActiveCall

	// Inner reports that another shown call made this one.
	Inner bool `json:"-"`
	// Who is the caller argument of a stop of this call's caller.
	Who string `json:"-"`
	// Seconds is the time since the call's receipt.
	Seconds int `json:"-"`
}

// activeCallsPageData is the template data of activeCallsPage.
type activeCallsPageData struct {
	answer.ActiveCalls[activeCall]

	All     bool                `json:"-"` // everything is stopped
	Picture *keptScreenshot     `json:"-"` // the latest stored screenshot; nil if there is none
	Last    []answer.CallRecord `json:"-"` // the latest finished calls, if none is active

	Recorded *recordingRow    `json:"-"` // the recording that runs; nil: none
	Desktops []answer.Session `json:"-"` // the isolated sessions that run
}

// lastCalls is the number of finished calls to show if none is active.
const lastCalls = 8

// keptScreenshot shows a window after a call acted on it.
type keptScreenshot struct {
	Address string    `json:"-"`
	Call    string    `json:"call"`
	App     string    `json:"app"`
	Tool    string    `json:"tool"`
	Time    time.Time `json:"time"`
	Window  string    `json:"window"`
}

// screenshotOf returns the stored screenshot of a call, or the latest one for "". It returns nil on
// an error: the page works without the screenshot.
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
			c.Who = c.Door + ":" // all like it: the caller chooses its name
		}
		c.Seconds = int(math.Max(0, v.door.now().Sub(c.Since).Seconds()))
	}
	for _, s := range shown.Stops {
		shown.All = shown.All || s.IsEverything()
	}
	shown.Picture, shown.Recorded, shown.Desktops = v.screenshotOf(""), v.runningRecording(), v.desktops()
	if len(shown.Calls) == 0 {
		// The page works without the last calls.
		_ = v.read("history", map[string]any{"limit": lastCalls, "looks": false}, &shown.Last)
	}
	return shown, nil
}

// stopArgs returns the arguments of a stop or a start from its form.
func (v *pageRequest) stopArgs() map[string]any {
	args := make(map[string]any)
	for _, name := range []string{"call", "caller"} {
		if value := v.form.Get(name); value != "" {
			args[name] = value
		}
	}
	return args
}

// stopCalls stops the calls in the form, even if the person has closed the page meanwhile.
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

// nameOf returns the kind of calls that the arguments select.
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
