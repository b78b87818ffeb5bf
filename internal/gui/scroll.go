package gui

import (
	"context"
	"math"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

func (d *engine) scrollTool() spec {
	return spec{
		name: "ax_scroll", title: "Scroll", effect: aai.Changes,
		description: "Scroll an element's container, or the program's front window. to_view brings the element into view.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"direction": {"type": "string", "enum": ["up", "down", "left", "right"], "default": "down"},
			"amount": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 100, "description": "Pixels, about"},
			"to_view": {"type": "boolean", "default": false},` + xyProps + `,` + pictureFlag + `,` + modeProp,
		required: `["app"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withViewToAct(ctx, call, scroll)
		},
	}
}

func scroll(ctx context.Context, v *view) (*aai.Result, error) {
	v.includeHidden = params.Bool(v.call, "to_view")
	i := -1
	if query := params.String(v.call, "query"); query != "" {
		m, err := v.locate(ctx, query)
		if err != nil {
			return nil, err
		}
		i = m.index
	}
	if params.Bool(v.call, "to_view") {
		if i < 0 {
			return nil, aai.Errorf(aai.InvalidParams, "query: expected the element to bring into view")
		}
		return v.scrollToView(ctx, i)
	}
	if params.Has(v.call, "x") && i < 0 {
		return v.scrollAt(ctx)
	}
	dx, dy := scrollBy(params.String(v.call, "direction"), params.Int(v.call, "amount", 100))
	a := action{view: v, index: i, doneText: "Scrolled " + params.String(v.call, "direction")}
	from := i
	if from < 0 {
		from = v.frontTopLevel(ctx)
	}
	var was fieldValue
	if bar := v.scrollbar(from, dy != 0); bar >= 0 && !params.TakesFocus(v.call) {
		was = v.readFieldValue(ctx, bar)
		e := &v.snapshot.Elements[bar]
		to := math.Max(e.Min, math.Min(e.Max, fieldtext.ParseNumber(e.Value, 0)+float64(dx+dy)))
		a.techniques = append(a.techniques, v.byAccessibility(bar, "its scroll bar", desktop.Act{Verb: desktop.SetNumber, Number: to}))
	}
	if v.inDevTools(i) {
		dx, dy = dx*notch/pageNotch, dy*notch/pageNotch
	}
	a.techniques = append(a.techniques, v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at := w.Frame.Center()
		if i >= 0 {
			var err error
			if at, err = v.clickPoint(i, w); err != nil {
				return err
			}
		}
		return input.Scroll(ctx, seat, w.ID, at, notches(dx), notches(dy))
	}))
	out, err := a.execute(ctx)
	return v.withUndo(ctx, was, out, err)
}

// scrollAt turns the wheel at a point.
func (v *view) scrollAt(ctx context.Context) (*aai.Result, error) {
	at, err := v.resolvePoint(ctx, "")
	if err != nil {
		return nil, err
	}
	w, err := v.windowAt(ctx, at)
	if err != nil {
		return nil, err
	}
	v.watchWindow()
	dx, dy := scrollBy(params.String(v.call, "direction"), params.Int(v.call, "amount", 100))
	a := action{view: v, index: -1, doneText: "Scrolled " + params.String(v.call, "direction")}
	a.techniques = []technique{v.byInputIn(fixedWindow(w), func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return input.Scroll(ctx, seat, w.ID, at, notches(dx), notches(dy))
	})}
	return a.execute(ctx)
}

func scrollBy(direction string, amount int) (dx, dy int) {
	switch direction {
	case "up":
		return 0, -amount
	case "left":
		return -amount, 0
	case "right":
		return amount, 0
	}
	return 0, amount
}

