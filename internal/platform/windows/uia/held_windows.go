package uia

import (
	"sync"
	"unsafe"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
)

// The largest number of windows and elements with held COM pointers.
const (
	maxHeldWindows  = 32
	maxHeldElements = 40_000
)

// held keeps the COM pointers of the elements of the last reads, with one reference each.
type held struct {
	mu      sync.Mutex
	windows map[uintptr]*heldWindow
	clock   uint64
	count   int
}

type heldWindow struct {
	elements map[desktop.ID]unsafe.Pointer
	used     uint64
}

// replace holds the elements of a new read of a window and releases those of the last one. It takes the references of the map.
func (h *held) replace(window uintptr, elements map[desktop.ID]unsafe.Pointer) {
	h.mu.Lock()
	var old []*heldWindow
	if h.windows == nil {
		h.windows = map[uintptr]*heldWindow{}
	}
	if last := h.windows[window]; last != nil {
		old = append(old, h.remove(window))
	}
	h.clock++
	h.windows[window] = &heldWindow{elements, h.clock}
	h.count += len(elements)
	for len(h.windows) > 1 && (len(h.windows) > maxHeldWindows || h.count > maxHeldElements) {
		old = append(old, h.remove(h.oldest()))
	}
	h.mu.Unlock()
	for _, w := range old { // a release may wait for the program
		for _, element := range w.elements {
			comcall.Release(element)
		}
	}
}

// remove forgets a window. The caller releases the references.
func (h *held) remove(window uintptr) *heldWindow {
	w := h.windows[window]
	h.count -= len(w.elements)
	delete(h.windows, window)
	return w
}

// oldest returns the window that was used least recently.
func (h *held) oldest() uintptr {
	var oldest uintptr
	for window, w := range h.windows {
		if first := h.windows[oldest]; first == nil || w.used < first.used {
			oldest = window
		}
	}
	return oldest
}

// find returns an element with a reference for the caller, or nil.
func (h *held) find(window uintptr, id desktop.ID) unsafe.Pointer {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.windows[window]
	if w == nil {
		return nil
	}
	h.clock++
	w.used = h.clock
	element := w.elements[id]
	if element != nil {
		comcall.Hold(element)
	}
	return element
}
