package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealDateTimesWithLimits: dates and times with a minimum and maximum, which narrow the bounds
// of their parts, are set like others. A value outside is an error with the bounds, and so is a
// field with ambiguous parts: then nothing is typed.
func TestRealDateTimesWithLimits(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><label>Wide <input type="date" id="wide" min="2020-01-01" max="2030-12-31" value="2026-05-05"></label>
	<label>Same <input type="date" id="same" min="2026-03-01" max="2026-09-30" value="2026-05-05"></label>
	<label>Short <input type="date" id="short" min="2026-03-05" max="2026-03-20"></label>
	<label>Two <input type="date" id="two" min="2026-01-01" max="2027-12-31"></label></p>
	<p><label>Last <input type="date" id="last" max="2027-12-31"></label>
	<label>Noon <input type="time" id="noon" min="13:00" max="17:00"></label>
	<label>Day <input type="time" id="day" min="09:00" max="17:30"></label>
	<label>Hour <input type="time" id="hour" min="13:10" max="13:40"></label></p>
	<p><label>Moment <input type="datetime-local" id="moment" min="2026-03-01T08:00" max="2026-04-01T18:00"></label>
	<label>Month <input type="month" id="month" min="2026-03" max="2027-04"></label>
	<label>Week <input type="week" id="week" min="2026-W03" max="2026-W20"></label>
	<label>Either <input type="week" id="either" min="2026-W03" max="2026-W09" value="2026-W04"></label></p>`)
	for _, c := range []struct{ name, id, value string }{
		{"Wide", "wide", "2026-08-09"}, {"Wide", "wide", "2030-12-31"}, {"Same", "same", "2026-09-30"}, {"Short", "short", "2026-03-11"},
		{"Two", "two", "2027-04-04"}, {"Last", "last", "2026-03-04"}, {"Noon", "noon", "14:05"}, {"Day", "day", "12:30"}, {"Day", "day", "09:15"},
		{"Hour", "hour", "13:25"}, {"Moment", "moment", "2026-04-01T08:30"}, {"Month", "month", "2026-12"}, {"Week", "week", "2026-W11"},
	} {
		f.done("ax_set_value", f.set("textbox "+c.name, c.value))
		f.comes(c.id, c.value)
		f.says(f.ok("ax_set_value", f.set("textbox "+c.name, c.value)).Text, "has this value already")
		got := f.ok("ax_get_value", f.on("textbox "+c.name)).data["value"]
		assert.Check(t, is.Equal(got, c.value), "%s %s is read as %v", c.name, c.value, got)
	}
	f.says(f.refused(aai.InvalidParams, "ax_set_value", f.set("textbox Two", "2029-01-01")).Message, "expected a year from 2026 to 2027")
	f.says(f.refused(aai.AutomationNotSupported, "ax_set_value", f.set("textbox Either", "2026-W05")).Message, "do not identify them")
	assert.Check(t, is.Equal(f.holds("two"), "2027-04-04"))
	assert.Check(t, is.Equal(f.holds("either"), "2026-W04"))
}
