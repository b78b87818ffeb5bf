package a11y

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A Path is the way of the keyboard focus in one direction, as indexes of elements: first the one before the first key,
// then one for each key. A key that moved nothing repeats the last element.
type Path struct {
	Elements []int
	Left     bool // the focus left the page at the end
	Complete bool // the focus left the page, or came back to an element
}

// cycle returns the elements that the keys lead to again and again; nil if there is no such end.
func (p Path) cycle() []int {
	if p.Left || !p.Complete || len(p.Elements) < 2 {
		return nil
	}
	last := len(p.Elements) - 1
	return p.Elements[slices.Index(p.Elements, p.Elements[last]):last]
}

// A Walk is the way of the focus by tab and, from its end, by shift+tab.
type Walk struct{ Forward, Backward Path }

// reaches reports whether the element, one in it or one around it had the focus.
func (a *audit) reaches(i int, path ...int) bool {
	return slices.ContainsFunc(path, func(on int) bool {
		return on >= 0 && (on == i || i < on && on < a.Snapshot.Elements[i].End || on < i && i < a.Snapshot.Elements[on].End && !a.isPageOrWindow(on))
	})
}

func (a *audit) isPageOrWindow(i int) bool {
	return a.Snapshot.Elements[i].Parent < 0 || a.Snapshot.Elements[i].Role == desktop.Document
}

// isStop reports whether the focus should stop at the element: it is operated, and takes the focus by itself.
func (a *audit) isStop(i int) bool {
	e := &a.Snapshot.Elements[i]
	return a.seen[i] && (isControl(e) || isField(e)) && e.States.Has(desktop.Focusable|desktop.Enabled) && !e.Frame.Empty() &&
		!a.isPart(i) && !a.inBar(i) && !e.Role.IsMenuItem() && e.Role != desktop.Tab && e.Role != desktop.Radio
}

// missed returns the elements of the scope at which the focus should stop, and does not on these paths.
func (a *audit) missed(paths ...int) (missed []int) {
	for i := a.Root; i < a.Snapshot.Elements[a.Root].End; i++ {
		if a.isStop(i) && !a.reaches(i, paths...) {
			missed = append(missed, i)
		}
	}
	return missed
}

// trap returns the elements that the focus does not leave, neither by tab nor by shift+tab, although there are others.
func (a *audit) trap() []int {
	if a.Walk == nil {
		return nil
	}
	inside := a.Walk.Forward.cycle()
	if inside == nil || a.Walk.Backward.Left || !a.Walk.Backward.Complete {
		return nil
	}
	for _, on := range a.Walk.Backward.Elements {
		if !slices.Contains(inside, on) {
			return nil
		}
	}
	start := a.Walk.Forward.Elements[0]
	outside := slices.DeleteFunc(a.missed(inside...), func(i int) bool { return !slices.Contains(inside, start) && a.reaches(i, start) })
	entered := slices.Index(a.Walk.Forward.Elements, inside[0]) > 1 // others had the focus before
	if len(outside) == 0 && !entered || len(outside) < len(inside) && !entered {
		return nil
	}
	return inside
}

func trapped(a *audit, i int) string {
	inside := a.trap()
	if len(inside) == 0 || slices.Min(inside) != i {
		return ""
	}
	if len(inside) == 1 {
		return "neither tab nor shift+tab leaves it"
	}
	return fmt.Sprintf("neither tab nor shift+tab leaves it and %s", a.list(slices.DeleteFunc(slices.Clone(inside), func(on int) bool { return on == i })))
}

// list names the first of the elements.
func (a *audit) list(indexes []int) string {
	const most = 3
	var names []string
	for _, i := range indexes[:min(most, len(indexes))] {
		names = append(names, desktop.Describe(&a.Snapshot.Elements[i]))
	}
	if more := len(indexes) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d others", more))
	}
	return strings.Join(names, ", ")
}

func unreached(a *audit, i int) string {
	if a.Walk == nil || !a.Walk.Forward.Complete || !a.Walk.Backward.Complete || !a.isStop(i) || len(a.trap()) > 0 {
		return ""
	}
	if a.reaches(i, slices.Concat(a.Walk.Forward.Elements, a.Walk.Backward.Elements)...) {
		return ""
	}
	return "it takes the keyboard focus, and tab does not lead to it"
}

// outOfOrder finds elements that get the focus after elements that come later, both in the tree and on the screen. The
// step from the last to the first of a window does not count.
func outOfOrder(a *audit, i int) string {
	if a.Walk == nil || len(a.trap()) > 0 {
		return ""
	}
	path := a.Walk.Forward.Elements
	var back [][2]int
	for n := 1; n < len(path); n++ {
		if path[n] >= 0 && path[n-1] >= 0 && a.isBefore(path[n], path[n-1]) {
			back = append(back, [2]int{path[n-1], path[n]})
		}
	}
	if cycle := a.Walk.Forward.cycle(); len(cycle) > 0 && len(back) > 0 {
		first := slices.IndexFunc(back, func(step [2]int) bool { return step[1] == slices.Min(cycle) })
		back = slices.Delete(back, max(first, 0), max(first, 0)+1)
	}
	for _, step := range back {
		if step[1] == i {
			return fmt.Sprintf("it gets the focus after %s, which comes later", desktop.Describe(&a.Snapshot.Elements[step[0]]))
		}
	}
	return ""
}

// isBefore reports whether the element i comes before the other in the tree, and is above it or in its row before it.
func (a *audit) isBefore(i, other int) bool {
	if i >= other {
		return false
	}
	f, o := a.Snapshot.Elements[i].Frame, a.Snapshot.Elements[other].Frame
	if f.Empty() || o.Empty() {
		return false
	}
	above := f.Y+f.H <= o.Y
	sameRow := f.Y < o.Y+o.H && o.Y < f.Y+f.H
	return above || sameRow && f.X+f.W <= o.X
}
