package web

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/answer"
)

// chartsPage shows counts, failures and durations of calls.
func chartsPage() page {
	return page{name: "charts", path: "/history/charts", live: []string{EventJournal}, show: showCharts}
}

// periodName returns a period's start for people: the date, and the time unless it is midnight.
func periodName(start time.Time) string {
	if start.Hour() == 0 && start.Minute() == 0 {
		return start.Format("2006-01-02")
	}
	return start.Format("2006-01-02 15:04")
}

// chartsPageData is the template data of chartsPage.
type chartsPageData struct {
	Filter          filter
	List            string // the address of the list of these calls
	Days            string // "1", "7" or "30"
	Cut             bool   // the requested time exceeds maxChartDays
	Calls, Failures int
	MaxCalls        int
	MaxP95          float64
	Rows            []answer.PeriodStats // those with calls, the newest first
	More            int                  // periods with calls that only the charts show
	From, To        answer.PeriodStats
	Bars, Line      template.HTML
}

// rowsLimit limits the rows of the table.
const rowsLimit = 72

func showCharts(v *pageRequest) (any, error) {
	shown := chartsPageData{Filter: filterOf(v), List: "/history?" + filterQuery(v, "", ""), Days: v.query.Get("days")}
	args, err := filterArgs(v)
	if err != nil {
		return nil, err
	}
	delete(args, "text") // the totals do not support words, and the page says so
	starts := shown.spans(args, time.Now())
	args["looks"] = v.query.Get(looksName) != ""
	var found answer.Stats[answer.PeriodStats]
	if err := v.read("totals", args, &found); err != nil {
		return nil, err
	}
	shown.Calls, shown.Failures = found.Calls, found.Failures
	all := fillGaps(starts, found.Rows)
	for _, s := range all {
		shown.MaxCalls, shown.MaxP95 = max(shown.MaxCalls, s.Calls), max(shown.MaxP95, s.P95)
		if s.Calls > 0 {
			shown.Rows = append([]answer.PeriodStats{s}, shown.Rows...)
		}
	}
	if shown.More = max(0, len(shown.Rows)-rowsLimit); shown.More > 0 {
		shown.Rows = shown.Rows[:rowsLimit]
	}
	shown.From, shown.To = all[0], all[len(all)-1]
	shown.Bars, shown.Line = bars(all, shown.MaxCalls), line(all, shown.MaxP95)
	return shown, nil
}

const (
	// maxChartDays limits the shown days. Of a longer requested time, the page shows the last ones.
	maxChartDays = 366
	// maxHourlyDays is the largest number of days with an hourly chart.
	maxHourlyDays = 7
)

// spans sets "by" and "since" in args, the arguments of the tool "totals". It returns the starts of
// the hours or days to show, the oldest first.
func (c *chartsPageData) spans(args map[string]any, now time.Time) []time.Time {
	days := map[string]int{"1": 1, "7": 7}[c.Days]
	if days == 0 {
		c.Days, days = "30", 30
	}
	end, from, asked := now, time.Time{}, false
	if until, is := timeOf(args["until"]); is {
		end, from = until, until.AddDate(0, 0, -days)
	}
	if since, is := timeOf(args["since"]); is {
		from, asked = since, true
		days = int(end.Sub(from)/(24*time.Hour)) + 1
	}
	by := "day"
	if days <= maxHourlyDays {
		by = "hour"
	}
	if c.Cut = days > maxChartDays; c.Cut {
		days, asked = maxChartDays, false
	}
	starts := spanStarts(end, days, by)
	if asked {
		for len(starts) > 1 && !starts[1].After(from) {
			starts = starts[1:]
		}
	}
	first := starts[0]
	if asked && from.After(first) {
		first = from
	}
	args["by"], args["since"] = by, first.Format(time.RFC3339)
	return starts
}

// timeOf parses a time in the arguments of a tool.
func timeOf(argument any) (at time.Time, is bool) {
	text, _ := argument.(string)
	at, err := time.Parse(time.RFC3339, text)
	return at.Local(), err == nil
}

// spanStarts returns the starts of the hours or days until a time, the oldest first.
func spanStarts(now time.Time, days int, by string) []time.Time {
	y, m, d := now.Date()
	var starts []time.Time
	if by == "day" {
		for i := days - 1; i >= 0; i-- {
			starts = append(starts, time.Date(y, m, d-i, 0, 0, 0, 0, now.Location()))
		}
		return starts
	}
	hour := now.Truncate(time.Hour)
	for i := days*24 - 1; i >= 0; i-- {
		starts = append(starts, hour.Add(-time.Duration(i)*time.Hour))
	}
	return starts
}

// fillGaps returns a period for each start, empty for those without calls.
func fillGaps(starts []time.Time, rows []answer.PeriodStats) []answer.PeriodStats {
	known := make(map[int64]answer.PeriodStats, len(rows))
	for _, row := range rows {
		known[row.Start.Unix()] = row
	}
	all := make([]answer.PeriodStats, len(starts))
	for i, start := range starts {
		all[i] = known[start.Unix()]
		all[i].Start = start.Local()
	}
	return all
}

// The size of a chart in its units; the browser scales it to the available width.
const (
	chartWidth  = 720.0
	chartHeight = 160.0
)

// bars draws the calls, with the failed part of each bar.
func bars(all []answer.PeriodStats, most int) template.HTML {
	var b strings.Builder
	step := chartWidth / float64(len(all))
	gap := min(step*0.25, 4)
	draw := func(class string, i int, from, n int) {
		if n == 0 || most == 0 {
			return
		}
		unit := chartHeight / float64(most)
		fmt.Fprintf(&b, `<rect class="%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f"/>`,
			class, float64(i)*step+gap/2, chartHeight-float64(from+n)*unit, step-gap, float64(n)*unit)
	}
	for i, s := range all {
		draw("bar-bad", i, 0, s.Failures)
		draw("bar", i, s.Failures, s.Calls-s.Failures)
	}
	return template.HTML(b.String()) //nolint:gosec // of numbers alone
}

// line draws the durations of calls, with a gap where there were none.
func line(all []answer.PeriodStats, most float64) template.HTML {
	if most == 0 {
		return ""
	}
	var path, dots strings.Builder
	step := chartWidth / float64(len(all))
	drawn := false
	for i, s := range all {
		if s.Calls == 0 {
			drawn = false
			continue
		}
		x, y := (float64(i)+0.5)*step, chartHeight-s.P95/most*(chartHeight-6)-3
		command := "M"
		if drawn {
			command = "L"
		}
		fmt.Fprintf(&path, "%s%.2f %.2f", command, x, y)
		fmt.Fprintf(&dots, "M%.2f %.2fh0", x, y)
		drawn = true
	}
	return template.HTML(`<path class="line" d="` + path.String() + `"/><path class="dot" d="` + dots.String() + `"/>`) //nolint:gosec // of numbers alone
}
