package aai

import "strconv"

// A TargetElement is the element of a window that a call acts on, such as a button, in display
// form. The zero value means unknown.
type TargetElement struct {
	Role   string `json:"role,omitempty"`
	Name   string `json:"name,omitempty"` // visible text; the names of all if there are several
	ID     string `json:"id,omitempty"`   // identifier set by the app's author
	Window string `json:"window,omitempty"`
	// Key is the pressed key if it closes or deletes, such as "ctrl+w"; other keys are omitted.
	Key string `json:"key,omitempty"`
	// UnknownEffect reports that the effect is not known beforehand, as for a key or for a place
	// without a known element.
	UnknownEffect bool `json:"effect_unknown,omitempty"`
	// AllText is all visible and descriptive text of the possible elements, by which gates judge.
	AllText string `json:"-"`
	// Irreversible reports that the action cannot be undone on any element.
	Irreversible bool `json:"-"`
}

// String returns the element in one line, such as button "Save" #save-btn in "Notes". All text of
// the app is cleaned and quoted.
func (h TargetElement) String() string {
	text := h.Role
	if h.Name != "" {
		text += " " + strconv.Quote(h.Name)
	}
	if h.ID != "" {
		text += " #" + h.ID
	}
	switch {
	case h.Key != "" && text != "":
		text = h.Key + " at " + text
	case h.Key != "":
		text = h.Key
	}
	if h.Window != "" {
		text += " in " + strconv.Quote(h.Window)
	}
	return CleanLabel(text, 2*maxName)
}
