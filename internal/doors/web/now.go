package web

import (
	"context"
	"math"
	"strings"
	"time"

	"aai"
)

// nowName is the page that says what is stopped, of all that is.
const nowName = "now"

// nowPage shows what runs, and stops it.
func nowPage() page {
	return page{
		name: nowName, path: "/now", nav: true, live: []string{NewsRunning, NewsJournal}, show: showNow,
		acts: map[string]act{"stop": stopNow, "start": startNow},
	}
}

// underway is a call as the tool "running" tells it.
type underway struct {
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

// stopped is something that a person has stopped; without a name it is everything.
type stopped struct {
	Call   string    `json:"call"`
	Caller string    `json:"caller"`
	At     time.Time `json:"at"`
}

// Unknown reports whether all are stopped of whom a door knows nothing for certain.
func (s stopped) Unknown() bool { return strings.HasSuffix(s.Caller, ":") }

// nowShown is what the page shows.
type nowShown struct {
	Calls      []underway `json:"calls"`
	Stops      []stopped  `json:"stops"`
	Unreadable string     `json:"unreadable"`
	More       int        `json:"more"`

	All     bool        `json:"-"` // everything is stopped
	Picture *nowPicture `json:"-"` // the last that is kept; nil: none is
	Last    []pastCall  `json:"-"` // those before, where nothing runs
}

// lastCalls is how many calls are shown where nothing runs.
const lastCalls = 8

// nowPicture is what a window looked like after a call acted on it.
type nowPicture struct {
	Address string    `json:"-"`
	Call    string    `json:"call"`
	App     string    `json:"app"`
	Tool    string    `json:"tool"`
	Time    time.Time `json:"time"`
	Window  string    `json:"window"`
}

// pictureOf is the one that is kept of a call, of "" the last. The page is good without.
func (v *visit) pictureOf(call string) *nowPicture {
	args := make(map[string]any)
	if call != "" {
		args["call"] = call
	}
	result, err := v.call("picture", args)
	if err != nil || len(result.Images) != 1 {
		return nil
	}
	var p nowPicture
	if err := into(result, &p); err != nil {
		return nil
	}
	if p.Address = v.door.pictures.keep(v.session.id, result.Images[0]); p.Address == "" {
		return nil
	}
	return &p
}

func showNow(v *visit) (any, error) {
	var shown nowShown
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
	shown.Picture = v.pictureOf("")
	if len(shown.Calls) == 0 {
		// The page is good without.
		_ = v.read("history", map[string]any{"limit": lastCalls, "looks": false}, &shown.Last)
	}
	return shown, nil
}

// which are the arguments of a stop or a start by its form.
func (v *visit) which() map[string]any {
	args := make(map[string]any)
	for _, name := range []string{"call", "caller"} {
		if value := v.form.Get(name); value != "" {
			args[name] = value
		}
	}
	return args
}

// stopNow stops what the form names, also where the person has closed the page since.
func stopNow(v *visit) (any, error) {
	v.ctx = context.WithoutCancel(v.ctx)
	args := v.which()
	result, err := v.call("stop", args)
	if err != nil {
		return nil, err
	}
	v.say(v.t("now", "did."+nameOf(args)))
	if result.Warning != "" {
		v.say(v.t("now", "did."+nameOf(args)) + " " + aai.CleanText(result.Warning, 500))
	}
	return nil, nil
}

func startNow(v *visit) (any, error) {
	if _, err := v.call("start", v.which()); err != nil {
		return nil, err
	}
	v.say(v.t("now", "started"))
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
