package ax

import (
	"context"
	"slices"
	"time"

	"aai/internal/desktop"
)

// guardsPatience is how long it may take to look whether a program guards the person.
const guardsPatience = 500 * time.Millisecond

// guards says whether the program shows what only a lock of the screen is: a window
// over a whole monitor that it put there itself, past the window manager. What cannot
// be seen in time counts as none: guards are known by their names first.
func (d *desk) guards(ctx context.Context, app desktop.App) string {
	screen := d.open().Screen
	if screen == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, guardsPatience)
	defer cancel()
	layers, err := screen.Layers(ctx)
	if err != nil {
		return ""
	}
	own := slices.DeleteFunc(layers, func(l desktop.Layer) bool { return l.PID != app.PID || !l.Unmanaged })
	if len(own) == 0 {
		return ""
	}
	monitors, err := screen.Monitors(ctx)
	if err != nil {
		return ""
	}
	for _, m := range monitors {
		if slices.ContainsFunc(own, func(l desktop.Layer) bool { return m.Frame.Intersect(l.Frame) == m.Frame }) {
			return "a lock of the screen"
		}
	}
	return ""
}
