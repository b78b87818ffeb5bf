package cli

import "testing"

// TestOperable checks that the check fails if windows cannot be read, or if there is no screen.
func TestOperable(t *testing.T) {
	found := func(names ...string) any {
		values := map[string]any{}
		for _, name := range names {
			values[name] = map[string]any{"value": ":0", "from": "the own environment"}
		}
		return map[string]any{"found": values}
	}
	for _, c := range []struct {
		data map[string]any
		want bool
	}{
		{map[string]any{"enabled": true, "session": found("DISPLAY")}, true},
		{map[string]any{"enabled": true, "session": found("WAYLAND_DISPLAY")}, true},
		{map[string]any{"enabled": true, "session": found("DBUS_SESSION_BUS_ADDRESS")}, false},
		{map[string]any{"enabled": false, "session": found("DISPLAY")}, false},
		{map[string]any{"enabled": true}, true},
		{map[string]any{}, false},
	} {
		v, err := decodeView[checkView](c.data)
		if err != nil || v.isInoperable() == c.want {
			t.Errorf("%v: %v, %v", c.data, !v.isInoperable(), err)
		}
	}
}
