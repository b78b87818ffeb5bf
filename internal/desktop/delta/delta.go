// Package delta says what changed between two snapshots of an app, as a person would
// who looks at it ([Between]), and what changes by itself ([AmbientChanges]).
package delta

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Options say how a difference is told.
type Options struct {
	// Ref names an element of the later snapshot. Without it, no refs are told.
	Ref    func(i int) string
	Budget int        // how many tokens Delta.Text may have; 0 means 200, less than 40 means 40
	Focus  desktop.ID // the element that was acted on: what changed there comes first
	// IsAmbient reports whether the aspect of an element changes by itself; nil for none
	// that is known to. What is restless comes last.
	IsAmbient func(desktop.ID, Aspect) bool
	// Lagging says that somebody acted just before: a number in a status bar, such as how
	// many words a text has, and whether a tool bar's command can be given may follow that act
	// only now.
	Lagging bool
}

// The kinds of changes.
const (
	Appeared = "appeared" // with all that is in it
	Gone     = "gone"     // with all that is in it, or no longer showing
	Changed  = "changed"  // its name, value or states, or it has the focus now
)

// A Change is one thing that a person would see change.
type Change struct {
	Kind  string
	Index int    // the element in the later snapshot; -1 for one that is gone
	Ref   string // "" for one that is gone
	Text  string // one line, such as: ~ checkbox "Agree" [e13] checked
	// Ambient says that the element does so by itself too, so that the change says
	// nothing of an action.
	Ambient bool
}

// A Delta is what changed between two snapshots of an app, for people: what came,
// what went and what is different, the most telling first.
//
//	~ button "Press" → "Pressed 1 times" [e12]
//	+ dialog "Really?" [e40]: text "It cannot be undone", button "Yes" [e41], button "No" [e42]
//	+ in menu "File" [e2]: menuitem "New" [e50], menuitem "Open" [e51]
//	- menu "File"
//	~ textbox "Name" [e3] value "" → "Ann"
//	~ table "People" [e7] in another order
//	focus → textbox "Name" [e3]
//	… 3 more changes
type Delta struct {
	Changes []Change // those that Text tells
	Text    string   // "" when nothing changed
	Tokens  int      // of Text, as [sanitize.Estimate] counts
	Omitted int      // how many changes Text leaves out
}

// Between compares two snapshots of an app as a person would who looks at it: only
// what is showing counts. Elements are the same if their IDs are, or if one stands
// where another of the same role and name stood before, because toolkits make
// elements anew; so are the only ones of a role that are new and gone in a place.
// What comes or goes with its surroundings is told with them, and where what is in an element
// stands in another order, the element. Scrolling, frames
// and descriptions do not count. A text of which only digits changed, such as a
// clock, comes last unless it is the element acted on. A password is told as ****.
//
// Names and values are cleaned and quoted as in an outline. A nil snapshot is an
// empty one. It is safe for concurrent use if o.Ref is.
func Between(before, after *desktop.Snapshot, o Options) Delta {
	if before == nil {
		before = &desktop.Snapshot{}
	}
	if after == nil {
		after = &desktop.Snapshot{}
	}
	if o.Budget == 0 {
		o.Budget = 200
	}
	o.Budget = max(o.Budget, 40)
	c := &comparison{pairs: pair(before, after), options: o, seenBefore: before.VisibleElements(), seenAfter: after.VisibleElements()}
	c.compare()
	c.fold()
	return c.render()
}

// fold tells once, with their number, what would be many equal lines: of elements that
// have no refs, such as the separators of a bar that is made anew.
func (c *comparison) fold() {
	first := make(map[string]int, len(c.findings))
	kept, times := c.findings[:0], make([]int, 0, len(c.findings))
	for _, f := range c.findings {
		key := strconv.Itoa(f.rank) + f.text
		if i, seen := first[key]; seen && len(f.changes) == 1 && len(kept[i].changes) == 1 && f.changes[0].Ref == "" {
			kept[i].more += f.more
			times[i]++
			continue
		}
		first[key] = len(kept)
		kept, times = append(kept, f), append(times, 1)
	}
	for i, n := range times {
		if n > 1 {
			said := fmt.Sprintf(" (%d times)", n)
			kept[i].text += said
			kept[i].changes[0].Text += said
		}
	}
	c.findings = kept
}