// scrollToView scrolls the element's containers until it is visible.
func (v *view) scrollToView(ctx context.Context, i int) (*aai.Result, error) {
	if v.snapshot.IsVisible(i) {
		return &aai.Result{Text: v.name(i) + " is in view.", NoOp: true, Data: actionResult{Verified: true, Changes: []string{}, Element: v.summarize(i)}}, nil
	}
	a := action{view: v, index: i, doneText: "Brought into view", techniques: v.scrollTechniques(i)}
	is := v.trackElement(i)
	a.verify = func(ctx context.Context) (string, bool) {
		err := v.refresh(ctx)
		i := is()
		return "", err == nil && i >= 0 && v.snapshot.IsVisible(i)
	}
	return a.execute(ctx)
}

// How many pixels most programs, and pages of Chromium, scroll per notch of the wheel.
const (
	notch     = 50
	pageNotch = 120
)

// notches converts pixels to notches of the wheel, at least one unless pixels is 0.
func notches(pixels int) int {
	switch {
	case pixels > 0:
		return max(1, pixels/notch)
	case pixels < 0:
		return min(-1, pixels/notch)
	}
	return 0
}

// Limits for scrolling an element into view if the program does not do it itself.
const (
	maxScrolls    = 60 // how often its list is scrolled
	scrollTimeout = time.Second
)

// scrollList scrolls the list that contains the element until the element is visible. It reads the program after
// each step, because toolkits differ in the rows that a list shows and in the distance per notch: the first step is at
// most a page, and shows how far a step goes. The view keeps its snapshot, so that its indexes stay valid.
func (v *view) scrollList(ctx context.Context, id desktop.ID) error {
	now := *v
	if err := now.refresh(ctx); err != nil {
		return err
	}
	from, asked, ratio := rowDistance{}, 0.0, 1.0
	for range maxScrolls {
		i := now.snapshot.Index(id)
		if i < 0 {
			return guierr.Failed(aai.Delivered, "it disappeared while its list was scrolled")
		}
		if now.snapshot.IsVisible(i) {
			return nil
		}
		away := now.scrollDistance(i)
		switch moved := float64(from.pixels - away.pixels); {
		case away.pixels == 0 && from.pixels == 0:
			return guierr.Unsupported("way to bring this into view")
		case away.pixels == 0:
			return guierr.Failed(aai.Delivered, "its list cannot be scrolled to it")
		case from.pixels == 0:
			asked = math.Max(-float64(away.page), math.Min(float64(away.page), float64(away.pixels)))
		default:
			if (moved > 0) == (asked > 0) && moved != 0 {
				ratio = asked / moved
			}
			asked = ratio * float64(away.pixels)
		}
		from = away
		if err := now.scrollListBy(ctx, away.list, int(math.Round(asked))); err != nil {
			return err
		}
		if err := now.awaitScrolled(ctx, id, away.rows); err != nil {
			return err
		}
	}
	return guierr.Failed(aai.Delivered, "its list was scrolled %d times, and it is not in view", maxScrolls)
}

// A rowDistance is the way from the visible part of a list to a row out of view. Up is negative. The distances are 0
// if they are unknown.
type rowDistance struct {
	list         int
	pixels, rows int
	page         int // the height of the visible part, in pixels
}

// scrollDistance returns the way to a hidden element of a list.
func (v *view) scrollDistance(i int) rowDistance {
	row, list := i, v.snapshot.Elements[i].Parent
	for list >= 0 && !v.snapshot.IsVisible(list) {
		row, list = list, v.snapshot.Elements[list].Parent
	}
	if list < 0 || !isRowRole(v.snapshot.Elements[row].Role) {
		return rowDistance{list: -1}
	}
	first, last, at, all := -1, -1, -1, []int(nil)
	for _, c := range v.snapshot.Children(list) {
		if v.snapshot.Elements[c].Role != v.snapshot.Elements[row].Role {
			continue // headings do not move with the rows
		}
		if c == row {
			at = len(all)
		}
		if v.snapshot.IsVisible(c) {
			if last = len(all); first < 0 {
				first = last
			}
		}
		all = append(all, c)
	}
	if first < 0 {
		return rowDistance{list: -1}
	}
	top, bottom := v.snapshot.Elements[all[first]].Frame, v.snapshot.Elements[all[last]].Frame
	page := bottom.Y + bottom.H - top.Y
	away := rowDistance{list: list, page: page, rows: at - last}
	if at < first {
		away.rows = at - first
	}
	if at >= first && at <= last {
		return rowDistance{list: -1}
	}
	away.pixels = away.rows * page / (last - first + 1)
	if away.pixels == 0 {
		away.pixels = away.rows
	}
	return away
}

