package scene

import (
	"aai/internal/desktop"
)

// Pageless reports whether no document shows that has a name or anything in it, nor a
// dialog that is before it.
func (s *Scene) Pageless() bool {
	for i := range s.Shot.Elements {
		e := &s.Shot.Elements[i]
		if e.Role == desktop.Document && e.States.Has(desktop.Showing) && (e.Name != "" || e.End > i+1) {
			return false
		}
	}
	return s.BeforePage() < 0
}

// BeforePage is the dialog that shows where a browser shows nothing of its page as long as
// it is open, as an alert of the page; -1 where there is none.
func (s *Scene) BeforePage() int {
	dialog := -1
	for i := range s.Shot.Elements {
		switch e := &s.Shot.Elements[i]; {
		case !e.States.Has(desktop.Showing):
		case e.Role == desktop.Document && e.Name != "":
			return -1
		case e.Role == desktop.Dialog || e.Role == desktop.AlertDialog:
			dialog = i
		}
	}
	return dialog
}

// ModalOfPage is a modal dialog that a page itself shows: browsers tell nothing of what is
// behind it. -1 where there is none.
func (s *Scene) ModalOfPage() int {
	modal, within := -1, 0
	for i := range s.Shot.Elements {
		switch e := &s.Shot.Elements[i]; {
		case e.Role == desktop.Document && e.States.Has(desktop.Showing):
			within = max(within, e.End)
		case i < within && (e.Role == desktop.Dialog || e.Role == desktop.AlertDialog) && e.States.Has(desktop.Showing|desktop.Modal):
			modal = i
		}
	}
	return modal
}