// A finding is a line to be told, with the changes that it tells.
type finding struct {
	rank    int // the lowest is told first
	changes []Change
	more    int // changes that it tells of only by their number
	text    string
}

// The ranks of findings.
const (
	rankActedOn = iota
	rankFocus
	rankWindow
	rankPlain
	rankNoise
	rankAmbient
	ranks
)

// render writes down the findings that the budget has room for, by rank.
func (c *comparison) render() Delta {
	var d Delta
	var text strings.Builder
	spent := 0
	const tail = 9000 // "… 12345 more changes"
	total, untold := 0, 0
	for i := range c.findings {
		total += sanitize.EstimateMilli(c.findings[i].text + "\n")
	}
	room := c.options.Budget * 1000
	if total > room {
		room -= tail
	}
	for rank := range ranks {
		for i := range c.findings {
			f := &c.findings[i]
			if f.rank != rank {
				continue
			}
			cost := sanitize.EstimateMilli(f.text + "\n")
			if spent+cost > room {
				untold += len(f.changes) + f.more
				continue
			}
			spent += cost
			text.WriteString(f.text + "\n")
			d.Changes = append(d.Changes, f.changes...)
			d.Omitted += f.more
		}
	}
	if untold > 0 {
		text.WriteString("… " + MoreChanges(untold) + "\n")
	}
	d.Omitted += untold
	d.Text = text.String()
	d.Tokens = sanitize.Estimate(d.Text)
	return d
}

// MoreChanges says how many changes are not told.
func MoreChanges(n int) string {
	if n == 1 {
		return "1 more change"
	}
	return strconv.Itoa(n) + " more changes"
}

// formatTextChange says what a text was and is now.
func formatTextChange(before, after string) string {
	was, is := quoteChange(before, after)
	if was == is {
		return is + " with other space or ends of lines"
	}
	return was + " → " + is
}

// quoteChange quotes two texts that differ, so that the difference is seen: a long
// beginning that they share is left out.
func quoteChange(before, after string) (string, string) {
	const longest, kept = 60, 16
	if max(len(before), len(after)) > longest {
		same := 0
		for same < min(len(before), len(after)) && before[same] == after[same] {
			same++
		}
		if same > 2*kept {
			cut := same - kept // what is left of a character is dropped with the cleaning
			before, after = "…"+before[cut:], "…"+after[cut:]
		}
	}
	return desktop.Quote(before, longest), desktop.Quote(after, longest)
}

// onlyDigits reports whether two texts differ in nothing but digits.
func onlyDigits(a, b string) bool {
	strip := func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}
	return strings.Map(strip, a) == strings.Map(strip, b) && a != "" && b != ""
}

// nameWithRef names an element in a delta, with its ref where it has one.
func (c *comparison) nameWithRef(s *desktop.Snapshot, i int) string {
	e := &s.Elements[i]
	return e.Role.SafeName() + c.named(e, e.Name) + c.bracket(s, i)
}

func (c *comparison) named(e *desktop.Element, name string) string {
	if desktop.IsBlank(name) && e.Role.IsTextual() && !e.States.Has(desktop.Protected) {
		name = e.Value
	}
	if desktop.IsBlank(name) {
		return ""
	}
	return " " + desktop.Quote(name, 60)
}

// bracket is the ref of an element of the later snapshot in brackets.
func (c *comparison) bracket(s *desktop.Snapshot, i int) string {
	if ref := c.ref(s, i); ref != "" {
		return " [" + ref + "]"
	}
	return ""
}

func (c *comparison) ref(s *desktop.Snapshot, i int) string {
	if s != c.after || c.options.Ref == nil {
		return ""
	}
	e := &s.Elements[i]
	if !e.IsActionable("") && !e.Role.IsRefContainer() {
		return ""
	}
	return roleRef(c.options.Ref(i))
}

// roleRef keeps a ref on its line.
func roleRef(ref string) string {
	quoted := strconv.Quote(ref)
	return quoted[1 : len(quoted)-1]
}
