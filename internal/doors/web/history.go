package web

import (
	"net/url"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// historyPage lists past calls.
func historyPage() page {
	return page{
		name: "history", path: "/history", nav: true, live: []string{EventJournal}, show: showHistory,
		acts: map[string]act{"verify": verifyRecord, "export": exportHistory},
	}
}

// A filter selects calls of the history, as in the form.
type filter struct {
	App, Tool, Caller, Result, Text, Since, Until, Looks string
}

// looksName is the parameter that includes the dashboard's own reads in the list.
const looksName = "looks"

// filterNames are the parameters of the form.
func filterNames() []string {
	return []string{"app", "tool", "caller", "result", "text", "since", "until"}
}

func filterOf(v *pageRequest) filter {
	q := func(name string) string { return aai.CleanLabel(v.query.Get(name), 400) }
	return filter{q("app"), q("tool"), q("caller"), q("result"), q("text"), q("since"), q("until"), q(looksName)}
}

// Any reports whether any field of the filter is set.
func (f filter) Any() bool { return f != filter{} }

// More reports whether a field of the filter other than Text is set.
func (f filter) More() bool {
	f.Text = ""
	return f.Any()
}

// localTime is the format of a time in a form, in the local time zone.
const localTime = "2006-01-02T15:04"

// filterArgs returns the filters in the address as arguments of the tools.
func filterArgs(v *pageRequest) (map[string]any, error) {
	args := v.queryArgs(filterNames()...)
	for _, name := range []string{"since", "until"} {
		given, ok := args[name].(string)
		if !ok {
			continue
		}
		at, err := time.Parse(time.RFC3339, given)
		for _, form := range []string{localTime, localTime + ":05"} { // browsers add seconds if the person chose some
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

// filterQuery encodes the filters in the address, and one more parameter.
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

// historyPageData is the template data of historyPage.
type historyPageData struct {
	Calls  []answer.CallRecord
	Filter filter
	Codes  []string // results to choose from
	Older  string   // the address of the next page, where there may be older ones
	Newest string   // the address of the first page, on another one
	Charts string   // the address of the charts of these calls
	Verify string   // the target of the form that verifies the journal, and returns to these calls
	Export string   // the target of the form that exports them
}

// historyLimit limits the calls on one page.
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

// resultCodes are the results that the form offers.
func resultCodes() []string {
	return []string{
		"ok", "unknown", "refused", string(aai.AutomationFailed), string(aai.PermissionDenied), string(aai.ConsentRequired), string(aai.Timeout),
		string(aai.RateLimited), string(aai.InvalidParams), string(aai.AppNotFound), string(aai.ToolNotFound), string(aai.ElementNotFound), string(aai.Internal),
	}
}

// verification is the result of verifying the journal.
type verification struct{ answer.Verification }

// Verify returns true: by it the template distinguishes a verification from other results.
func (verification) Verify() bool { return true }

// verifyRecord verifies the journal's chain.
func verifyRecord(v *pageRequest) (any, error) {
	var found verification
	if err := v.read("audit_verify", nil, &found); err != nil {
		return nil, err
	}
	return found, nil
}
