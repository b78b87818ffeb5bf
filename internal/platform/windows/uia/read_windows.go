package uia

import (
	"context"
	"strconv"
	"unsafe"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// The limits of a read. Deeper elements and further ones are left out.
const (
	maxChildren = 2_000
	maxElements = 40_000
	maxDepth    = 200
	maxTexts    = 50 // elements with a text that takes a request of its own
)

// A reading is one read of a window.
type reading struct {
	*client
	ctx      context.Context
	window   win32.Window
	elements []desktop.Element
	found    map[desktop.ID]unsafe.Pointer // the elements, each with a reference
	fields   map[desktop.ID]int            // the indexes of elements with a value
	path     []desktop.ID                  // from the window to the element that is read
	texts    int
	nameless bool // an element has no runtime ID, so that it could not be found again
}

// read reads the window.
func (r *reading) read() error {
	if r.all == nil {
		return r.walkWindow()
	}
	top, hr := r.try(r.automation, autoElementFromHandleCache, uintptr(r.window), uintptr(r.all))
	if top == nil {
		return readError(r.ctx, r.window, hr)
	}
	if r.collect(top, -1); len(r.fields) > 0 {
		r.readValues(top)
	}
	return ended(r.ctx)
}

// collect adds a cached element with its cached descendants. It takes the reference.
func (r *reading) collect(element unsafe.Pointer, parent int) {
	own, ok := r.add(element, parent)
	if !ok {
		return
	}
	defer r.leave()
	n := 0
	all := r.each(r.object(element, elementCachedChildren), 0, func(child unsafe.Pointer) bool {
		if n >= maxChildren || len(r.elements) >= maxElements || r.nameless || r.ctx.Err() != nil {
			comcall.Release(child)
			return false
		}
		n++
		r.collect(child, own)
		return true
	})
	r.elements[own].UnreadChildren = all - n
}

// walkWindow reads the window where the system caches no trees.
func (r *reading) walkWindow() error {
	plain, hr := r.try(r.automation, autoElementFromHandle, uintptr(r.window))
	if plain == nil {
		return readError(r.ctx, r.window, hr)
	}
	top, hr := r.refresh(plain)
	comcall.Release(plain)
	if top == nil {
		return readError(r.ctx, r.window, hr)
	}
	return r.walk(top, -1)
}

// walk adds an element and its descendants. It takes the reference.
func (r *reading) walk(element unsafe.Pointer, parent int) error {
	if err := ended(r.ctx); err != nil {
		comcall.Release(element)
		return err
	}
	own, ok := r.add(element, parent)
	if !ok {
		return nil
	}
	defer r.leave()
	child, hr := r.try(r.walker, walkerFirstChild, uintptr(element), uintptr(r.one))
	for n := 0; child != nil; n++ {
		if n >= maxChildren || len(r.elements) >= maxElements || r.nameless {
			r.elements[own].UnreadChildren = max(1, r.elements[len(r.elements)-1].Size-n)
			comcall.Release(child)
			return nil
		}
		last := child
		comcall.Hold(last)
		err := r.walk(child, own)
		if err == nil {
			child, hr = r.try(r.walker, walkerNextSibling, uintptr(last), uintptr(r.one))
		}
		comcall.Release(last)
		if err != nil {
			return err
		}
	}
	if comcall.Failed(hr) && (!isGone(hr) || !r.window.Exists()) {
		return readError(r.ctx, r.window, hr)
	}
	return nil // a child that goes during the read ends its row
}

// add adds an element and takes its reference. It leaves out an element that is its own ancestor, one that is too deep, and the title
// bar; then it returns false, and otherwise the caller calls leave after the descendants.
func (r *reading) add(element unsafe.Pointer, parent int) (own int, ok bool) {
	p := r.client.read(element)
	runtimeID, _ := p[propRuntimeID].([]int32)
	id := makeID(uintptr(r.window), runtimeID)
	r.nameless = r.nameless || len(runtimeID) == 0
	if r.nameless || r.isAncestor(id) || len(r.path) > maxDepth || parent == 0 && p.isFrame() {
		comcall.Release(element)
		return 0, false
	}
	for n, same := 1, id; r.found[id] != nil; n++ {
		id = same + twin + desktop.ID(strconv.Itoa(n))
	}
	own = len(r.elements)
	e := p.element(r.snapshotText(element, p), desktop.MaxValue)
	e.ID, e.Parent = id, parent
	if p.has(propValueReadOnly) && !p.is(propPassword) && !p.has(propNumber) {
		r.fields[id] = own
	}
	r.elements, r.found[id], r.path = append(r.elements, e), element, append(r.path, id)
	desktop.ReadsOf(r.ctx).AddElements(len(r.elements))
	return own, true
}

func (r *reading) leave() { r.path = r.path[:len(r.path)-1] }

func (r *reading) isAncestor(id desktop.ID) bool {
	for _, ancestor := range r.path {
		if ancestor == id {
			return true
		}
	}
	return false
}

// snapshotText returns the text of an element as far as no request for the whole window brings it.
func (r *reading) snapshotText(element unsafe.Pointer, p properties) string {
	if r.all == nil {
		return r.content(element, p, desktop.MaxValue)
	}
	t := p.number(propControlType)
	if r.texts >= maxTexts || p.has(propValueReadOnly) || t != typeEdit && t != typeDocument && t != typeCombobox {
		return ""
	}
	r.texts++
	return r.otherContent(element, p, desktop.MaxValue)
}

// readValues reads the values of all fields but password fields by one request.
func (r *reading) readValues(top unsafe.Pointer) {
	array := r.object(top, elementFindAllCache, scopeSubtree, uintptr(r.readable), uintptr(r.values))
	r.each(array, 0, func(element unsafe.Pointer) bool {
		defer comcall.Release(element)
		i, known := r.fields[makeID(uintptr(r.window), r.runtimeID(element))]
		if known && !r.elements[i].States.Has(desktop.Protected) {
			text, _ := r.property(element, elementCachedValue, propValue, desktop.MaxValue).(string)
			r.elements[i].Value = cut(plainLines(text), desktop.MaxValue)
		}
		return r.ctx.Err() == nil
	})
}
