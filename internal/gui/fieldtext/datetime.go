package fieldtext

import (
	"fmt"
	"strings"
	"time"
)

// dateTimeLayouts returns the notations of a date or time, as in HTML.
func dateTimeLayouts() []string {
	return []string{"2006-01-02", "15:04", "15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01"}
}

// ParseDateTime returns the number of each unit in the text, or nil if it is no date or time.
func ParseDateTime(text string) map[string]float64 {
	text = strings.TrimSpace(text)
	var year, week int
	if n, err := fmt.Sscanf(text, "%d-W%d", &year, &week); n == 2 && err == nil {
		if _, last := time.Date(year, 12, 28, 0, 0, 0, 0, time.UTC).ISOWeek(); week < 1 || week > last {
			return nil
		}
		return map[string]float64{"year": float64(year), "week": float64(week)}
	}
	for _, layout := range dateTimeLayouts() {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		units := make(map[string]float64)
		if strings.Contains(layout, "2006") {
			units["year"], units["month"] = float64(t.Year()), float64(t.Month())
		}
		if strings.Contains(layout, "02") {
			units["day"] = float64(t.Day())
		}
		if strings.Contains(layout, "15") {
			units["hour"], units["minute"], units["second"], units["millisecond"] = float64(t.Hour()), float64(t.Minute()), float64(t.Second()), float64(t.Nanosecond()/1e6)
		}
		return units
	}
	return nil
}

// FormatDateTime formats the units so that ParseDateTime reads them; "" if they form no date or
// time.
func FormatDateTime(units map[string]float64) string {
	has := func(unit string) bool { _, ok := units[unit]; return ok }
	write := func(layout string, of ...string) string {
		numbers := make([]any, len(of))
		for i, unit := range of {
			numbers[i] = int(units[unit])
		}
		return fmt.Sprintf(layout, numbers...)
	}
	date, clock := "", ""
	switch {
	case !has("year"):
	case has("week"):
		date = write("%04d-W%02d", "year", "week")
	case has("month") && has("day"):
		date = write("%04d-%02d-%02d", "year", "month", "day")
	case has("month"):
		date = write("%04d-%02d", "year", "month")
	}
	switch {
	case !has("hour") || !has("minute"):
	case has("millisecond"):
		clock = write("%02d:%02d:%02d.%03d", "hour", "minute", "second", "millisecond")
	case has("second"):
		clock = write("%02d:%02d:%02d", "hour", "minute", "second")
	default:
		clock = write("%02d:%02d", "hour", "minute")
	}
	if date != "" && clock != "" {
		return date + "T" + clock
	}
	return date + clock
}
