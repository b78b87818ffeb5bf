package atspi

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// GTK and Qt do not implement ScrollTo. Their scroll areas have scroll bars, whose numbers are
// positions in pixels. GTK 3 does not tell the place of an element that is out of view.

// A scrollArea is a container with scroll bars around an element.
type scrollArea struct {
	ref  ref
	bars []scrollBar
	goal ref // the next scroll area inside, or the element
	// guess is the part of the other content that precedes the goal in tree order, from 0 to 1.
	guess float64
}

type scrollBar struct {
	ref      ref
	vertical bool // as the app says; some apps do not
}

// scrollAreas returns the scroll areas around the element, from the outside in, by the last snapshot.
func (a *actor) scrollAreas() (areas []scrollArea) {
	s := a.p.cache.Last()
	if s == nil {
		return nil
	}
	i := s.Index(a.n.id(a.p.sender))
	if i < 0 {
		return nil
	}
	goal := i
	if a.p.profile().hidesScrolledRows { // lists have bars of their own, which Qt does not report
		for p := s.Elements[i].Parent; p >= 0; p = s.Elements[p].Parent {
			switch s.Elements[p].Role {
			case desktop.List, desktop.Listbox, desktop.TreeView, desktop.Grid, desktop.Table:
				goal = p
			}
		}
	}
	for p := s.Elements[goal].Parent; p >= 0; p = s.Elements[p].Parent {
		before, after := float64(goal-p-1), float64(s.Elements[p].End-s.Elements[goal].End)
		area := scrollArea{guess: before / max(1, before+after)}
		for _, bar := range scrollBarsOf(s, p) {
			if r, ok := parseID(s.Elements[bar].ID, a.p.sender); ok {
				area.bars = append(area.bars, scrollBar{r, s.Elements[bar].States.Has(desktop.Vertical)})
			}
		}
		if len(area.bars) == 0 {
			continue
		}
		area.ref, _ = parseID(s.Elements[p].ID, a.p.sender)
		area.goal, _ = parseID(s.Elements[goal].ID, a.p.sender)
		areas = append(areas, area)
		goal = p
	}
	slices.Reverse(areas)
	return areas
}

// scrollBarsOf returns the scroll bars of a container: its children, or only children of those.
func scrollBarsOf(s *desktop.Snapshot, container int) (bars []int) {
	for _, c := range s.Children(container) {
		if only := c + 1; only < s.Elements[c].End && s.Elements[only].End == s.Elements[c].End && s.Elements[c].Role != desktop.Scrollbar {
			c = only
		}
		if s.Elements[c].Role == desktop.Scrollbar {
			bars = append(bars, c)
		}
	}
	return bars
}

// scrollByBars brings the element into view by the scroll bars around it.
func (a *actor) scrollByBars(ctx context.Context) error {
	areas := a.scrollAreas()
	if len(areas) == 0 {
		return a.unsupported("is in no scroll area", nil)
	}
	own := areas[len(areas)-1].goal
	for _, area := range areas {
		if err := a.reveal(ctx, area); err != nil {
			return err
		}
	}
	for _, area := range areas[:len(areas)-1] { // the inner area may be larger than the outer one
		area.goal = own
		if err := a.reveal(ctx, area); err != nil {
			return err
		}
	}
	if own != a.n.ref {
		return a.unsupported("is in a list that is to be scrolled itself", nil)
	}
	return nil
}

// A place is the position of an element on one axis.
type place struct{ begin, length int }

func (p place) within(view place) bool {
	return p.begin >= view.begin && p.begin+p.length <= view.begin+view.length
}

// axis returns the place of the rectangle on an axis.
func axis(r desktop.Rect, vertical bool) place {
	if vertical {
		return place{r.Y, r.H}
	}
	return place{r.X, r.W}
}

