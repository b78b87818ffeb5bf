package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// offscreenMark begins the cursors of pages with off-screen elements.
const offscreenMark = "q"

// IsOffscreenCursor reports whether a cursor continues with off-screen elements.
func IsOffscreenCursor(cursor string) bool { return strings.HasPrefix(cursor, offscreenMark) }

// visibility reports whether the model covers element i (tell), and whether an earlier page already showed it (told).
// within means that an ancestor is out of view.
func (k *model) visibility(i int, within bool) (tell, told bool) {
	states := k.snapshot.Elements[i].States
	shows := states.Has(desktop.Showing)
	switch {
	case k.options.Hidden || i == k.options.Root && !k.offscreen:
		return true, false
	case i == k.options.Root:
		return true, true
	case k.offscreen:
		return shows || states.Has(desktop.Offscreen), shows && !within
	}
	return shows || k.includesOffscreen && states.Has(desktop.Offscreen), false
}

// outermost returns the first entry not shown on earlier pages, or -1.
func (k *model) outermost() int {
	return slices.IndexFunc(k.nodes, func(n entry) bool { return !n.rendered })
}

// maxKinds is the maximum number of kinds in a summary of off-screen elements.
const maxKinds = 4

// kinds summarizes the entries by role, actionable ones first: 1 button, 186 paragraph.
func (k *model) kinds() string {
	type kind struct {
		role  desktop.Role
		acts  bool
		count int
	}
	var all []kind
	for i := range k.nodes {
		n, role := &k.nodes[i], k.element(i).Role
		if n.rendered || !n.acts && n.end > i+1 {
			continue
		}
		at := slices.IndexFunc(all, func(k kind) bool { return k.role == role && k.acts == n.acts })
		if at < 0 {
			at = len(all)
			all = append(all, kind{role: role, acts: n.acts})
		}
		all[at].count++
	}
	slices.SortStableFunc(all, func(a, b kind) int {
		if a.acts != b.acts {
			if a.acts {
				return -1
			}
			return 1
		}
		return b.count - a.count
	})
	var words []string
	more := 0
	for i, kind := range all {
		if i >= maxKinds {
			more += kind.count
			continue
		}
		words = append(words, fmt.Sprintf("%d %s", kind.count, kind.role.SafeName()))
	}
	if more > 0 {
		words = append(words, fmt.Sprintf("%d other", more))
	}
	return strings.Join(words, ", ")
}
