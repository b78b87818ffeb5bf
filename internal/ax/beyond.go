package ax

import (
	"context"
	"fmt"
	"strings"
	"time"

	"aai"
	"aai/internal/desktop"
)

// What is only scrolled out of view is found as what shows, where nothing that shows is
// meant. An act brings it into view first, and says so.

// outOfView are those that are.
func (v *view) outOfView(matches []int) []int {
	var out []int
	for _, i := range matches {
		if v.shot.Beyond(i) {
			out = append(out, i)
		}
	}
	return out
}

// mayBeFar reports whether what was found is out of view, or nothing was found.
func (v *view) mayBeFar(m match, err error) bool {
	if err != nil {
		return aai.AsError(err).Code == aai.ElementNotFound
	}
	return v.shot.Beyond(m.index)
}

// lookFar reads also what is out of view completely, and reports whether it has: not twice,
// and not where nothing is.
func (v *view) lookFar(ctx context.Context) bool {
	if v.far || v.backend.Far == nil {
		return false
	}
	for i := range v.shot.Elements {
		if !v.shot.Beyond(i) {
			continue
		}
		shot, err := v.backend.Far.Far(ctx, v.app)
		if err != nil {
			return false // what shows is known all the same
		}
		v.shot, v.far = shot, true
		return true
	}
	return false
}

// bring scrolls an element into view that is out of it. Where that cannot be done it is as it
// was.
func (v *view) bring(ctx context.Context, m match) match {
	if !v.shot.Beyond(m.index) || v.modal(ctx, v.shot.Window(m.index)) >= 0 {
		return m
	}
	id := v.shot.Elements[m.index].ID
	asks := v.byAsking(m.index, "", desktop.Act{Verb: desktop.ScrollTo})
	for _, do := range []func(context.Context) error{asks.do, func(ctx context.Context) error { return v.roll(ctx, id) }} {
		if err := do(ctx); err != nil {
			v.desk.log.Debug("an element was not brought into view", "error", err)
			continue
		}
		if i := v.comes(ctx, id); i >= 0 {
			m.index, v.brought = i, true
			return m
		}
	}
	if i := v.shot.Index(id); i >= 0 {
		m.index = i
	}
	return m
}

// comes waits until the element shows, and returns where it is; -1 if it does not.
func (v *view) comes(ctx context.Context, id desktop.ID) int {
	for until := time.Now().Add(rollPatience); ; {
		if err := v.refresh(ctx); err != nil {
			return -1
		}
		if i := v.shot.Index(id); i >= 0 && v.shot.Visible(i) {
			return i
		}
		if !v.changed(ctx, until) {
			return -1
		}
	}
}

// unsearched is a hint that names what is too much to be read, or "".
func (v *view) unsearched() string {
	var parts []string
	for i := range v.shot.Elements {
		if e := &v.shot.Elements[i]; e.Unread > 0 && v.shot.Visible(i) && !v.silent && len(parts) < 3 {
			parts = append(parts, fmt.Sprintf("%d in %s", e.Unread, v.name(i)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " Not searched, too many to read: " + strings.Join(parts, ", ") + "; ax_scroll goes there."
}
