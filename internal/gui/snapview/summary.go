package snapview

import (
	"fmt"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
)

// An ElementView is an element for programs.
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

// Summarize is an element of the snapshot, which may be another than the scene's, for programs.
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

// shown is what an element holds, for showing.
func (s *RefSnapshot) shown(i int) string {
	e := s.Snapshot.Elements[i]
	e.Value = s.ValueOf(i)
	return fieldtext.DisplayValue(&e)
}

// describe is an element in one line, with what it holds.
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

// FoundText is the element, what it is in and what stands with it.
func (s *RefSnapshot) FoundText(i int, row string) string {
	text := s.describe(i)
	if !s.Snapshot.IsVisible(i) && !s.Snapshot.IsOffscreen(i) { // which is said of it
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
