package uiaprovider

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unsafe"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A variant is a VARIANT of 64-bit Windows.
type variant struct {
	vt    uint16
	_     [3]uint16
	value uint64
	_     uint64
}

func (s *server) host(f *face, out *uintptr) uintptr {
	*out = 0
	if f.owner.root {
		_, _, _ = s.hostProvider.Call(s.Window, uintptr(unsafe.Pointer(out)))
	}
	return ok
}

func (s *server) patternOf(f *face, id int32, out *uintptr) uintptr {
	s.Wait()
	*out = 0
	if k, known := s.patterns[id]; known && s.offers(f.owner, k) {
		f.owner.refs.Add(1)
		*out = uintptr(unsafe.Pointer(&f.owner.faces[k]))
	}
	return ok
}

// offers reports whether an element has a pattern.
func (s *server) offers(o *object, k kind) bool {
	e, found := s.Read(o.id)
	if !found {
		return false
	}
	for _, id := range Patterns(&e) {
		if s.patterns[id] == k {
			return true
		}
	}
	return false
}

func (s *server) property(f *face, id int32, out *variant) uintptr {
	s.Wait()
	*out = variant{}
	e, found := s.read(f.owner)
	if !found {
		return notAvailable
	}
	s.store(s.misreport(&e, id), out)
	return ok
}

// read returns the element of an object.
func (s *server) read(o *object) (desktop.Element, bool) {
	if o.loop > 0 {
		return desktop.Element{Role: desktop.Button, Name: "Sibling " + strconv.Itoa(o.loop), States: desktop.Showing | desktop.Enabled}, true
	}
	return s.Read(o.id)
}

// store writes a value into a VARIANT.
func (s *server) store(value any, out *variant) {
	switch v := value.(type) {
	case bool:
		out.vt = 11
		if v {
			out.value = 0xFFFF
		}
	case int:
		out.vt, out.value = 3, uint64(uint32(v))
	case float64:
		out.vt, out.value = 5, math.Float64bits(v)
	case string:
		out.vt, out.value = 8, uint64(s.string(utf16.Encode([]rune(v))))
	case []uint16:
		out.vt, out.value = 8, uint64(s.string(v))
	case []int32:
		out.vt, out.value = 0x2003, uint64(s.array(v))
	}
}

func (s *server) string(units []uint16) uintptr {
	units = append(slices.Clone(units), 0)
	p, _, _ := s.alloc.Call(uintptr(unsafe.Pointer(&units[0])), uintptr(len(units)-1))
	return p
}

// array returns a new SAFEARRAY of numbers.
func (s *server) array(numbers []int32) uintptr {
	a, _, _ := s.newArray.Call(3, 0, uintptr(len(numbers)))
	for i, n := range numbers {
		index := int32(i)
		_, _, _ = s.setItem.Call(a, uintptr(unsafe.Pointer(&index)), uintptr(unsafe.Pointer(&n)))
	}
	return a
}

// The directions of navigation.
const (
	parent = iota
	next
	previous
	firstChild
	lastChild
)

func (s *server) navigate(f *face, direction int32, out *uintptr) uintptr {
	s.Wait()
	*out = 0
	if invented, is := s.invent(f.owner, direction); is {
		if invented != nil {
			*out = uintptr(unsafe.Pointer(&invented.faces[fragment]))
		}
		return ok
	}
	elements := s.Elements()
	own := slices.IndexFunc(elements, func(e desktop.Element) bool { return e.ID == f.owner.id })
	if own < 0 {
		return notAvailable
	}
	to := neighbor(elements, own, int(direction))
	if to >= 0 {
		*out = uintptr(unsafe.Pointer(&s.newObject(elements[to].ID, to == 0).faces[fragment]))
	}
	return ok
}

// neighbor returns the index of an element beside, above or below another one, or -1.
func neighbor(elements []desktop.Element, own, direction int) int {
	if direction == parent {
		return elements[own].Parent
	}
	of := own
	if direction == next || direction == previous {
		of = elements[own].Parent
	}
	var all []int
	for i := range elements {
		if elements[i].Parent == of && i > 0 {
			all = append(all, i)
		}
	}
	at := map[int]int{next: slices.Index(all, own) + 1, previous: slices.Index(all, own) - 1, firstChild: 0, lastChild: len(all) - 1}[direction]
	if of < 0 || at < 0 || at >= len(all) {
		return -1
	}
	return all[at]
}

// runtimeID gives an element its number in the window. The root has none: the system uses the window.
func (s *server) runtimeID(f *face, out *uintptr) uintptr {
	s.Wait()
	*out = 0
	const appendToWindow = 3 // UiaAppendRuntimeId
	if !f.owner.root {
		n, _ := strconv.Atoi(strings.TrimPrefix(string(f.owner.id), "/fake/"))
		*out = s.array([]int32{appendToWindow, int32(n), int32(f.owner.loop)})
	}
	return ok
}

func (s *server) frame(f *face, out *[4]float64) uintptr {
	s.Wait()
	e, found := s.read(f.owner)
	if !found {
		return notAvailable
	}
	*out = [4]float64{float64(e.Frame.X), float64(e.Frame.Y), float64(e.Frame.W), float64(e.Frame.H)}
	return ok
}

func (s *server) takeFocus(f *face) uintptr {
	return s.execute(f, desktop.Act{Verb: desktop.TakeFocus})
}

func (s *server) rootOf(_ *face, out *uintptr) uintptr {
	*out = 0
	if elements := s.Elements(); len(elements) > 0 {
		*out = uintptr(unsafe.Pointer(&s.newObject(elements[0].ID, true).faces[fragmentRoot]))
	}
	return ok
}
