package ax

import (
	"context"

	"aai"
	"aai/internal/desktop"
)

// missing says why what a call is to act on is not to be found, so that nobody is asked
// about what comes to nothing. What it cannot see in time it leaves to the call.
func (d *desk) missing(ctx context.Context, call *aai.Call) error {
	for _, arg := range []string{"query", "from_query", "to_query"} {
		if err := d.unfound(ctx, call, textArg(call, arg)); err != nil {
			return err
		}
	}
	return nil
}

func (d *desk) unfound(ctx context.Context, call *aai.Call, query string) error {
	if query == "" || call.Target == nil || call.Target.PID == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, findPatience+aimPatience)
	defer cancel()
	_, err := d.glance(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
		v.acting, v.surely, v.alsoMenus = true, true, pressesByAsking(call)
		_, err := v.locate(ctx, query)
		return nil, err
	})
	if err == nil {
		return nil
	}
	switch e := aai.AsError(err); e.Code {
	case aai.ElementNotFound, aai.AmbiguousTarget, aai.StaleRef, aai.InvalidParams:
		return e
	}
	d.log.Debug("whether a call finds what it is about is not known", "error", err)
	return nil
}

// pressesByAsking reports whether a click may be the program's own action, which reaches
// into closed menus.
func pressesByAsking(call *aai.Call) bool {
	button, count, _ := kindOfClick(call)
	return call.Tool == "ax_click" && button == desktop.LeftButton && count == 1 && !inFocus(call)
}
