package x11

import "context"

// A watch detects drawing into a window, by the extensions DAMAGE and XFIXES.
type watch struct {
	*server
	damage, region xid
}

// watch starts to watch a window.
func (s *server) watch(ctx context.Context, window xid) (*watch, error) {
	if s.damage == 0 || s.xfixes == 0 {
		return nil, unsupportedError("this X server cannot tell whether a covered window has drawn itself: it lacks DAMAGE or XFIXES",
			"Activate the window first.")
	}
	const damageCreate, nonEmpty, createRegion = 1, 3, 5
	w := &watch{s, s.newID(), s.newID()}
	return w, s.must(ctx, command(s.damage, damageCreate, w.damage, window, byte(nonEmpty), pad(3)),
		command(s.xfixes, createRegion, w.region))
}

// drawn reports whether the window was drawn since the last call of drawn.
func (w *watch) drawn(ctx context.Context) (bool, error) {
	const damageSubtract, fetchRegion = 3, 19
	region := query(w.xfixes, fetchRegion, w.region)
	if err := w.must(ctx, command(w.server.damage, damageSubtract, w.damage, none, w.region), region); err != nil {
		return false, err
	}
	r := from(region.reply, 12)
	width, height := r.u16(), r.u16()
	return width > 0 && height > 0, nil
}

// end stops watching.
func (w *watch) end(ctx context.Context) {
	const damageDestroy, destroyRegion = 2, 10
	// The window may be gone, and its damage object with it.
	_ = w.cleanUp(ctx, func(ctx context.Context) error {
		return w.do(ctx, command(w.server.damage, damageDestroy, w.damage), command(w.xfixes, destroyRegion, w.region))
	})
}
