package snapview

import (
	"github.com/gybob/aai-gateway/internal/desktop"
)

// HasNoPage reports whether there is no visible document with a name or content, nor a dialog in
// front of it.
func (s *RefSnapshot) HasNoPage() bool {
	for i := range s.Snapshot.Elements {
		e := &s.Snapshot.Elements[i]
		if e.Role == desktop.Document && e.States.Has(desktop.Showing) && (e.Name != "" || e.End > i+1) {
			return false
		}
	}
	return s.AlertOfPage() < 0
}

// AlertOfPage returns the visible dialog that makes a browser hide its page, such as an alert of
// the page; -1 if there is none.
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

// BrowserPromptFor returns the index of the browser's own visible modal dialog, outside the page, in
// the window of element i. It returns -1 if there is none or i is not in a page.
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

// DialogsOutsidePage returns the visible dialogs of the window outside documents, such as a
// browser's questions for its page. It returns none if one of them contains i (-1: none).
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

// PageModal returns a visible modal dialog within a page: browsers omit the content behind it. -1
// if there is none.
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
