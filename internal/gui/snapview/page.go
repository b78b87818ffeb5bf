package snapview

import (
	"github.com/gybob/aai-gateway/internal/desktop"
)

// HasNoPage reports whether no document shows that has a name or anything in it, nor a
// dialog that is before it.
func (s *RefSnapshot) HasNoPage() bool {
	for i := range s.Snapshot.Elements {
		e := &s.Snapshot.Elements[i]
		if e.Role == desktop.Document && e.States.Has(desktop.Showing) && (e.Name != "" || e.End > i+1) {
			return false
		}
	}
	return s.AlertOfPage() < 0
}

// AlertOfPage is the dialog that shows where a browser shows nothing of its page as long as
// it is open, as an alert of the page; -1 where there is none.
func (s *RefSnapshot) AlertOfPage() int {
	dialog := -1
	for i := range s.Snapshot.Elements {
		switch e := &s.Snapshot.Elements[i]; {
		case !e.States.Has(desktop.Showing):
		case e.Role == desktop.Document && e.Name != "":
			return -1
		case e.Role == desktop.Dialog || e.Role == desktop.AlertDialog:
			dialog = i
		}
	}
	return dialog
}

// BrowserPromptFor is the dialog by which a browser asks, within its window, what the page asks that
// the element is in: the page goes on when it is answered. -1 where there is none.
func (s *RefSnapshot) BrowserPromptFor(i int) int {
	document, top := -1, s.Snapshot.WindowOf(i)
	for p := s.Snapshot.Elements[i].Parent; p >= 0; p = s.Snapshot.Elements[p].Parent {
		if s.Snapshot.Elements[p].Role == desktop.Document {
			document = p
		}
	}
	if document < 0 {
		return -1
	}
	for d := top + 1; d < s.Snapshot.Elements[top].End; d++ {
		switch e := &s.Snapshot.Elements[d]; {
		case e.Role == desktop.Document:
			d = e.End - 1
		case e.Role == desktop.Dialog && e.States.Has(desktop.Showing|desktop.Modal):
			return d
		}
	}
	return -1
}

// DialogsOutsidePage are the dialogs that show within the window, but in no document, as those by
// which a browser asks for its page; none where the element (-1: none) is in one of them.
func (s *RefSnapshot) DialogsOutsidePage(top, i int) (dialogs []int) {
	for d := top + 1; d < s.Snapshot.Elements[top].End; d++ {
		switch e := &s.Snapshot.Elements[d]; {
		case e.Role == desktop.Document:
			d = e.End - 1
		case (e.Role == desktop.Dialog || e.Role == desktop.AlertDialog) && s.Snapshot.IsVisible(d):
			if d <= i && i < e.End {
				return nil
			}
			dialogs = append(dialogs, d)
			d = e.End - 1
		}
	}
	return dialogs
}

// PageModal is a modal dialog that a page itself shows: browsers tell nothing of what is
// behind it. -1 where there is none.
func (s *RefSnapshot) PageModal() int {
	modal, within := -1, 0
	for i := range s.Snapshot.Elements {
		switch e := &s.Snapshot.Elements[i]; {
		case e.Role == desktop.Document && e.States.Has(desktop.Showing):
			within = max(within, e.End)
		case i < within && (e.Role == desktop.Dialog || e.Role == desktop.AlertDialog) && e.States.Has(desktop.Showing|desktop.Modal):
			modal = i
		}
	}
	return modal
}
