package config

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway"
)

// Pin pins a tool, or with undo unpins it, by the setting with the pinned tools. pin is its text there. The call
// carries the person's confirmation. It returns the pins in effect.
func (r *Editor) Pin(ctx context.Context, call *aai.Call, pin string, undo bool) ([]string, error) {
	now, err := r.cfg.ReadConfig(nil)
	if err != nil {
		return nil, err
	}
	pins := slices.DeleteFunc(slices.Clone(now.Pinned), func(known string) bool { return known == pin })
	switch {
	case !undo && len(pins) >= maxPinned:
		e := invalidParams("%d tools are pinned; expected at most %d", len(pins), maxPinned)
		e.Delivery, e.Hint = aai.NotDelivered, "Unpin one first: aai-gateway mcp pins lists them."
		return nil, e
	case !undo:
		pins = append(pins, pin)
	case len(pins) == len(now.Pinned):
		e := invalidParams("%s is not pinned", aai.CleanLabel(pin, 200))
		e.Delivery, e.Candidates, e.Hint = aai.NotDelivered, aai.Nearest(pin, now.Pinned, 3), "aai-gateway mcp pins lists the pinned tools."
		return nil, e
	}
	if slices.Equal(pins, now.Pinned) {
		return pins, nil
	}
	value := make([]any, len(pins))
	for i, p := range pins {
		value[i] = p
	}
	change := *call
	change.Tool, change.Args = SetTool, map[string]any{"key": PinnedKey, "value": value}
	if len(pins) == 0 {
		change.Args["value"] = nil
	}
	if _, err := r.set(ctx, &change); err != nil {
		return nil, err
	}
	if now, err = r.cfg.ReadConfig(nil); err != nil {
		return nil, err
	}
	return now.Pinned, nil
}

// PinnedNow reads the pinned tools anew. It reports false if a part of them waits for a confirmation, so that they may
// change without a change of the file.
func (r *Editor) PinnedNow() (pins []string, settled bool) {
	now, err := r.cfg.ReadConfig(nil)
	if err != nil {
		return r.cfg.Running.Pinned, false
	}
	for _, w := range now.Unconfirmed {
		if w.Key == PinnedKey {
			return now.Pinned, false
		}
	}
	return now.Pinned, true
}
