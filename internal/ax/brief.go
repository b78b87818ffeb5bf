package ax

import (
	"fmt"

	"aai"
	"aai/internal/desktop"
)

// An elementView is an element for programs.
type elementView struct {
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

// maxText is how many bytes of a program's text a field of an answer holds.
const maxText = 2000

// hiddenValue stands in the place of what a password field holds.
const hiddenValue = "****"

func (v *view) brief(shot *desktop.Snapshot, i int) elementView {
	e := &shot.Elements[i]
	out := elementView{
		Ref: v.refs.Ref(shot, i), Role: string(e.Role), Title: aai.CleanLabel(e.Name, maxText), Value: valueOf(e),
		Enabled: e.States.Has(desktop.Enabled), Focused: e.States.Has(desktop.Focused), States: e.States.Words(),
	}
	if !e.Frame.Empty() {
		out.Position, out.Size = []int{e.Frame.X, e.Frame.Y}, []int{e.Frame.W, e.Frame.H}
	}
	return out
}

// valueOf is what an element holds, for showing.
func valueOf(e *desktop.Element) string {
	if e.States.Has(desktop.Protected) {
		return hiddenValue
	}
	return aai.CleanText(held(e), maxText)
}

// held is what an element holds: of what can be ticked, whether it is.
func held(e *desktop.Element) string {
	switch {
	case e.Value != "" || !e.States.Has(desktop.Checkable):
		return e.Value
	case e.States.Has(desktop.Mixed):
		return "mixed"
	case e.States.Any(desktop.Checked | desktop.Pressed):
		return "true"
	}
	return "false"
}

// describe is an element in one line, with what it holds.
func describe(v *view, i int) string {
	e := &v.shot.Elements[i]
	text := v.name(i)
	if value := valueOf(e); value != "" && e.Value != "" {
		text += fmt.Sprintf(" value %q", aai.CleanLabel(value, 200))
	}
	if !e.States.Has(desktop.Enabled) {
		text += " disabled"
	}
	if v.shot.Beyond(i) {
		text += " out of view"
	}
	if e.States.Has(desktop.Checkable) {
		text += map[bool]string{true: " checked", false: " unchecked"}[e.States.Has(desktop.Checked)]
	}
	return text
}
