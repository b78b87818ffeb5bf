package scene

import (
	"fmt"

	"aai"
	"aai/internal/ax/values"
	"aai/internal/desktop"
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

// Brief is an element of the snapshot, which may be another than the scene's, for programs.
func (s *Scene) Brief(shot *desktop.Snapshot, i int) ElementView {
	e := &shot.Elements[i]
	out := ElementView{
		Ref: s.Refs.Ref(shot, i), Role: string(e.Role), Title: aai.CleanLabel(e.Name, values.MaxText), Value: (&Scene{Shot: shot}).shown(i),
		Enabled: e.States.Has(desktop.Enabled), Focused: e.States.Has(desktop.Focused), States: e.States.Words(),
	}
	if !e.Frame.Empty() {
		out.Position, out.Size = []int{e.Frame.X, e.Frame.Y}, []int{e.Frame.W, e.Frame.H}
	}
	return out
}

// shown is what an element holds, for showing.
func (s *Scene) shown(i int) string {
	e := s.Shot.Elements[i]
	e.Value = s.Held(i)
	return values.Shown(&e)
}

// describe is an element in one line, with what it holds.
func (s *Scene) describe(i int) string {
	e := &s.Shot.Elements[i]
	text := s.Name(i)
	if value := s.shown(i); value != "" && (e.Value != "" || !e.States.Has(desktop.Checkable)) {
		text += fmt.Sprintf(" value %q", aai.CleanLabel(value, 200))
	}
	if !e.States.Has(desktop.Enabled) {
		text += " disabled"
	}
	if s.Shot.Beyond(i) {
		text += " out of view"
	}
	if e.States.Has(desktop.Checkable) {
		text += map[bool]string{true: " checked", false: " unchecked"}[e.States.Has(desktop.Checked)]
	}
	return text
}

// FoundText is the element, what it is in and what stands with it.
func (s *Scene) FoundText(i int, row string) string {
	text := s.describe(i)
	if !s.Shot.Visible(i) && !s.Shot.Beyond(i) { // which is said of it
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
