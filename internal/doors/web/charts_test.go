package web_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
)

// TestChartsAreFiltered checks that the charts of a filtered list count its calls, and link back to it.
// The totals do not support words, and the page says so in both languages.
func TestChartsAreFiltered(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	past := audit.New(w.journal)
	for i, at := range []time.Time{now.Add(-time.Minute), now.AddDate(0, 0, -3), now.AddDate(0, 0, -40), now.AddDate(-2, 0, 0)} {
		for _, code := range []aai.Code{"", aai.Timeout} {
			assert.NilError(t, past.Record(t.Context(), &aai.Entry{
				Kind: aai.Outcome, Time: at, Call: fmt.Sprint("c", i, code), Caller: claude(), App: "org.test.Mail", Tool: "send", Admitted: true, Code: code,
			}))
		}
	}
	assert.NilError(t, past.Close())
	w.enter(t)
	day := func(days int) string { return now.AddDate(0, 0, days).Format("2006-01-02T15:04") }
	for _, c := range []struct {
		query  url.Values
		counts string
	}{
		{url.Values{}, "4 calls, of which 2 failed."},
		{url.Values{"days": {"1"}}, "2 calls, of which 1 failed."},
		{url.Values{"result": {"ok"}}, "2 calls, of which 0 failed."},
		{url.Values{"result": {string(aai.Timeout)}}, "2 calls, of which 2 failed."},
		{url.Values{"since": {day(-2)}}, "2 calls, of which 1 failed."},
		{url.Values{"since": {day(-50)}, "until": {day(-1)}}, "4 calls, of which 2 failed."},
		{url.Values{"since": {day(-50)}, "until": {day(-30)}}, "2 calls, of which 1 failed."},
		{url.Values{"until": {day(-2)}}, "2 calls, of which 1 failed."},
		{url.Values{"until": {day(-2)}, "days": {"7"}, "result": {"ok"}}, "1 call, of which 0 failed."},
		{url.Values{"since": {day(-1000)}}, "6 calls, of which 3 failed."},
	} {
		expectPage(t, w.get(t, "/history/charts?"+c.query.Encode()), c.counts)
	}
	expectPage(t, w.get(t, "/history/charts?since=2020-01-01T00:00"), "A year is shown at most: from ")
	said := w.get(t, "/history/charts?text=letters&result=ok")
	expectPage(t, said, "totals are stored without words", `letters</bdi>`, `name="text" value="letters"`, `name="result" value="ok"`, `href="/history?result=ok&amp;text=letters"`)
	expectPage(t, w.in(t, "zh", "/history/charts?text=letters"), "不按所查找的文字筛选", `letters</bdi>`)
	expectPage(t, w.get(t, "/history/charts"), "!without words", "!A year is shown")
	got := w.get(t, "/history/charts?since=soon")
	assert.Check(t, got.status != 200, "a time that is none is taken:\n%s", got.body)
}
