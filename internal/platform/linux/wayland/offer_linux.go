package wayland

import "context"

// An Offer names the ways by which the compositor lets the gateway operate the screen; "" where it offers none.
type Offer struct {
	Windows   string // their list and their places
	Advice    string // how to get the places
	Pictures  string
	Input     string // pointer and keyboard
	Clipboard string
	Sign      string // that an agent acts
}

// Offer returns the compositor's offer. It fails if the compositor does not answer.
func (d *Display) Offer(ctx context.Context) (Offer, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return Offer{}, err
	}
	var o Offer
	if m, err := d.manager(ctx); err == nil {
		o.Windows = m.name()
	} else if d.hasShell(ctx, c) {
		o.Advice = extensionAdvice
	}
	if _, ok := c.offered(screencopyManager); ok {
		o.Pictures = "wlr-screencopy"
	} else if d.hasShots(ctx) {
		o.Pictures = "the desktop portal, which asks the person once"
	}
	_, points := c.offered(pointerManager)
	_, types := c.offered(keyboardManager)
	switch {
	case points && types:
		o.Input = "virtual devices"
	case d.hasRemote(ctx):
		o.Input = "remote control, which the desktop asks the person for"
	}
	switch {
	case c.dataControl() != "":
		o.Clipboard = "data control"
	case d.hasRemoteClip(ctx):
		o.Clipboard = "remote control"
	}
	if _, ok := c.offered(layerShell); ok {
		o.Sign = "wlr-layer-shell"
	}
	return o, nil
}

// Lines describes the offer for people, a line for each part.
func (o Offer) Lines() []string {
	lines, noPlaces := make([]string, 0, 6), "the compositor does not tell their places; elements are operated by accessibility"
	if o.Advice != "" {
		noPlaces += ". " + o.Advice
	}
	for _, part := range []struct{ name, way, missing string }{
		{"windows", o.Windows, noPlaces},
		{"pictures", o.Pictures, "the compositor offers none"},
		{"pointer and keyboard", o.Input, "the compositor offers none; elements are operated by accessibility"},
		{"clipboard", o.Clipboard, "the compositor offers none"},
		{"sign of an acting agent", o.Sign, "the compositor offers none"},
	} {
		if part.way != "" {
			lines = append(lines, part.name+": by "+part.way)
		} else {
			lines = append(lines, part.name+": "+part.missing)
		}
	}
	return append(lines, "stop key: none on Wayland; in the desktop's settings, give the command `aai-gateway stop` a shortcut")
}

// Data returns the offer as values for JSON.
func (o Offer) Data() map[string]any {
	return map[string]any{"windows": o.Windows, "pictures": o.Pictures, "input": o.Input, "clipboard": o.Clipboard, "sign": o.Sign}
}
