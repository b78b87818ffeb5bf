package windowstest

import (
	"strings"
	"unicode/utf16"

	"golang.org/x/sys/windows"
)

func utf16Runes(text []uint16) []rune { return utf16.Decode(text) }

// onCanvas is the procedure of the area that counts clicks.
func (p *program) onCanvas(window, message, w, l uintptr) uintptr {
	at := point{int(int16(l)), int(int16(l >> 16))}
	click := func(button, count int) {
		appendTo[any](p.state, "clicks", map[string]any{"button": button, "count": count, "x": at.x, "y": at.y}, 100)
	}
	switch message {
	case 0x0201: // WM_LBUTTONDOWN
		p.press = at
		p.call("SetCapture", window)
		click(1, 1)
	case 0x0203: // WM_LBUTTONDBLCLK
		click(1, 2)
	case 0x0204, 0x0206: // WM_RBUTTONDOWN, WM_RBUTTONDBLCLK
		click(3, int(message-0x0204)/2+1)
	case 0x0207, 0x0209: // WM_MBUTTONDOWN, WM_MBUTTONDBLCLK
		click(2, int(message-0x0207)/2+1)
	case 0x0202: // WM_LBUTTONUP
		p.call("ReleaseCapture")
		if at != p.press {
			appendTo[any](p.state, "drags", map[string]any{"button": 1, "from": []int{p.press.x, p.press.y}, "to": []int{at.x, at.y}}, 100)
		}
	}
	return p.call("DefWindowProcW", window, message, w, l)
}

// namedKeys are the keys without a visible character, by their virtual code, with their names in X11.
func namedKeys() map[uintptr]string {
	return map[uintptr]string{
		8: "BackSpace", 9: "Tab", 13: "Return", 27: "Escape", 32: "space", 33: "Prior", 34: "Next", 35: "End", 36: "Home",
		37: "Left", 38: "Up", 39: "Right", 40: "Down", 45: "Insert", 46: "Delete", 112: "F1", 113: "F2", 114: "F3", 115: "F4", 116: "F5",
		117: "F6", 118: "F7", 119: "F8", 120: "F9", 121: "F10", 122: "F11", 123: "F12",
	}
}

// noteKey notes a key press: the character or the name of the key, after the modifiers.
func (p *program) noteKey(message uint32, w, _ uintptr) {
	if message != 0x0100 && message != 0x0104 || w >= 16 && w <= 18 || w == 91 || w == 92 { // modifiers
		return
	}
	var chord []string
	for _, m := range []struct {
		code uintptr
		name string
	}{{17, "ctrl"}, {18, "alt"}, {16, "shift"}, {91, "super"}} {
		if p.call("GetKeyState", m.code)&0x8000 != 0 {
			chord = append(chord, m.name)
		}
	}
	key := namedKeys()[w]
	if key == "" {
		const toChar = 2 // MAPVK_VK_TO_CHAR
		if char := p.call("MapVirtualKeyW", w, toChar); char != 0 {
			key = strings.ToLower(windows.UTF16ToString([]uint16{uint16(char)}))
		}
	}
	if len(chord) > 0 && chord[len(chord)-1] == "shift" {
		key = strings.ToUpper(key)
	}
	appendTo(p.state, "keys", strings.Join(append(chord, key), "+"), 10)
}
