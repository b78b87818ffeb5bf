// Package refs assigns names such as "e12" to elements in one conversation. A name keeps its element even
// if the app recreates it ([Table]).
package refs

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/query"
)

const (
	// maxTracks is the number of elements that a Table remembers before it drops those that are missing
	// from the last keepSnapshots snapshots.
	maxTracks     = 50_000
	keepSnapshots = 10

	// maxViews is the number of snapshots that can be used at a time.
	maxViews = 4

	// maxRefDigits is the maximum number of digits of a ref.
	maxRefDigits = 9
)

// A Table assigns names such as "e12" to elements of one app in one conversation. A ref identifies the same
// element in each snapshot, even if the app recreates it with another ID. If this is uncertain the ref is
// stale: it never identifies another element. A Table never reuses a ref.
//
// An element is the same as in the snapshot before in two cases:
//   - It has the same ID and role. Toolkits reuse some elements for others of their kind
//     ([desktop.Role.IsSetMember] except tabs, and the children of a Virtual element). Such an element and
//     its descendants must also have the same name and identifier, or the same contained text if nameless,
//     and the same reused ancestor. A name is compared without the element's value, and [Table.Acted] lets
//     an action change it.
//   - Its ID is gone, and an element of the same role, identifier and name (or description) is in the same
//     named ancestors, with as many similar elements as before. Then it is the one at the same position
//     among these, if the texts beside it are the same. A dialog must also contain the same texts. An
//     element that existed before as another one is never taken.
//
// An element that reuses an ID with another role makes the old ref stale permanently.
//
// A Table remembers 50,000 elements, and beyond these only the elements of the last ten snapshots. It is
// safe for concurrent use. It distinguishes snapshots by their pointers and orders them by Taken, or by
// their arrival if that is equal.
type Table struct {
	mu    sync.Mutex
	seed  maphash.Seed
	last  int // the last assigned number
	clock uint64
	views []*view               // the last snapshots, the newest at the end
	live  map[desktop.ID]*track // elements in the newest snapshot
	gone  []*track              // elements that disappeared but may return
	given map[int]*track        // elements with a ref
	acted *action               // the last one inside a reused element
}

// New returns a Table without refs.
func New() *Table { return NewAfter() }

// NewAfter returns an empty Table that never assigns a number which one of the given tables has assigned:
// their refs are stale in it. A nil table has assigned none.
func NewAfter(those ...*Table) *Table {
	r := &Table{seed: maphash.MakeSeed(), live: make(map[desktop.ID]*track), given: make(map[int]*track)}
	for _, other := range those {
		if other != nil {
			other.mu.Lock()
			r.last = max(r.last, other.last)
			other.mu.Unlock()
		}
	}
	return r
}

// Is reports whether a text has the form of a ref, such as e12.
func Is(text string) bool {
	_, ok := refNumber(text)
	return ok
}

