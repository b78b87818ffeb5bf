//go:build darwin || axdouble

package ax

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

// maxEntries is the number of elements of an app above which those that were not read for the longest time are released.
const maxEntries = 20_000

// An entry is an element that the table retains.
type entry struct {
	ref    native.Ref
	number uint64
	parent uint64 // the number of its parent; 0 for a window and the menu bar
	round  uint64 // of the last walk that read it
}

// A table gives the elements of one app numbers. Elements that CFEqual takes for the same have the same number. It is safe for concurrent
// use; release and collect run in the turn of the app's worker, so that no element goes away in the middle of a call.
type table struct {
	api    *native.API
	prefix string
	last   *atomic.Uint64

	mu       sync.Mutex
	byHash   map[uintptr][]*entry
	byNumber map[uint64]*entry
	round    uint64
}

func newTable(api *native.API, pid int, last *atomic.Uint64) *table {
	return &table{api: api, prefix: "ax:" + strconv.Itoa(pid) + ":", last: last, byHash: make(map[uintptr][]*entry), byNumber: make(map[uint64]*entry)}
}

// begin begins a walk.
func (t *table) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.round++
}

// find returns the entry of an element, or nil.
func (t *table) find(ref native.Ref, hash uintptr) *entry {
	for _, e := range t.byHash[hash] {
		if e.ref == ref || t.api.CFEqual(e.ref, ref) {
			return e
		}
	}
	return nil
}

// add returns the entry of an element that a walk has read, and makes one if there is none.
func (t *table) add(ref native.Ref, parent uint64) *entry {
	hash := t.api.CFHash(ref)
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.find(ref, hash)
	if e == nil {
		e = &entry{ref: t.api.CFRetain(ref), number: t.last.Add(1)}
		t.byHash[hash], t.byNumber[e.number] = append(t.byHash[hash], e), e
	}
	e.parent, e.round = parent, t.round
	return e
}

// id returns the ID of a number.
func (t *table) id(number uint64) desktop.ID {
	return desktop.ID(t.prefix + strconv.FormatUint(number, 10))
}

// known returns the ID of an element that a walk has read; "" for another one.
func (t *table) known(ref native.Ref) desktop.ID {
	hash := t.api.CFHash(ref)
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.find(ref, hash); e != nil {
		return t.id(e.number)
	}
	return ""
}

// chain returns the entries from a window or the menu bar to the element with the ID; nil if the table has not all of them.
func (t *table) chain(id desktop.ID) []*entry {
	text, ours := strings.CutPrefix(string(id), t.prefix)
	number, err := strconv.ParseUint(text, 10, 64)
	if !ours || err != nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var chain []*entry
	for number != 0 {
		e := t.byNumber[number]
		if e == nil || len(chain) > maxDepth {
			return nil
		}
		chain, number = append(chain, e), e.parent
	}
	for i, j := 0, len(chain)-1; i < j; i, j = i+1, j-1 {
		chain[i], chain[j] = chain[j], chain[i]
	}
	return chain
}

// collect releases elements that the last two walks did not read, if there are too many.
func (t *table) collect() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.byNumber) <= maxEntries {
		return
	}
	t.releaseIf(func(e *entry) bool { return e.round+1 < t.round })
}

// release releases all elements.
func (t *table) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releaseIf(func(*entry) bool { return true })
}

func (t *table) releaseIf(old func(*entry) bool) {
	for hash, entries := range t.byHash {
		var kept []*entry
		for _, e := range entries {
			if old(e) {
				t.api.CFRelease(e.ref)
				delete(t.byNumber, e.number)
			} else {
				kept = append(kept, e)
			}
		}
		if t.byHash[hash] = kept; kept == nil {
			delete(t.byHash, hash)
		}
	}
}
