// Package delta describes the changes between two snapshots of an app as a person would see them
// ([Between]), and learns which elements change by themselves ([AmbientChanges]).
package delta

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Options control how a difference is described.
type Options struct {
	// Ref returns the ref of an element of the later snapshot. If nil, the text has no refs.
	Ref    func(i int) string
	Budget int        // maximum tokens of Delta.Text; 0 means 200, less than 40 means 40
	Focus  desktop.ID // the element that was acted on: its changes come first
	// IsAmbient reports whether the aspect of an element changes by itself; nil if no such element is
	// known. Ambient changes come last.
	IsAmbient func(desktop.ID, Aspect) bool
	// Lagging reports whether there was another action just before. A number in a status bar, such as a
	// word count, or the state of a tool bar's command may then still follow that earlier action.
	Lagging bool
}

// The kinds of changes.
const (
	Appeared = "appeared" // with its descendants
	Gone     = "gone"     // with its descendants; removed or no longer showing
	Changed  = "changed"  // its name, value, states or order of children, or it received the focus
)

// A Change is one change that a person would see.
type Change struct {
	Kind  string
	Index int    // the element in the later snapshot; -1 if gone
	Ref   string // "" if gone
	Text  string // one line, such as: ~ checkbox "Agree" [e13] checked
	// Ambient reports whether the element also changes by itself, so that the change is no evidence of an
	// action's effect.
	Ambient bool
}

// A Delta lists the changes between two snapshots of an app for people: elements that appeared, disappeared
// or differ, the most significant first.
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
	Changes []Change // the changes in Text
	Text    string   // "" without changes
	Tokens  int      // of Text, as [sanitize.EstimateTokens] counts
	Omitted int      // number of changes that Text omits
}

// Between compares two snapshots of an app as a person would see them: only showing elements count. Two
// elements are the same if their IDs are. Because toolkits recreate elements, so are two of the same role
// and name in the same position, and the only new and gone elements of a role in one place. Elements that
// appear or disappear with their surroundings are reported with them. If the children of an element have
// another order, the element is reported. Scrolling, frames and descriptions do not count. A text in which
// only digits changed, such as a clock, comes last unless it is the element acted on. A password appears as
// ****.
//
// Names and values are cleaned and quoted as in package render. A nil snapshot is an empty one. Between is
// safe for concurrent use if o.Ref is.
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

// fold merges equal lines into one with their number: lines of elements that have no refs, such as the
// separators of a recreated bar.
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

// A finding is a line of the delta, with the changes that it describes.
type finding struct {
	rank    int // the lowest comes first
	changes []Change
	more    int // changes that the line only counts
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

// render formats as many findings as the budget allows, by rank.
func (c *comparison) render() Delta {
	var d Delta
	var text strings.Builder
	spent := 0
	const tail = 9000 // "… 12345 more changes"
	total, untold := 0, 0
	for i := range c.findings {
		total += sanitize.EstimateMilliTokens(c.findings[i].text + "\n")
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
			cost := sanitize.EstimateMilliTokens(f.text + "\n")
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
	d.Tokens = sanitize.EstimateTokens(d.Text)
	return d
}

// MoreChanges formats the number of omitted changes, such as "3 more changes".
func MoreChanges(n int) string {
	if n == 1 {
		return "1 more change"
	}
	return strconv.Itoa(n) + " more changes"
}

// formatTextChange formats the old and the new text.
func formatTextChange(before, after string) string {
	was, is := quoteChange(before, after)
	if was == is {
		return is + " with other space or ends of lines"
	}
	return was + " → " + is
}

// quoteChange quotes two texts that differ so that the difference is visible: it shortens a long common
// prefix.
func quoteChange(before, after string) (string, string) {
	const longest, kept = 60, 16
	if max(len(before), len(after)) > longest {
		same := 0
		for same < min(len(before), len(after)) && before[same] == after[same] {
			same++
		}
		if same > 2*kept {
			cut := same - kept // cleaning drops the rest of a cut character
			before, after = "…"+before[cut:], "…"+after[cut:]
		}
	}
	return desktop.Quote(before, longest), desktop.Quote(after, longest)
}

// onlyDigits reports whether two texts differ only in digits.
func onlyDigits(a, b string) bool {
	strip := func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}
	return strings.Map(strip, a) == strings.Map(strip, b) && a != "" && b != ""
}

// nameWithRef formats the role and name of an element in a delta, with its ref if it has one.
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

// bracket returns the ref of an element of the later snapshot in brackets.
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

// roleRef escapes a ref so that it cannot end its line.
func roleRef(ref string) string {
	quoted := strconv.Quote(ref)
	return quoted[1 : len(quoted)-1]
}
