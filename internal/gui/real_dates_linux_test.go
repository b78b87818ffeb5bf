package gui_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestRealDatesQt: date and time fields report their value, and are set in the background in their
// own or in ISO format. A text that the program would show and not accept is rejected. A calendar's
// day is chosen by a click only, and no other element is taken for one.
func TestRealDatesQt(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	p := w.somebody()
	file := filepath.Join(w.Home, "dates")
	app := w.python("dates.py", "Moment", file)
	p.back(t)
	has := func(want string) {
		t.Helper()
		w.eventually("the program has "+want, func() bool { text, _ := os.ReadFile(file); return string(text) == want })
	}
	w.says(w.ok("ax_get_tree", params{"app": app}).Text, `"Departure"`, `"02.01.2027"`, `"08:30"`)
	set := func(field, value string) { w.done("ax_set_value", params{"app": app, "query": field, "value": value}) }
	set("Departure", "14.03.2027")
	set("Return", "2027-03-20")
	set("Hour", "7:45")
	set("Moment", "2027-03-14T09:15")
	has("2027-03-14 2027-03-20 07:45 2027-03-14T09:15 2027-01-02")
	w.says(w.ok("ax_fill", params{"app": app, "fields": fields("Departure", "2028-02-29", "Hour", "23:59")}).Text, "Filled 2 of 2")
	w.done("ax_type", params{"app": app, "query": "Return", "text": "2028-01-01"})
	has("2028-02-29 2028-01-01 23:59 2027-03-14T09:15 2027-01-02")

	for _, wrong := range []string{"soon", "", "2028-02", "5"} {
		e := w.refused(aai.InvalidParams, "ax_set_value", params{"app": app, "query": "Departure", "value": wrong})
		w.says(e.Message, `as spinbutton "Departure" shows it: 29.02.2028`)
	}
	// There is no such day: the field takes the last one, and the error restores the old value.
	w.says(w.refused(aai.AutomationFailed, "ax_set_value", params{"app": app, "query": "Departure", "value": "31.02.2027"}).Message, `"28.02.2027"`)
	has("2028-02-29 2028-01-01 23:59 2027-03-14T09:15 2027-01-02")

	w.says(w.refused(aai.AutomationNotSupported, "ax_click", params{"app": app, "query": "14"}).Message, "would keep its date")
	p.undisturbed(t)
	w.done("ax_click", params{"app": app, "query": "14", "mode": "focus"})
	has("2028-02-29 2028-01-01 23:59 2027-03-14T09:15 2027-01-14")
}
