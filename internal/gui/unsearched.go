package gui

import (
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// unsearchedHint returns a hint with the lists and tables of which the program reports only some items, or "". Either
// they are too many to read, or the program creates items only when they come into view.
func (v *view) unsearchedHint() string {
	var parts []string
	for i := range v.snapshot.Elements {
		if missing := max(v.snapshot.Elements[i].UnreadChildren, v.unloadedItems(i)); missing > 0 && v.snapshot.IsVisible(i) && !v.withoutNewRefs && len(parts) < 3 {
			parts = append(parts, fmt.Sprintf("%d in %s", missing, v.name(i)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " Not searched, because they are too many or not loaded: " + strings.Join(parts, ", ") + "; ax_scroll goes there."
}

// unloadedItems returns how many items of a list the program has not created: its items say how many there are.
func (v *view) unloadedItems(list int) int {
	switch v.snapshot.Elements[list].Role {
	case desktop.List, desktop.Listbox, desktop.Grid, desktop.Table:
	default:
		return 0
	}
	items, size := 0, 0
	for c := list + 1; c < v.snapshot.Elements[list].End; c++ {
		switch e := &v.snapshot.Elements[c]; {
		case e.Size > size:
			items, size = 1, e.Size
		case e.Size == size && size > 0:
			items++
		}
	}
	return size - items
}
