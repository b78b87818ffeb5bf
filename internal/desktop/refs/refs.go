// Package refs names elements in one conversation, such as "e12", so that a name means
// the same element also after the app has drawn it anew ([Table]).
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
	// maxTracks is how many elements a Table remembers before it forgets those that
	// were in none of the last keepFor snapshots.
	maxTracks     = 50_000
	keepSnapshots = 10

	// maxViews is how many snapshots can be worked with at a time.
	maxViews = 4

	// maxRefDigits bounds what is taken for a ref.
	maxRefDigits = 9
)

// A Table names elements of one app in one conversation, such as "e12". A ref means
// the same element in each snapshot, also when the app draws it anew and its ID
// changes. Where that is not certain the ref is stale: it never means another
// element. A name is never given twice.
//
// An element is the same as in the snapshot before
//   - if it has the same ID and the same role. Those that toolkits use again for
//     others of their kind ([desktop.Role.IsSetMember], and the children of a Virtual element),
//     and all that is in them, must also have the same name and identifier, or
//     the same words in them where they have no name, and be in the same one;
//   - or else, if its ID is gone, if it has the same role, identifier and name (or
//     description), is in the same named elements, and there are as many like it
//     as before: then it is the one at the same place among those, if the words beside
//     it are the same too. A dialog is the same only if the words in it are. What
//     already was there as another element is never taken.
//
// An element whose ID comes back with another role is stale for good.
//
// It remembers 50,000 elements, and beyond them those of the last ten snapshots.
// It is safe for concurrent use. Snapshots are told apart by their pointers and
// ordered by Taken, or by when they came where that is equal.
type Table struct {
	mu    sync.Mutex
	seed  maphash.Seed
	last  int // the number that was given last
	clock uint64
	views []*view               // the snapshots that came last, the newest at the end
	live  map[desktop.ID]*track // what is in the newest
	gone  []*track              // what has left, but may come back
	given map[int]*track        // what has a ref
}

// New returns a Table that has given no ref yet.
func New() *Table { return NewAfter() }

// NewAfter returns a Table that knows no element, and that gives no number again which one of
// those has given: their refs are stale in it. A nil one has given none.
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

// Is reports whether a text has the form of a ref.
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

// Ref returns the element's ref, and gives it one if it has none: refs count up
// in the order in which they are asked for. The index must be one of the
// snapshot's; for another it returns "".
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
	t.lastName = t.name
	return refText(t.number)
}

// NameChanged returns the name that the ref's element had when the ref was given last,
// and whether it has another one in the snapshot. A page may use a button of one
// row for that of another, and the name is all that tells.
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
	return t.lastName, t.lastName != t.name
}

// LastName returns the name that the ref's element had when the ref was given last, or
// "" for what is no ref or was never given.
func (r *Table) LastName(ref string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	number, ok := refNumber(ref)
	if t := r.given[number]; ok && t != nil {
		return t.lastName
	}
	return ""
}

// Resolve returns the index of the ref's element in a snapshot. The element may
// be hidden. It fails with ELEMENT_NOT_FOUND for what is no ref or was never
// given, and with STALE_REF, with elements that are like it as candidates, where
// the element is gone or cannot be told from others for certain.
func (r *Table) Resolve(s *desktop.Snapshot, ref string) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number, ok := refNumber(ref)
	if !ok || number > r.last {
		e := aai.Errorf(aai.ElementNotFound, "the ref %s was never given for this app since this gateway was started", desktop.Quote(ref, 40))
		e.Hint = "Refs such as e12 end with the gateway's process: take a new snapshot with ax_get_tree, or find the element by its name."
		if !ok {
			e.Message = fmt.Sprintf("%s is no ref, which is such as e12", desktop.Quote(ref, 40))
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
	e.Message = "the element of " + ref + ", " + t.describe() + ", is gone, or cannot be told from others like it"
	words := t.name
	if words == "" {
		words = t.description
	}
	for _, i := range query.Nearest(v.snapshot, words, t.role) {
		e.Candidates = append(e.Candidates, r.ref(v, i)+" "+desktop.Describe(&v.snapshot.Elements[i]))
	}
	return e
}

// view returns what is known of a snapshot, and looks at one that is new.
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

// trackOlder looks at a snapshot that is older than the newest: what is plainly the
// same keeps its ref, and the rest gets refs that are good for this snapshot only.
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

// forget drops what was not seen for long when there is too much.
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
