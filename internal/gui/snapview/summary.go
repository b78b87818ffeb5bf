package snapview

import (
	"fmt"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
)

// ElementView is an element as data for programs.
type ElementView struct {
	Ref      string   `json:"element_ref"`
	Role     string   `json:"role"`
	Title    string   `json:"title"`
	Value    string   `json:"value,omitempty"`
	Position []int    `json:"position,omitempty"` // x, y on the screen
	Size     []int    `json:"size,omitempty"`     // width, height
	Enabled  bool     `json:"enabled"`
	Focused  bool     `json:"focused"`
	States   []string `json:"states,omitempty"`
}

// Summarize returns an element of a snapshot, which may be newer than s, as data for programs.
func (s *RefSnapshot) Summarize(shot *desktop.Snapshot, i int) ElementView {
	e := &shot.Elements[i]
	out := ElementView{
		Ref: s.Refs.Ref(shot, i), Role: string(e.Role), Title: aai.CleanLabel(e.Name, fieldtext.MaxText), Value: (&RefSnapshot{Snapshot: shot}).shown(i),
		Enabled: e.States.Has(desktop.Enabled), Focused: e.States.Has(desktop.Focused), States: e.States.Words(),
	}
	if !e.Frame.Empty() {
		out.Position, out.Size = []int{e.Frame.X, e.Frame.Y}, []int{e.Frame.W, e.Frame.H}
	}
	return out
}

// shown returns the value of an element, for display.
func (s *RefSnapshot) shown(i int) string {
	e := s.Snapshot.Elements[i]
	e.Value = s.ValueOf(i)
	return fieldtext.DisplayValue(&e)
}

// describe formats an element in one line, with its value.
func (s *RefSnapshot) describe(i int) string {
	e := &s.Snapshot.Elements[i]
	text := s.Name(i)
	if value := s.shown(i); value != "" && (e.Value != "" || !e.States.Has(desktop.Checkable)) {
		text += fmt.Sprintf(" value %q", aai.CleanLabel(value, 200))
	}
	if !e.States.Has(desktop.Enabled) {
		text += " disabled"
	}
	if s.Snapshot.IsOffscreen(i) {
		text += " out of view"
	}
	if e.States.Has(desktop.Checkable) {
		text += map[bool]string{true: " checked", false: " unchecked"}[e.States.Has(desktop.Checked)]
	}
	return text
}

// FoundText describes the element, its containers and its row.
func (s *RefSnapshot) FoundText(i int, row string) string {
	text := s.describe(i)
	if !s.Snapshot.IsVisible(i) && !s.Snapshot.IsOffscreen(i) { // describe already contains that
		text += " out of view"
	}
	for _, part := range s.Path(i) {
		text += " in " + part
	}
	if row != "" {
		text += "; its row: " + row
	}
	return text
}
