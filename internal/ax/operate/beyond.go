package operate

import (
	"context"

	"aai"
	"aai/internal/desktop"
)

// What is only scrolled out of view is found as what shows, where nothing that shows is
// meant. An act brings it into view first, and says so.

// mayBeFar reports whether what was found is out of view, or nothing was found.
func (v *View) mayBeFar(m Match, err error) bool {
	if err != nil {
		return aai.AsError(err).Code == aai.ElementNotFound
	}
	return v.Shot.Beyond(m.Index)
}

// LookFar reads also what is out of view completely, and reports whether it has: not twice,
// and not where nothing is.
func (v *View) LookFar(ctx context.Context) bool {
	if v.far || v.Backend.Far == nil {
		return false
	}
	for i := range v.Shot.Elements {
		if !v.Shot.Beyond(i) {
			continue
		}
		shot, err := v.Backend.Far.Far(ctx, v.App)
		if err != nil {
			return false // what shows is known all the same
		}
		v.Shot, v.far = shot, true
		return true
	}
	return false
}

// Bring scrolls an element into view that is out of it, and reports whether it has. Where that
// cannot be done it is as it was.
func (v *View) Bring(ctx context.Context, m Match) (now Match, brought bool) {
	if !v.Shot.Beyond(m.Index) || v.modal(ctx, v.Shot.Window(m.Index)) >= 0 {
		return m, false
	}
	id := v.Shot.Elements[m.Index].ID
	asks := v.ByAsking(m.Index, "", desktop.Act{Verb: desktop.ScrollTo})
	for _, do := range []func(context.Context) error{asks.Do, func(ctx context.Context) error { return v.Roll(ctx, id) }} {
		if err := do(ctx); err != nil {
			v.Desk.Log.Debug("an element was not brought into view", "error", err)
			continue
		}
		if i := v.comes(ctx, id); i >= 0 {
			m.Index = i
			return m, true
		}
	}
	if i := v.Shot.Index(id); i >= 0 {
		m.Index = i
	}
	return m, false
}

// comes waits until the element shows, and returns where it is; -1 if it does not.
func (v *View) comes(ctx context.Context, id desktop.ID) int {
	for p := v.Patience(rollPatience); ; {
		if err := v.Refresh(ctx); err != nil {
			return -1
		}
		if i := v.Shot.Index(id); i >= 0 && v.Shot.Visible(i) {
			return i
		}
		if !p.Changed(ctx) {
			return -1
		}
	}
}
