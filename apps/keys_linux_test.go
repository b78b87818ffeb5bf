package apps

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestKeysOfAPerson: a user presses a key at many moments around the gateway's opening and closing
// of each program's dialogs, beside a client that listens to all events. No program hangs, and the
// written text is there in the end.
func TestKeysOfAPerson(t *testing.T) {
	gateway, all := build(t), os.Getenv("AAI_APPS") == "all"
	for _, p := range programs() {
		if only := os.Getenv("AAI_APPS_ONLY"); only != "" && only != p.name || !all && !p.inEveryRun || len(p.dialogs) == 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			if all {
				t.Parallel()
			}
			open(t, p, gateway).pressed(all)
		})
	}
}

// pressed opens and closes the dialogs, with keys at the moments.
func (s *stage) pressed(all bool) {
	s.Helper()
	for _, p := range s.program.first {
		s.act(p)
	}
	const text = "wiederholung"
	if s.program.writes {
		s.call("ax_type", s.editor(params{"text": text, "clear_first": true}))
		s.keeps(text, "before any dialog")
	}
	moments := []time.Duration{0, 30 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond}
	if !all {
		moments = moments[1:2]
	}
	opened := 0
	for _, d := range s.program.dialogs {
		for _, moment := range moments {
			title := d.title + " at " + moment.String()
			s.beside(moment, func() { open := d.opening(); s.call(open.tool, open.args) })
			s.lives(title + ", opened")
			if slices.ContainsFunc(s.windows(), func(w string) bool { return strings.Contains(w, d.title) }) {
				opened++
			}
			s.types(cmp.Or(s.program.personKey, "x"), "Tab")
			s.beside(moment, func() {
				if d.button != "" {
					s.call("ax_click", params{"query": d.button})
				}
			})
			s.lives(title + ", closed")
			for range 3 { // the user closes the remaining dialogs
				if !slices.ContainsFunc(s.windows(), func(w string) bool { return strings.Contains(w, d.title) }) {
					break
				}
				s.types("Escape")
				time.Sleep(refusalWait)
			}
			s.lives(title + ", over")
			if s.program.writes {
				s.keeps(text, title)
			}
		}
	}
	s.Logf("%s: dialogs %d, moments %d, opened %d times", s.program.name, len(s.program.dialogs), len(moments), opened)
	assert.Check(s, opened != 0, "no dialog was ever open")
}

// beside runs do while a user presses a key, at the moment after its beginning, and again at its
// end.
func (s *stage) beside(moment time.Duration, do func()) {
	s.Helper()
	pressed, key := make(chan struct{}), cmp.Or(s.program.personKey, "x")
	go func() {
		defer close(pressed)
		time.Sleep(moment)
		s.types(key)
		s.types(key)
	}()
	do()
	<-pressed
	s.types(key)
}

// lives checks that the program answers the witness.
func (s *stage) lives(when string) {
	s.Helper()
	for end := time.Now().Add(patience / 4); ; {
		if len(s.witness.windows()) > 0 {
			return
		}
		assert.Assert(s, !time.Now().After(end), "%s hangs, or has ended: %s", s.program.name, when)
	}
}

// keeps checks for the text in the editor, regardless of the user's keys.
func (s *stage) keeps(text, when string) {
	s.Helper()
	var said []string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pollInterval) {
		said = said[:0]
		for _, n := range s.witness.tree(false) {
			if !n.is(editable) {
				continue
			}
			is := strings.ReplaceAll(n.text, "x", "")
			if strings.TrimSpace(is) == text {
				return
			}
			said = append(said, is)
		}
	}
	s.tally.textLost++
	s.Errorf("%s: the text %q is lost; what can be edited holds %q: %s; windows %q", s.program.name, text, said, when, s.windows())
}
