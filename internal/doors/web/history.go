package web

import (
	"encoding/json"
	"net/url"
	"time"

	"github.com/gybob/aai-gateway"
)

// historyPage lists what was called.
func historyPage() page {
	return page{
		name: "history", path: "/history", nav: true, live: []string{EventJournal}, show: showHistory,
		acts: map[string]act{"verify": verifyRecord, "export": exportHistory},
	}
}

// pastCall is a call as the tools "history" and "story" tell it.
type pastCall struct {
	Time    time.Time         `json:"time"`
	Call    string            `json:"call"`
	Parent  string            `json:"parent"`
	Door    string            `json:"door"`
	Caller  string            `json:"caller"`
	Who     string            `json:"identity"`
	App     string            `json:"app"`
	Target  string            `json:"target"`
	Tool    string            `json:"tool"`
	On      aai.TargetElement `json:"on"`
	Effect  string            `json:"effect"`
	Consent string            `json:"consent"`
	Args    json.RawMessage   `json:"args"`
	Answer  json.RawMessage   `json:"answer"`
	Result  string            `json:"result"`
	Message string            `json:"message"`
	Millis  float64           `json:"ms"`
	Count   int               `json:"count"`
	Codes   map[string]int    `json:"codes"`
	Until   time.Time         `json:"until"`
}

// Good reports whether the call ended well, Open that nobody knows how it ended.
func (p pastCall) Good() bool { return p.Result == "ok" }

// Open reports whether nobody knows how the call ended.
func (p pastCall) Open() bool { return p.Result == "unknown" }

// Left reports whether it is a call of the gateway itself that ended because nobody waited for
// it any more, such as a browser that had gone on. What other apps say of that is their word.
func (p pastCall) Left() bool {
	return p.App == aai.BuiltinApp && aai.IsCancellation(aai.Code(p.Result), p.Message)
}

// Path is where the call's story is.
func (p pastCall) Path() string { return "/history/" + url.PathEscape(p.Call) }

// A filter is what a person asks of the history, as the form has it.
type filter struct {
	App, Tool, Caller, Result, Text, Since, Until, Looks string
}

// looksName is the parameter of the form by which also what this page looked at is listed.
const looksName = "looks"

// filterNames are the parameters of the form.
func filterNames() []string {
	return []string{"app", "tool", "caller", "result", "text", "since", "until"}
}

func filterOf(v *pageRequest) filter {
	q := func(name string) string { return aai.CleanLabel(v.query.Get(name), 400) }
	return filter{q("app"), q("tool"), q("caller"), q("result"), q("text"), q("since"), q("until"), q(looksName)}
}

// Any reports whether anything is asked for.
func (f filter) Any() bool { return f != filter{} }

// More reports whether more is asked for than words.
func (f filter) More() bool {
	f.Text = ""
	return f.Any()
}

// localTime is a time as a form has it, in the place where this computer is.
const localTime = "2006-01-02T15:04"

// filterArgs are the parameters of the address as the tools take them.
func filterArgs(v *pageRequest) (map[string]any, error) {
	args := v.queryArgs(filterNames()...)
	for _, name := range []string{"since", "until"} {
		given, ok := args[name].(string)
		if !ok {
			continue
		}
		at, err := time.Parse(time.RFC3339, given)
		for _, form := range []string{localTime, localTime + ":05"} { // with seconds where somebody chose some
			if err != nil {
				at, err = time.ParseInLocation(form, given, time.Local)
			}
		}
		if err != nil {
			return nil, aai.Errorf(aai.InvalidParams, "%s: expected a time such as 2027-01-31T12:00", name)
		}
		args[name] = at.Format(time.RFC3339)
	}
	return args, nil
}

// filterQuery is the parameters of the address that are filters, and one more.
func filterQuery(v *pageRequest, name, value string) string {
	kept := make(url.Values)
	for _, name := range append(filterNames(), looksName) {
		if given := v.query.Get(name); given != "" {
			kept.Set(name, given)
		}
	}
	if name != "" {
		kept.Set(name, value)
	}
	return kept.Encode()
}

// historyPageData is what the page of the history shows.
type historyPageData struct {
	Calls  []pastCall
	Filter filter
	Codes  []string // results to choose from
	Older  string   // the address of the next page, where there may be older ones
	Newest string   // the address of the first page, on another one
	Charts string   // the address of the charts of these calls
	Verify string   // where the form that checks the record goes, and comes back to these calls
	Export string   // where the form that exports them goes
}

// historyLimit is how many calls one page has.
const historyLimit = 50

func showHistory(v *pageRequest) (any, error) {
	args, err := filterArgs(v)
	if err != nil {
		return nil, err
	}
	args["limit"], args["looks"] = historyLimit, v.query.Get(looksName) != ""
	before := v.query.Get("before")
	if before != "" {
		args["before"] = before
	}
	shown := historyPageData{Filter: filterOf(v), Codes: resultCodes()}
	query := filterQuery(v, "", "")
	shown.Charts, shown.Verify, shown.Export = "/history/charts?"+query, "/history/verify?"+query, "/history/export?"+query
	if err := v.read("history", args, &shown.Calls); err != nil {
		return nil, err
	}
	if n := len(shown.Calls); n == historyLimit {
		shown.Older = "/history?" + filterQuery(v, "before", shown.Calls[n-1].Call)
	}
	if before != "" {
		shown.Newest = "/history?" + query
	}
	return shown, nil
}

// resultCodes are results that people look for.
func resultCodes() []string {
	return []string{
		"ok", "unknown", "refused", string(aai.AutomationFailed), string(aai.PermissionDenied), string(aai.ConsentRequired), string(aai.Timeout),
		string(aai.RateLimited), string(aai.InvalidParams), string(aai.AppNotFound), string(aai.ToolNotFound), string(aai.ElementNotFound), string(aai.Internal),
	}
}

// verification is what came of checking the record.
type verification struct {
	Status  string `json:"status"`
	Records int    `json:"records"`
	Faults  []struct {
		Record int    `json:"record"`
		Reason string `json:"reason"`
	} `json:"faults"`
	More int `json:"more"`
}

// Verify tells the template which of the acts it is.
func (verification) Verify() bool { return true }

// verifyRecord follows the chain of the record.
func verifyRecord(v *pageRequest) (any, error) {
	var found verification
	if err := v.read("audit_verify", nil, &found); err != nil {
		return nil, err
	}
	return found, nil
}
