package ax

import (
	"context"
	"math"
	"time"

	"aai"
	"aai/internal/desktop"
)

// How an element is brought into view where the program does not do it itself.
const (
	maxRolls     = 60 // how often what it is in is scrolled
	rollPatience = time.Second
)

// intoView has the element scrolled to by what it is in.
func (v *view) intoView(ctx context.Context, i int) (*aai.Result, error) {
	id := v.shot.Elements[i].ID
	if v.shot.Visible(i) {
		return &aai.Result{Text: v.name(i) + " is in view.", Data: deedResult{Verified: true, Changes: []string{}, Element: v.brief(v.shot, i)}}, nil
	}
	a := deed{view: v, index: i, done: "Brought into view", ways: []way{
		v.byAsking(i, "its scrolling", desktop.Act{Verb: desktop.ScrollTo}),
		{name: "scrolling its list", do: func(ctx context.Context) error { return v.roll(ctx, id) }},
	}}
	a.verify = func(ctx context.Context) (string, bool) {
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		return "", err == nil && now.States.Has(desktop.Showing)
	}
	return a.perform(ctx)
}

// roll scrolls the list that the element is in, page by page, until it shows. It
// looks at the program each time: in what a list shows, and in how far a wheel
// turns it, toolkits differ. The view is as it was in the end, for what was found
// in it.
func (v *view) roll(ctx context.Context, id desktop.ID) error {
	now := *v
	last, step := 0, 1.0
	for range maxRolls {
		i := now.shot.Index(id)
		if i < 0 {
			return failed(aai.Delivered, "it went while its list was being scrolled")
		}
		if now.shot.Visible(i) {
			return nil
		}
		list, away, rows := now.away(i)
		switch {
		case away == 0 && last == 0:
			return unsupported("way to bring this into view")
		case away == 0:
			return failed(aai.Delivered, "its list cannot be scrolled to it")
		case away < 0 && last > 0 || away > 0 && last < 0:
			step /= 2 // it was gone past
		}
		last = away
		if err := now.rollBy(ctx, list, int(math.Round(step*float64(away)))); err != nil {
			return err
		}
		if err := now.rolled(ctx, id, rows); err != nil {
			return err
		}
	}
	return failed(aai.Delivered, "its list was scrolled %d times, and it is not in view", maxRolls)
}

// rolled waits until the element shows or is at another distance than so many rows.
func (v *view) rolled(ctx context.Context, id desktop.ID, from int) error {
	for until := time.Now().Add(rollPatience); ; {
		if err := v.refresh(ctx); err != nil {
			return err
		}
		i := v.shot.Index(id)
		if i < 0 || v.shot.Visible(i) {
			return nil
		}
		if _, _, rows := v.away(i); rows != from {
			return nil
		}
		if !v.changed(ctx, until) {
			return failed(aai.Delivered, "its list does not scroll any further")
		}
	}
}

// away says how many rows the element, one that does not show, is below what its
// list shows, or above if negative, and how many pixels that is, at most a page; 0
// where that cannot be told.
func (v *view) away(i int) (list, pixels, rows int) {
	row := i
	list = v.shot.Elements[row].Parent
	for list >= 0 && !v.shot.Visible(list) {
		row, list = list, v.shot.Elements[list].Parent
	}
	if list < 0 || !rolls(v.shot.Elements[row].Role) {
		return -1, 0, 0
	}
	first, last, at := -1, -1, -1
	all := v.shot.Children(list)
	for n, c := range all {
		if c == row {
			at = n
		}
		if v.shot.Visible(c) {
			last = n
			if first < 0 {
				first = n
			}
		}
	}
	if first < 0 {
		return -1, 0, 0
	}
	top, bottom := v.shot.Elements[all[first]].Frame, v.shot.Elements[all[last]].Frame
	page := bottom.Y + bottom.H - top.Y
	pitch := max(1, page/(last-first+1))
	switch {
	case at < first:
		return list, -min((first-at)*pitch, max(pitch, page*4/5)), at - first
	case at > last:
		return list, min((at-last)*pitch, max(pitch, page*4/5)), at - last
	}
	return -1, 0, 0
}

// rolls reports whether elements of the role stand one below the other in lists.
func rolls(role desktop.Role) bool {
	switch role {
	case desktop.Option, desktop.ListItem, desktop.TreeItem, desktop.Row, desktop.Cell:
		return true
	}
	return false
}

// rollBy scrolls a list by its scroll bar or the wheel.
func (v *view) rollBy(ctx context.Context, list, pixels int) error {
	if bar := v.scrollbar(list, true); bar >= 0 && !inFocus(v.call) {
		e := &v.shot.Elements[bar]
		to := math.Max(e.Min, math.Min(e.Max, numberOr(e.Value, 0)+float64(pixels)))
		return v.byAsking(bar, "", desktop.Act{Verb: desktop.SetNumber, Number: to}).do(ctx)
	}
	return v.byInput(list, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.point(list, w)
		if err != nil {
			return err
		}
		return input.Scroll(ctx, seat, w.ID, at, 0, notches(pixels))
	}).do(ctx)
}
