package uiaprovider

import (
	"math"
	"unicode/utf16"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// execute executes an act as a method of a pattern.
func (s *server) execute(f *face, act desktop.Act) uintptr {
	s.Wait()
	e, found := s.Read(f.owner.id)
	switch {
	case !found:
		return notAvailable
	case !e.States.Has(desktop.Enabled):
		return notEnabled
	case !s.Execute(f.owner.id, act):
		return invalidOperation
	}
	return ok
}

func (s *server) act(verb desktop.Verb) any {
	return func(f *face) uintptr { return s.execute(f, desktop.Act{Verb: verb, AllowClosedMenu: true}) }
}

func (s *server) addToSelection(f *face) uintptr {
	return s.execute(f, desktop.Act{Verb: desktop.SelectItem, AddToSelection: true})
}

func (s *server) setValue(f *face, text *uint16) uintptr {
	return s.execute(f, desktop.Act{Verb: desktop.SetText, Text: windows.UTF16PtrToString(text)})
}

// setNumber receives a double in a register that callbacks of Go do not see; a caller in Go has it here too.
func (s *server) setNumber(f *face, bits uintptr) uintptr {
	return s.execute(f, desktop.Act{Verb: desktop.SetNumber, Number: math.Float64frombits(uint64(bits))})
}

// value returns a property for a method of a pattern.
func (s *server) value(f *face, id int32) any {
	s.Wait()
	e, found := s.Read(f.owner.id)
	if !found {
		return nil
	}
	return Property(&e, id)
}

func (s *server) text(id int32) any {
	return func(f *face, out *uintptr) uintptr {
		text, is := s.value(f, id).(string)
		if !is {
			return notAvailable
		}
		*out = s.string(utf16.Encode([]rune(text)))
		return ok
	}
}

func (s *server) float(id int32) any {
	return func(f *face, out *float64) uintptr {
		n, is := s.value(f, id).(float64)
		if !is {
			return notAvailable
		}
		*out = n
		return ok
	}
}

// number is the function of a property that is a number or a truth value.
func (s *server) number(id int32) any {
	return func(f *face, out *int32) uintptr {
		*out = 0
		switch v := s.value(f, id).(type) {
		case int:
			*out = int32(v)
		case bool:
			if v {
				*out = 1
			}
		}
		return ok
	}
}
