package msaaprovider

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unsafe"

	"github.com/gybob/aai-gateway/internal/desktop"
)

func (s *server) role(o *object, child *variant, out *variant) uintptr {
	*out = variant{}
	e, hr := s.target(o, child)
	if hr != ok {
		return hr
	}
	n := map[desktop.Role]uint64{
		desktop.Window: 10, desktop.Dialog: 18, desktop.Button: 43, desktop.Checkbox: 44, desktop.Combobox: 46, desktop.Textbox: 42, desktop.Option: 34, desktop.Listbox: 33,
		desktop.Menu: 12, desktop.Menubar: 2, desktop.MenuItem: 12, desktop.Scrollbar: 3, desktop.Slider: 51, desktop.Spinbutton: 52, desktop.Tablist: 60,
		desktop.Tab: 37, desktop.Text: 41, desktop.Label: 41, desktop.Group: 20, desktop.Tabpanel: 38,
	}[e.Role]
	if n == 0 {
		n = 16 // a pane
	}
	*out = variant{vt: 3, value: n}
	return ok
}

func (s *server) state(o *object, child *variant, out *variant) uintptr {
	*out = variant{}
	e, hr := s.target(o, child)
	if hr != ok {
		return hr
	}
	var bits uint64
	set := func(has bool, bit uint64) {
		if has {
			bits |= bit
		}
	}
	has := e.States.Has
	set(!has(desktop.Showing), 0x8000)
	set(!has(desktop.Enabled), 0x1)
	set(has(desktop.Selected), 0x2)
	set(has(desktop.Focused), 0x4)
	set(has(desktop.Checked), 0x10)
	set(has(desktop.Expandable) && has(desktop.Expanded), 0x200)
	set(has(desktop.Expandable) && !has(desktop.Expanded), 0x400)
	set(has(desktop.Focusable), 0x100000)
	set(has(desktop.Selectable) && e.Role != desktop.MenuItem, 0x200000)
	set(has(desktop.Protected), 0x20000000)
	set(has(desktop.HasPopup), 0x40000000)
	*out = variant{vt: 3, value: bits}
	return ok
}

func (s *server) location(o *object, left, top, width, height *int32, child *variant) uintptr {
	e, hr := s.target(o, child)
	if hr != ok {
		return hr
	}
	*left, *top, *width, *height = int32(e.Frame.X), int32(e.Frame.Y), int32(e.Frame.W), int32(e.Frame.H)
	return ok
}

// execute executes an act.
func (s *server) execute(o *object, child *variant, act desktop.Act) uintptr {
	e, hr := s.target(o, child)
	switch {
	case hr != ok:
		return hr
	case !s.Execute(e.ID, act):
		return noMember
	}
	return ok
}

func (s *server) act(o *object, child *variant) uintptr {
	return s.execute(o, child, desktop.Act{Verb: desktop.Press, AllowClosedMenu: true})
}

func (s *server) choose(o *object, flags int32, child *variant) uintptr {
	switch flags {
	case 1:
		return s.execute(o, child, desktop.Act{Verb: desktop.TakeFocus})
	case 2, 3:
		return s.execute(o, child, desktop.Act{Verb: desktop.SelectItem})
	case 8:
		return s.execute(o, child, desktop.Act{Verb: desktop.SelectItem, AddToSelection: true})
	}
	return invalidArgument
}

func (s *server) put(o *object, child *variant, value unsafe.Pointer) uintptr {
	e, hr := s.target(o, child)
	if hr != ok {
		return hr
	}
	text := ""
	if value != nil {
		text = string(utf16.Decode(unsafe.Slice((*uint16)(value), *(*uint32)(unsafe.Add(value, -4))/2)))
	}
	if e.Min < e.Max {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return invalidArgument
		}
		return s.execute(o, child, desktop.Act{Verb: desktop.SetNumber, Number: n})
	}
	return s.execute(o, child, desktop.Act{Verb: desktop.SetText, Text: strings.ReplaceAll(text, "\r\n", "\n")})
}