func refNumber(text string) (int, bool) {
	if len(text) < 2 || len(text) > 1+maxRefDigits || text[0] != 'e' || text[1] == '0' {
		return 0, false
	}
	for _, c := range text[1:] {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(text[1:])
	return n, err == nil
}

func refText(number int) string { return "e" + strconv.Itoa(number) }

// Ref returns the element's ref, and assigns the next number if it has none. It returns "" if the index is
// not in the snapshot.
func (r *Table) Ref(s *desktop.Snapshot, i int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ref(r.view(s), i)
}

func (r *Table) ref(v *view, i int) string {
	if i < 0 || i >= len(v.tracks) {
		return ""
	}
	t := v.tracks[i]
	if t.number == 0 {
		r.last++
		t.number = r.last
		r.given[t.number] = t
		t.retain()
	}
	t.lastName, t.lastOwnName = t.name, t.ownName
	return refText(t.number)
}

// NameChanged returns the name that the ref's element had when Ref last returned the ref, and whether its
// name, without its value, differs in the snapshot. A page may reuse a button of one row for another row, and only the name
// reveals that.
func (r *Table) NameChanged(s *desktop.Snapshot, ref string) (told string, renamed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number, ok := refNumber(ref)
	if !ok {
		return "", false
	}
	v, t := r.view(s), r.given[number]
	if _, there := v.at[t]; !there {
		return "", false
	}
	return t.lastName, t.lastName != t.name && t.lastOwnName != t.ownName
}

// LastName returns the name that the ref's element had when Ref last returned the ref, or "" for an unknown
// ref.
func (r *Table) LastName(ref string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	number, ok := refNumber(ref)
	if t := r.given[number]; ok && t != nil {
		return t.lastName
	}
	return ""
}

// Resolve returns the index of the ref's element in a snapshot. The element may be hidden. It fails with
// ELEMENT_NOT_FOUND for an unknown ref. It fails with STALE_REF, and similar elements as candidates, if the
// element is gone or cannot be distinguished from others.
func (r *Table) Resolve(s *desktop.Snapshot, ref string) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number, ok := refNumber(ref)
	if !ok || number > r.last {
		e := aai.Errorf(aai.ElementNotFound, "this gateway process never gave the ref %s for this app", desktop.Quote(ref, 40))
		e.Hint = "Refs such as e12 end with the gateway's process: take a new snapshot with ax_get_tree, or find the element by its name."
		if !ok {
			e.Message = fmt.Sprintf("%s is not a ref such as e12", desktop.Quote(ref, 40))
			e.Hint = "Refs come from a snapshot: take one with ax_get_tree, or find the element by its name."
		}
		e.Delivery = aai.NotDelivered
		return 0, e
	}
	v := r.view(s)
	t := r.given[number]
	if i, ok := v.at[t]; ok {
		return i, nil
	}
	return 0, r.stale(v, ref, t)
}

func (r *Table) stale(v *view, ref string, t *track) error {
	e := aai.Errorf(aai.StaleRef, "the element of %s was last seen long ago and is gone", ref)
	e.Hint = "Take a new snapshot with ax_get_tree, or find the element by its name."
	e.Delivery = aai.NotDelivered
	if t == nil {
		return e
	}
	e.Message = "the element of " + ref + ", " + t.describe() + ", is gone, or looks like other elements"
	words := t.name
	if words == "" {
		words = t.description
	}
	for _, i := range query.Nearest(v.snapshot, words, t.role) {
		e.Candidates = append(e.Candidates, r.ref(v, i)+" "+desktop.Describe(&v.snapshot.Elements[i]))
	}
	return e
}

// view returns the view of a snapshot, and creates it for a new snapshot.
func (r *Table) view(s *desktop.Snapshot) *view {
	for _, v := range r.views {
		if v.snapshot == s {
			return v
		}
	}
	v := newView(r.seed, s)
	if n := len(r.views); n > 0 && s.Taken.Before(r.views[n-1].snapshot.Taken) {
		r.trackOlder(v)
		r.views = slices.Insert(r.views, 0, v)
		if len(r.views) > maxViews {
			r.views = slices.Delete(r.views, 1, 2)
		}
		return v
	}
	r.follow(v)
	r.views = append(r.views, v)
	if len(r.views) > maxViews {
		r.views = slices.Delete(r.views, 0, 1)
	}
	r.forget()
	return v
}

// trackOlder creates the view of a snapshot older than the newest: unambiguous elements keep their refs,
// and the others get refs that are valid only in this snapshot.
func (r *Table) trackOlder(v *view) {
	for i := range v.snapshot.Elements {
		marks := v.fingerprints[i]
		t := r.live[v.snapshot.Elements[i].ID]
		if t == nil || t.role != marks.role || t.name != marks.name || t.identifier != marks.identifier || t.label != marks.label {
			t = &track{fingerprint: marks}
		}
		v.bind(i, t)
	}
}

// forget drops elements that have been missing for long if there are too many.
func (r *Table) forget() {
	if len(r.given)+len(r.gone) <= maxTracks {
		return
	}
	old := func(t *track) bool { return t.seen+keepSnapshots < r.clock }
	r.gone = slices.DeleteFunc(r.gone, old)
	for number, t := range r.given {
		if old(t) {
			delete(r.given, number)
		}
	}
}
