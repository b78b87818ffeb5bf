package atspi

import "github.com/gybob/aai-gateway/internal/dbus/wire"

// A direction is the direction of the text in a container. Where the app does not tell it, it is unknown.
type direction uint8

const (
	unknownDirection direction = iota
	leftToRight
	rightToLeft
)

// askDirection queries the direction of the text in a field without a name, or in a label in its container.
func (p *program) askDirection(r *batch, n *node) {
	if !p.profile().tellsDirection {
		return
	}
	speaker := n
	if n.offers&offersText == 0 && n.parent != nil {
		for _, s := range n.parent.children {
			if s.role == roleLabel && s.offers&offersText != 0 {
				speaker = s
			}
		}
	}
	if speaker.offers&offersText == 0 {
		return
	}
	r.add(p.bus.requests.textAttributes, speaker.ref, func(d *wire.Decoder) {
		d.Array(8, func() {
			d.Struct()
			if key, value := d.Str(), d.Str(); key == "direction" {
				n.direction = directionOf(value)
			}
		})
	})
}

// directionOf returns the direction for its word in GTK 3 or Chromium.
func directionOf(word string) direction {
	switch word {
	case "ltr", "lr":
		return leftToRight
	case "rtl", "rl":
		return rightToLeft
	}
	return unknownDirection
}
