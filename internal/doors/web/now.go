package web

import (
	"math"
	"time"

	"aai"
)

// nowPage shows what runs, and stops it.
func nowPage() page {
	return page{
		name: "now", path: "/now", nav: true, live: []string{NewsRunning}, show: showNow,
		acts: map[string]act{"stop": stopNow, "start": startNow},
	}
}

// underway is a call as the tool "running" tells it.
type underway struct {
	Call     string    `json:"call"`
	Parent   string    `json:"parent"`
	Caller   string    `json:"caller"`
	Identity string    `json:"identity"`
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

// nowShown is what the page shows.
type nowShown struct {
	Calls      []underway `json:"calls"`
	Stops      []stopped  `json:"stops"`
	Unreadable string     `json:"unreadable"`
	More       int        `json:"more"`

	All     bool        `json:"-"` // everything is stopped
	Picture *nowPicture `json:"-"` // the last that is kept; nil: none is
}

// nowPicture is what a window looked like after a call acted on it.
type nowPicture struct {
	Address string    `json:"-"`
	Call    string    `json:"call"`
	App     string    `json:"app"`
	Tool    string    `json:"tool"`
	Time    time.Time `json:"time"`
	Window  string    `json:"window"`
}

// lastPicture is the last one that is kept. The page is good without.
func (v *visit) lastPicture() *nowPicture {
	result, err := v.call("picture", nil)
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
			c.Who = c.Caller
		}
		c.Seconds = int(math.Max(0, v.door.now().Sub(c.Since).Seconds()))
	}
	for _, s := range shown.Stops {
		shown.All = shown.All || s.Call == "" && s.Caller == ""
	}
	shown.Picture = v.lastPicture()
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

func stopNow(v *visit) (any, error) {
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
	for _, name := range []string{"call", "caller"} {
		if args[name] != nil {
			return name
		}
	}
	return "all"
}