// awaitScrolled waits until the element is visible or its distance in rows has changed from the given one.
func (v *view) awaitScrolled(ctx context.Context, id desktop.ID, from int) error {
	for p := v.newAdaptiveWait(scrollTimeout); ; {
		if err := v.refresh(ctx); err != nil {
			return err
		}
		i := v.snapshot.Index(id)
		if i < 0 || v.snapshot.IsVisible(i) {
			return nil
		}
		if v.scrollDistance(i).rows != from {
			return nil
		}
		if !p.awaitChange(ctx) {
			return guierr.Failed(aai.Delivered, "its list does not scroll any further")
		}
	}
}

// scrollListBy scrolls a list by so many pixels, with its scroll bar or the wheel.
func (v *view) scrollListBy(ctx context.Context, list, pixels int) error {
	if bar := v.scrollbar(list, true); bar >= 0 && !params.TakesFocus(v.call) {
		e := &v.snapshot.Elements[bar]
		to := math.Max(e.Min, math.Min(e.Max, fieldtext.ParseNumber(e.Value, 0)+float64(pixels)))
		return v.byAccessibility(bar, "", desktop.Act{Verb: desktop.SetNumber, Number: to}).do(ctx)
	}
	return v.byInput(list, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at, err := v.clickPoint(list, w)
		if err != nil {
			return err
		}
		return input.Scroll(ctx, seat, w.ID, at, 0, notches(pixels))
	}).do(ctx)
}

// scrollbar returns the scroll bar of the nearest container of the element, or any scroll bar for
// -1. It returns -1 if there is none.
func (v *view) scrollbar(i int, vertical bool) int {
	if i < 0 {
		return v.barWithin(0, len(v.snapshot.Elements), vertical)
	}
	for p := i; p >= 0; p = v.snapshot.Elements[p].Parent {
		if bar := v.barWithin(p, v.snapshot.Elements[p].End, vertical); bar >= 0 {
			return bar
		}
	}
	return -1
}

func (v *view) barWithin(begin, end int, vertical bool) int {
	for i := begin; i < end; i++ {
		e := &v.snapshot.Elements[i]
		if e.Role == desktop.Scrollbar && e.States.Has(desktop.Vertical) == vertical && e.Min < e.Max && v.snapshot.IsVisible(i) {
			return i
		}
	}
	return -1
}

// trackElement returns a function that finds the element in later snapshots; -1 if it is gone. It
// finds a sheet's cell by name: scrolling replaces its object.
func (v *view) trackElement(i int) func() int {
	id, name, table := v.snapshot.Elements[i].ID, v.snapshot.Elements[i].Name, v.tableOf(i)
	if !fieldtext.IsSheetCell(&v.snapshot.Elements[i]) {
		return func() int { return v.snapshot.Index(id) }
	}
	return func() int {
		for _, cell := range v.snapshot.Children(v.snapshot.Index(table)) {
			if v.snapshot.Elements[cell].Name == name {
				return cell
			}
		}
		return -1
	}
}

// awaitShowing waits until the element is visible, and returns its index; -1 if it stays hidden.
func (v *view) awaitShowing(ctx context.Context, is func() int) int {
	for p := v.newAdaptiveWait(scrollTimeout); ; {
		if err := v.refresh(ctx); err != nil {
			return -1
		}
		if i := is(); i >= 0 && v.snapshot.IsVisible(i) {
			return i
		}
		if !p.awaitChange(ctx) {
			return -1
		}
	}
}
