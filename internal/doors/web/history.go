package web

import (
	"time"
)

// historyPage lists what was called.
func historyPage() page {
	return page{name: "history", path: "/history", nav: true, live: []string{NewsJournal}, show: showHistory}
}

// pastCall is a call as the tool "history" tells it.
type pastCall struct {
	Time    time.Time `json:"time"`
	Call    string    `json:"call"`
	Door    string    `json:"door"`
	Caller  string    `json:"caller"`
	Who     string    `json:"identity"`
	App     string    `json:"app"`
	Target  string    `json:"target"`
	Tool    string    `json:"tool"`
	Result  string    `json:"result"`
	Message string    `json:"message"`
	Millis  float64   `json:"ms"`
}

// historyShown is what the page of the history shows.
type historyShown struct {
	Calls  []pastCall
	Before string // the id of the last call, where there may be older ones
}

// historyLimit is how many calls one page has.
const historyLimit = 50

func showHistory(v *visit) (any, error) {
	args := v.given("app", "tool", "caller", "result", "before")
	args["limit"] = historyLimit
	var shown historyShown
	if err := v.read("history", args, &shown.Calls); err != nil {
		return nil, err
	}
	if n := len(shown.Calls); n == historyLimit {
		shown.Before = shown.Calls[n-1].Call
	}
	return shown, nil
}
