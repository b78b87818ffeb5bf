package gui

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
)

// contents returns the text of an element that is no field: its own words, or those of the elements inside it, each
// on its line. If they are too long, next is the ref of the first element that is left out.
func (v *view) contents(ctx context.Context, i int) (text, next string) {
	if id := v.snapshot.Elements[i].ID; v.holdsOffscreen(i) && v.readOffscreen(ctx) {
		if i = v.snapshot.Index(id); i < 0 {
			return "", ""
		}
	}
	var lines []string
	size := 0
	for j := i; j < v.snapshot.Elements[i].End; j++ {
		e := v.snapshot.Elements[j]
		words, whole := ownWords(&e)
		if len(words) >= desktop.MaxValue-4 { // it may be cut
			if now, err := v.read(ctx, e.ID); err == nil {
				words = fieldtext.FullText(&now)
			}
		}
		if whole {
			j = e.End - 1
		}
		if words == "" || j == i && words == e.Name && !whole {
			continue
		}
		if size += len(words) + 1; size > fieldtext.MaxLongText && len(lines) > 0 {
			return strings.Join(lines, "\n"), v.ref(v.snapshot.Index(e.ID))
		}
		lines = append(lines, words)
	}
	return strings.Join(lines, "\n"), ""
}

// holdsOffscreen reports whether the element has elements out of view, whose words may not have been read.
func (v *view) holdsOffscreen(i int) bool {
	for j := i; j < v.snapshot.Elements[i].End; j++ {
		if v.snapshot.IsOffscreen(j) {
			return true
		}
	}
	return false
}

// holdsValue reports whether the element has a value of its own, which may be empty.
func holdsValue(e *desktop.Element) bool {
	switch e.Role {
	case desktop.Combobox, desktop.Listbox, desktop.Slider, desktop.Scrollbar, desktop.Progressbar, desktop.Meter, desktop.Tablist:
		return true
	case desktop.Document:
		return false
	}
	return takesText(e) || e.Min != e.Max || e.States.HasAny(desktop.Protected|desktop.Checkable)
}

// ownWords returns the words of an element besides those of its descendants. whole reports whether they include
// those of its descendants.
func ownWords(e *desktop.Element) (words string, whole bool) {
	switch {
	case e.States.Has(desktop.Protected):
		return "", true
	case e.Role == desktop.Document || e.Role == desktop.Row:
		return e.Value, false
	case e.Role.IsTextual() || e.Role == desktop.Cell || e.Role == desktop.ListItem || e.Role == desktop.ColumnHeader || e.Role == desktop.RowHeader:
		words = fieldtext.FullText(e)
		return words, words != ""
	case takesText(e) || e.Role.IsInputOrItem() || e.Role.IsPressable():
		if value := fieldtext.Value(e); value != "" && value != e.Name {
			return strings.TrimSpace(e.Name + ": " + value), true
		}
		return e.Name, e.Name != ""
	}
	return fieldtext.Value(e), false
}