// reveal scrolls the area until its goal is in view.
func (a *actor) reveal(ctx context.Context, area scrollArea) error {
	for _, bar := range area.bars {
		b := barScroll{actor: a, area: area, bar: bar.ref}
		if err := b.read(ctx); err != nil {
			return err
		}
		if b.min >= b.max {
			continue
		}
		b.vertical = bar.vertical || b.frame.H > b.frame.W // GTK 3 does not tell the place of a faded bar
		if err := b.scroll(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A barScroll scrolls an area by one of its bars.
type barScroll struct {
	*actor
	area     scrollArea
	bar      ref
	vertical bool

	frame, view, goal desktop.Rect // of the bar, the area and the goal; empty if unknown
	number, min, max  float64
}

// read reads the bar's number and the places.
func (b *barScroll) read(ctx context.Context) error {
	bar, view, goal := &node{ref: b.bar, offers: offersComponent}, &node{ref: b.area.ref, offers: offersComponent}, &node{ref: b.area.goal, offers: offersComponent}
	r := &batch{}
	b.p.askNumber(r, bar)
	for _, n := range []*node{bar, view, goal} {
		b.p.askFrame(r, n)
	}
	if err := b.p.run(ctx, r); err != nil {
		return b.p.failed(b.app, err)
	}
	b.frame, b.view, b.goal = bar.frame, view.frame, goal.frame
	b.number, b.min, b.max = bar.number, bar.min, bar.max
	return nil
}

// Limits for scrolling by a bar.
const (
	maxBarMoves   = 8   // moves to a known place
	maxBarSearch  = 120 // moves in search of an unknown place
	barMoveWait   = 500 * time.Millisecond
	barMovePeriod = 10 * time.Millisecond
)

// scroll moves the bar until the goal is in view. If it does not find the goal, it restores the
// bar's number.
func (b *barScroll) scroll(ctx context.Context) error {
	from := b.number
	for _, to := range b.searchNumbers() {
		if !b.goal.Empty() {
			break
		}
		if err := b.move(ctx, to); err != nil {
			return err
		}
	}
	if b.goal.Empty() {
		if err := b.move(ctx, from); err != nil {
			return err
		}
		return b.unsupported("was not found by scrolling", nil)
	}
	for range maxBarMoves {
		to := b.target()
		if to == b.number {
			return nil
		}
		if err := b.move(ctx, to); err != nil {
			return err
		}
	}
	return nil
}

// searchNumbers returns the numbers at which the bar shows each part of the content, from the guess
// to both ends. It returns none if the place of the goal is known.
func (b *barScroll) searchNumbers() (numbers []float64) {
	page := float64(axis(b.view, b.vertical).length) * 4 / 5
	if page < 1 || !b.goal.Empty() {
		return nil
	}
	guess := b.min + b.area.guess*(b.max-b.min)
	for down, up := guess, guess-page; (down < b.max+page || up > b.min-page) && len(numbers) < maxBarSearch; down, up = down+page, up-page {
		if down < b.max+page {
			numbers = append(numbers, min(down, b.max))
		}
		if up > b.min-page {
			numbers = append(numbers, max(up, b.min))
		}
	}
	return numbers
}

// target returns the number at which the goal is in view; the bar's present number if it is in view
// already or the bar cannot move further.
func (b *barScroll) target() float64 {
	view, goal := axis(b.view, b.vertical), axis(b.goal, b.vertical)
	by := 0
	switch {
	case goal.within(view):
	case goal.length >= view.length:
		by = goal.begin - view.begin
	default:
		by = goal.begin + goal.length/2 - view.begin - view.length/2
	}
	return math.Max(b.min, math.Min(b.max, b.number+float64(by)))
}

// move sets the bar's number and waits until the goal has moved, if its place is known.
func (b *barScroll) move(ctx context.Context, to float64) error {
	if to == b.number {
		return nil
	}
	e := wire.Encoder{}
	e.Str(valueInterface)
	e.Str("CurrentValue")
	e.Signature("d")
	e.Double(to)
	if err := b.do(ctx, &request{iface: propertiesInterface, member: "Set", signature: "ssv", body: e.Bytes()}, b.bar); err != nil {
		return err
	}
	was := b.goal
	for end := time.Now().Add(barMoveWait); ; {
		if err := b.read(ctx); err != nil {
			return err
		}
		if was.Empty() || b.goal != was || time.Now().After(end) {
			return nil
		}
		if err := aai.Sleep(ctx, barMovePeriod); err != nil {
			return err
		}
	}
}
