package snapshottest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Write returns the text from which Read builds a snapshot with the roles, texts, states and frames of the visible elements.
func Write(s *desktop.Snapshot) string {
	var out strings.Builder
	depths, visible := make([]int, len(s.Elements)), s.VisibleElements()
	for i := range s.Elements {
		e := &s.Elements[i]
		if !visible[i] {
			continue
		}
		if e.Parent >= 0 {
			depths[i] = depths[e.Parent] + 1
		}
		fmt.Fprintf(&out, "%s%s %s", strings.Repeat("  ", depths[i]), e.Role, strconv.Quote(e.Name))
		for _, a := range []struct{ name, text string }{{"value", e.Value}, {"desc", e.Description}, {"id", e.Identifier}} {
			if a.text != "" {
				fmt.Fprintf(&out, " %s=%s", a.name, strconv.Quote(a.text))
			}
		}
		words := (e.States &^ (desktop.Showing | desktop.Enabled)).Words()
		if !e.States.Has(desktop.Enabled) {
			words = append(words, "disabled")
		}
		for _, word := range words {
			out.WriteString(" " + word)
		}
		if f := e.Frame; !f.Empty() {
			fmt.Fprintf(&out, " frame=%d,%d,%d,%d", f.X, f.Y, f.W, f.H)
		}
		if e.Min != e.Max {
			fmt.Fprintf(&out, " range=%v..%v", e.Min, e.Max)
		}
		if e.UnreadChildren > 0 {
			fmt.Fprintf(&out, " unread=%d", e.UnreadChildren)
		}
		out.WriteByte('\n')
	}
	return out.String()
}
