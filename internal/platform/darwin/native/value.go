//go:build darwin || axdouble

package native

import (
	"math"
	"strings"
	"unicode/utf8"
)

// A Type is the type of a Ref.
type Type int

// The types.
const (
	Unknown Type = iota
	Text
	Number
	Boolean
	Array
	Dictionary
	URL
	AttributedText
	Element
	Structure // AXValue
)

const (
	utf8Encoding = 0x08000100 // kCFStringEncodingUTF8
	doubleNumber = 13         // kCFNumberDoubleType
	lossByte     = '?'        // for text without UTF-8, such as half a surrogate pair
)

// The kinds of AXValue.
const (
	pointKind uint32 = iota + 1
	sizeKind
	rectKind
	rangeKind
	errorKind
)

// A Pool owns objects, and releases them at its end. The zero value of everything but API is ready. It is not safe for concurrent use.
type Pool struct {
	API  *API
	refs []Ref
}

// Own makes the pool release the object at its end, and returns the object.
func (p *Pool) Own(ref Ref) Ref {
	if ref != 0 {
		p.refs = append(p.refs, ref)
	}
	return ref
}

// Drain releases the objects.
func (p *Pool) Drain() {
	for _, ref := range p.refs {
		p.API.CFRelease(ref)
	}
	p.refs = nil
}

// TypeOf returns the type of an object; Unknown for 0.
func (a *API) TypeOf(ref Ref) Type {
	if ref == 0 {
		return Unknown
	}
	return a.types[a.CFGetTypeID(ref)]
}

// NewText returns a new string, which the caller releases. It is 0 if the text is no UTF-8.
func (a *API) NewText(text string) Ref {
	bytes := []byte(text)
	if len(bytes) == 0 {
		bytes = []byte{0}
	}
	return a.CFStringCreateWithBytes(0, &bytes[0], len(text), utf8Encoding, false)
}

// NewNumber returns a new number, which the caller releases.
func (a *API) NewNumber(n float64) Ref { return a.CFNumberCreate(0, doubleNumber, &n) }

// Bool returns the system's object of a boolean, which nothing releases.
func (a *API) Bool(is bool) Ref {
	if is {
		return a.true
	}
	return a.false
}

// NewArray returns a new array, which the caller releases. It retains its members.
func (a *API) NewArray(members ...Ref) Ref {
	if len(members) == 0 {
		return a.CFArrayCreate(0, nil, 0, a.arrayCallbacks)
	}
	return a.CFArrayCreate(0, &members[0], len(members), a.arrayCallbacks)
}

// Name returns a string that lives as long as the process. Call it only with constants of the code.
func (a *API) Name(name string) Ref {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.names[name] == 0 {
		a.names[name] = a.NewText(name)
	}
	return a.names[name]
}

// TextOf returns the text of a string, an attributed string or an address, of at most max UTF-16 units; "" for another object.
func (a *API) TextOf(ref Ref, max int) string {
	switch a.TypeOf(ref) {
	case Text:
	case URL:
		ref = a.CFURLGetString(ref)
	case AttributedText:
		ref = a.CFAttributedStringGetString(ref)
	default:
		return ""
	}
	if ref == 0 {
		return ""
	}
	const utf8Max = 3 // bytes for a UTF-16 unit
	count := min(a.CFStringGetLength(ref), max)
	if count <= 0 {
		return ""
	}
	buffer := make([]byte, count*utf8Max)
	used := 0
	a.CFStringGetBytes(ref, Range{0, count}, utf8Encoding, lossByte, false, &buffer[0], len(buffer), &used)
	if used < 0 || used > len(buffer) {
		return ""
	}
	text := string(buffer[:used])
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ReplaceAll(text, "\x00", "\uFFFD")
}

// NumberOf returns the value of a number or a boolean.
func (a *API) NumberOf(ref Ref) (n float64, is bool) {
	switch a.TypeOf(ref) {
	case Number:
		is = a.CFNumberGetValue(ref, doubleNumber, &n) || n != 0 // false also means that precision was lost
	case Boolean:
		if is = true; a.CFBooleanGetValue(ref) {
			n = 1
		}
	default:
	}
	return n, is && !math.IsNaN(n)
}

// Members returns the members of an array, which live as long as the array does; nil for another object.
func (a *API) Members(ref Ref) []Ref {
	if a.TypeOf(ref) != Array {
		return nil
	}
	members := make([]Ref, 0, a.CFArrayGetCount(ref))
	for i := range a.CFArrayGetCount(ref) {
		members = append(members, a.CFArrayGetValueAtIndex(ref, i))
	}
	return members
}

// structure returns the numbers of an AXValue of the kind.
func (a *API) structure(ref Ref, kind uint32) (numbers [4]float64, is bool) {
	if a.TypeOf(ref) != Structure || a.AXValueGetType(ref) != kind {
		return numbers, false
	}
	is = a.AXValueGetValue(ref, kind, &numbers)
	return numbers, is
}

// PointOf returns the value of an AXValue with a point.
func (a *API) PointOf(ref Ref) (Point, bool) {
	n, is := a.structure(ref, pointKind)
	return Point{n[0], n[1]}, is
}

// SizeOf returns the value of an AXValue with a size.
func (a *API) SizeOf(ref Ref) (Size, bool) {
	n, is := a.structure(ref, sizeKind)
	return Size{n[0], n[1]}, is
}

// IsError reports whether the object stands for an error of an attribute that was read together with others.
func (a *API) IsError(ref Ref) bool {
	return a.TypeOf(ref) == Structure && a.AXValueGetType(ref) == errorKind
}

// Entry returns the value of a dictionary's key, which lives as long as the dictionary does; 0 if there is none.
func (a *API) Entry(dictionary Ref, key string) Ref {
	if a.TypeOf(dictionary) != Dictionary {
		return 0
	}
	return a.CFDictionaryGetValue(dictionary, a.Name(key))
}
