package uia

import (
	"context"
	"math"
	"strings"
	"sync"
	"unsafe"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// A Source reads windows by UI Automation. It implements wintree.Source and is safe for concurrent use.
type Source struct {
	client func() *client // nil if the system has no UI Automation
	held   held
}

// New returns the source. It creates the objects of UI Automation at the first read.
func New() *Source {
	return &Source{client: sync.OnceValue(func() *client { return newClient(createAutomation()) })}
}

// Prefix implements wintree.Source.
func (*Source) Prefix() string { return prefix }

// Read implements wintree.Source. It returns nil if the window has no elements of its own, or the system no UI Automation. It also does for
// elements without runtime IDs, which Wine makes of those of MSAA: that source knows them better.
func (s *Source) Read(ctx context.Context, window win32.Window) ([]desktop.Element, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	c := s.client()
	if c == nil {
		return nil, nil
	}
	r := &reading{client: c, ctx: ctx, window: window, found: map[desktop.ID]unsafe.Pointer{}, fields: map[desktop.ID]int{}}
	err := r.read()
	if err != nil || len(r.elements) < 2 || r.nameless {
		for _, element := range r.found {
			comcall.Release(element)
		}
		return nil, err
	}
	s.held.replace(uintptr(window), r.found)
	return r.elements, nil
}

// An opened element is one that a call works on.
type opened struct {
	*client
	window     win32.Window
	pointer    unsafe.Pointer // the caller releases it
	properties properties
}

// open finds an element and reads its properties.
func (s *Source) open(ctx context.Context, id desktop.ID) (*opened, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	handle, runtimeID, ok := parseID(id)
	c := s.client()
	if !ok || c == nil {
		return nil, win32.Gone()
	}
	window := win32.Window(handle)
	if pointer := s.held.find(handle, id); pointer != nil {
		fresh, hr := c.refresh(pointer)
		comcall.Release(pointer)
		if fresh != nil {
			return &opened{c, window, fresh, c.read(fresh)}, nil
		}
		if !isGone(hr) || !window.Exists() {
			return nil, readError(ctx, window, hr)
		}
	}
	if runtimeID == nil {
		return nil, win32.Gone()
	}
	found, hr := c.find(window, runtimeID)
	if found == nil {
		if !comcall.Failed(hr) {
			hr = elementNotAvailable
		}
		return nil, readError(ctx, window, hr)
	}
	defer comcall.Release(found)
	fresh, hr := c.refresh(found)
	if fresh == nil {
		return nil, readError(ctx, window, hr)
	}
	return &opened{c, window, fresh, c.read(fresh)}, nil
}

// element returns the element with its whole content.
func (o *opened) element(id desktop.ID) desktop.Element {
	e := o.properties.element(o.content(o.pointer, o.properties, math.MaxInt), 0)
	e.ID = id
	return e
}

// Element implements wintree.Source.
func (s *Source) Element(ctx context.Context, id desktop.ID) (desktop.Element, error) {
	o, err := s.open(ctx, id)
	if err != nil {
		return desktop.Element{}, err
	}
	defer comcall.Release(o.pointer)
	return o.element(id), nil
}

// Children implements wintree.Source.
func (s *Source) Children(ctx context.Context, id desktop.ID, first, count int) ([]desktop.Element, error) {
	if first < 0 || count < 0 || count > maxChildren {
		return nil, aai.Errorf(aai.InvalidParams, "children %d to %d: expected a first one from 0, and at most %d of them", first, first+count, maxChildren)
	}
	o, err := s.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer comcall.Release(o.pointer)
	array, hr := o.try(o.pointer, elementFindAllCache, scopeChildren, uintptr(o.controls), uintptr(o.one))
	if comcall.Failed(hr) {
		return nil, readError(ctx, o.window, hr)
	}
	var children []desktop.Element
	o.each(array, first, func(element unsafe.Pointer) bool {
		defer comcall.Release(element)
		if len(children) >= count || ctx.Err() != nil {
			return false
		}
		p := o.read(element)
		child := p.element(o.content(element, p, desktop.MaxValue), desktop.MaxValue)
		runtimeID, _ := p[propRuntimeID].([]int32)
		child.ID = makeID(uintptr(o.window), runtimeID)
		children = append(children, child)
		return true
	})
	return children, ended(ctx)
}

// content returns the text of an element, at most some units of 16 bits: its value, its text, or the selected option of a combo box. It
// never reads a password field.
func (c *client) content(element unsafe.Pointer, p properties, units int) string {
	switch {
	case p.is(propPassword) || p.has(propNumber):
		return ""
	case p.has(propValueReadOnly):
		text, _ := c.property(element, elementCurrentValue, propValue, units).(string)
		return plainLines(text)
	}
	return c.otherContent(element, p, units)
}

// otherContent returns the text of an element that has no value.
func (c *client) otherContent(element unsafe.Pointer, p properties, units int) string {
	switch t := p.number(propControlType); {
	case p.is(propPassword) || p.has(propValueReadOnly):
	case p.is(propTextPattern) && (t == typeEdit || t == typeDocument):
		return c.documentText(element, units)
	case t == typeCombobox:
		chosen := c.condition(propSelected, comcall.Variant{VT: comcall.Bool, Value: 0xFFFF})
		if chosen == nil {
			return ""
		}
		defer comcall.Release(chosen)
		if option := c.object(element, elementFindFirst, scopeSubtree, uintptr(chosen)); option != nil {
			defer comcall.Release(option)
			name, _ := c.property(option, elementCurrentValue, propName, units).(string)
			return name
		}
	}
	return ""
}

// documentText returns the text of an element with the pattern Text.
func (c *client) documentText(element unsafe.Pointer, units int) string {
	text := c.pattern(element, textPattern)
	if text == nil {
		return ""
	}
	defer comcall.Release(text)
	whole := c.object(text, textDocumentRange)
	if whole == nil {
		return ""
	}
	defer comcall.Release(whole)
	most := int32(-1)
	if units < math.MaxInt32 {
		most = int32(units)
	}
	out := c.object(whole, rangeText, uintptr(uint32(most)))
	return plainLines(c.TakeString(out))
}

// plainLines replaces the line breaks of Windows.
func plainLines(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}
