package x11

import (
	"fmt"
)

// A setup holds the server's answer to the connection setup.
type setup struct {
	idBase, idMask         uint32
	bigEndianImages        bool
	minKeycode, maxKeycode byte
	bitsPerPixel           map[byte]byte // by depth
	root                   xid
	rootDepth              byte
	rootVisual             visual
	visuals                map[xid]visual
}

// A visual holds the bit masks of the colours in a pixel value.
type visual struct{ red, green, blue uint32 }

// parseSetup decodes the successful answer to the connection setup, without its first
// eight bytes; X11 protocol, appendix B, "Connection Setup".
func parseSetup(body []byte, screen int) (*setup, error) {
	r := from(body, 4)
	s := &setup{idBase: r.u32(), idMask: r.u32(), bitsPerPixel: make(map[byte]byte), visuals: make(map[xid]visual)}
	r.take(4)
	vendor := int(r.u16())
	r.take(2)
	screens, formats := int(r.u8()), int(r.u8())
	s.bigEndianImages = r.u8() == 1
	r.take(3)
	s.minKeycode, s.maxKeycode = r.u8(), r.u8()
	r.take(4)
	r.take(vendor + padding(vendor))
	for range formats {
		depth, bits := r.u8(), r.u8()
		s.bitsPerPixel[depth] = bits
		r.take(6)
	}
	if screen >= screens {
		return nil, fmt.Errorf("DISPLAY names the screen %d, but the X server has %d", screen, screens)
	}
	for i := range screen + 1 {
		s.readScreen(r, i == screen)
	}
	if s.root == none || s.idMask == 0 || s.minKeycode < 8 || s.maxKeycode < s.minKeycode {
		return nil, fmt.Errorf("the X server's greeting makes no sense")
	}
	return s, nil
}

func (s *setup) readScreen(r *replyReader, keep bool) {
	root := r.u32()
	r.take(28)
	visualID := r.u32()
	r.take(2)
	depth, depths := r.u8(), int(r.u8())
	if keep {
		s.root, s.rootDepth = root, depth
	}
	for range depths {
		r.take(2)
		visuals := int(r.u16())
		r.take(4)
		for range visuals {
			id := r.u32()
			r.take(4)
			v := visual{r.u32(), r.u32(), r.u32()}
			r.take(4)
			if keep && v.red != 0 {
				s.visuals[id] = v
			}
		}
	}
	if keep {
		s.rootVisual = s.visuals[visualID]
	}
}
