package refs

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// fingerprint holds the properties that identify an element besides its ID.
type fingerprint struct {
	role        desktop.Role
	identifier  string
	name        string
	ownName     string // the name without the value
	description string
	// label is ownName or else the description. For elements that are identified by their contents too, it
	// includes a hash of these.
	label  string
	reused bool // toolkits reuse it for other elements of its kind
	// place and size are Element.Pos and Size inside a Virtual element.
	place, size int
}

// A track is one element across all snapshots that contain it.
type track struct {
	fingerprint
	id desktop.ID
	// anchor is the nearest ancestor that has a name, an identifier or text of its own; set is the nearest
	// ancestor that toolkits reuse.
	anchor, set *track
	nth, of     int    // its position among the elements with the same key, from 0
	neighbors   string // hash of the texts before and after it, which distinguishes it from these
	number      int    // of its ref; 0 without one
	lastName    string // its name when Ref last returned its ref
	lastOwnName string // its ownName at that time
	retained    bool
	dead        bool // it cannot be found again
	seen        uint64
}

// A key holds the properties that must be equal to find an element again without its ID.
type key struct {
	role              desktop.Role
	identifier, label string
	anchor            *track
}

func (t *track) key() key { return key{t.role, t.identifier, t.label, t.anchor} }

// retain keeps a track, with the data to find it again, after its element is gone.
func (t *track) retain() {
	for ; t != nil && !t.retained; t = t.anchor {
		t.retained = true
	}
}

func (t *track) describe() string {
	return desktop.Describe(&desktop.Element{Role: t.role, Name: t.name, Description: t.description, Identifier: t.identifier})
}

// A view is a snapshot with the track of each element.
type view struct {
	snapshot     *desktop.Snapshot
	fingerprints []fingerprint
	tracks       []*track
	at           map[*track]int
	ids          map[desktop.ID]int
	// anchors and sets are the indexes of the elements of track.anchor and track.set; -1 for none.
	anchors, sets []int
	levels        [][]int // the elements by their number of anchors
}

func newView(seed maphash.Seed, s *desktop.Snapshot) *view {
	n := len(s.Elements)
	v := &view{
		snapshot: s, fingerprints: make([]fingerprint, n), tracks: make([]*track, n), at: make(map[*track]int, n), ids: make(map[desktop.ID]int, n),
		anchors: make([]int, n), sets: make([]int, n),
	}
	depth := make([]int, n)
	for i := range s.Elements {
		m := fingerprintOf(seed, s, i)
		v.fingerprints[i] = m
		v.ids[s.Elements[i].ID] = i
		v.anchors[i], v.sets[i] = -1, -1
		if p := s.Elements[i].Parent; p >= 0 {
			v.anchors[i], v.sets[i], depth[i] = v.anchors[p], v.sets[p], depth[p]
			if around := &v.fingerprints[p]; around.reused || around.label != "" || around.identifier != "" {
				v.anchors[i], depth[i] = p, depth[p]+1
			}
			if v.fingerprints[p].reused {
				v.sets[i] = p
			}
		}
		if depth[i] == len(v.levels) {
			v.levels = append(v.levels, nil)
		}
		v.levels[depth[i]] = append(v.levels[depth[i]], i)
	}
	return v
}

func fingerprintOf(seed maphash.Seed, s *desktop.Snapshot, i int) fingerprint {
	e := &s.Elements[i]
	virtual := e.Parent >= 0 && s.Elements[e.Parent].States.Has(desktop.Virtual)
	m := fingerprint{role: e.Role, identifier: e.Identifier, name: e.Name, ownName: nameWithoutValue(e), description: e.Description}
	m.label = m.ownName
	if m.label == "" {
		m.label = e.Description
	}
	// A page of a notebook of GTK 3 is inside its tab, which is not reused.
	m.reused = virtual || e.Role.IsSetMember() && e.Role != desktop.Tab
	if virtual {
		m.place, m.size = e.Pos, e.Size
	}
	switch {
	case e.Role == desktop.Dialog || e.Role == desktop.AlertDialog || e.Role == desktop.Alert:
		m.label += "\x00" + wordsWithin(seed, s, i)
	case e.Role == desktop.Window && m.label == "" || m.reused && m.label == "":
		m.label = wordsWithin(seed, s, i)
	}
	return m
}

// nameWithoutValue returns the element's name without its value. Toolkits name some fields by their value, or by
// a label that contains it.
func nameWithoutValue(e *desktop.Element) string {
	switch e.Role {
	case desktop.Textbox, desktop.Searchbox, desktop.Combobox, desktop.Spinbutton, desktop.Slider:
		if e.Value != "" {
			return strings.ReplaceAll(e.Name, e.Value, "")
		}
	}
	return e.Name
}

// wordsWithin hashes the names of the first elements inside an element, which identify a row without a
// name.
func wordsWithin(seed maphash.Seed, s *desktop.Snapshot, i int) string {
	const most = 64
	var h maphash.Hash
	h.SetSeed(seed)
	end := min(s.Elements[i].End, i+1+most)
	for j := i + 1; j < end; j++ {
		if name := s.Elements[j].Name; name != "" {
			_, _ = h.WriteString(name)
			_ = h.WriteByte(0)
		}
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

func (v *view) bind(i int, t *track) {
	v.tracks[i] = t
	v.at[t] = i
}

// around returns the tracks of the element's anchor and set.
func (v *view) around(i int) (anchor, set *track) {
	if a := v.anchors[i]; a >= 0 {
		anchor = v.tracks[a]
	}
	if s := v.sets[i]; s >= 0 {
		set = v.tracks[s]
	}
	return anchor, set
}

// A tracker carries the tracks from one snapshot to the next.
type tracker struct {
	*view
	seed    maphash.Seed
	acted   *action
	live    map[desktop.ID]*track
	goneIDs map[desktop.ID]*track
	found   map[*track]bool
	lost    map[key][]*track // the tracks that were not found by their IDs
}

// follow creates the tracks of a snapshot newer than all others. It goes from outer to inner elements, so
// that an element's ancestors are known.
func (r *Table) follow(v *view) {
	r.clock++
	f := &tracker{
		view: v, seed: r.seed, acted: r.acted, live: r.live, goneIDs: make(map[desktop.ID]*track), found: make(map[*track]bool, len(v.tracks)), lost: make(map[key][]*track),
	}
	for _, t := range r.gone {
		f.goneIDs[t.id] = t
		f.lost[t.key()] = append(f.lost[t.key()], t)
	}
	for id, t := range r.live {
		if _, there := v.ids[id]; !there {
			f.lost[t.key()] = append(f.lost[t.key()], t)
		}
	}
	live := make(map[desktop.ID]*track, len(v.tracks))
	for _, level := range v.levels {
		f.byID(level)
		nth, of := f.count(level)
		beside := f.neighborHashes(level, of)
		f.byKey(level, nth, of, beside)
		for n, i := range level {
			t := v.tracks[i]
			if t == nil {
				t = &track{}
				v.bind(i, t)
			}
			t.fingerprint, t.id, t.seen = v.fingerprints[i], v.snapshot.Elements[i].ID, r.clock
			t.anchor, t.set = v.around(i)
			t.nth, t.of, t.neighbors = nth[n], of[n], beside[n]
			live[t.id] = t
			if t.retained {
				t.anchor.retain()
			}
		}
	}
	left := slices.DeleteFunc(r.gone, func(t *track) bool { return f.found[t] })
	for _, t := range r.live {
		if !f.found[t] && t.retained && !t.dead {
			left = append(left, t)
		}
	}
	r.gone, r.live = left, live
}

// take assigns the track to the element.
func (f *tracker) take(i int, t *track) {
	f.bind(i, t)
	f.found[t] = true
}

// byID finds elements that have kept their IDs.
func (f *tracker) byID(level []int) {
	for _, i := range level {
		id := f.snapshot.Elements[i].ID
		m := &f.fingerprints[i]
		anchor, set := f.around(i)
		if t := f.live[id]; t != nil {
			switch {
			case f.found[t]:
			case t.role != m.role:
				t.dead = true
			case t.set != set, (t.reused || m.reused || set != nil) && !t.isSameElement(m) && !f.followsAction(i, t):
				f.lost[t.key()] = append(f.lost[t.key()], t)
			default:
				f.take(i, t)
				continue
			}
		}
		if t := f.goneIDs[id]; t != nil && !f.found[t] && t.key() == (key{m.role, m.identifier, m.label, anchor}) && t.isSamePlace(m) {
			f.take(i, t)
		}
	}
}

// isSameElement reports whether a reused element, or one inside a reused element, is still the same.
func (t *track) isSameElement(m *fingerprint) bool {
	return t.label == m.label && t.identifier == m.identifier && t.isSamePlace(m)
}

// isSamePlace reports whether an element in a partially loaded list has kept its position, as far as that
// is known. The position distinguishes two elements of the same name. In a list that has grown, positions
// are meaningless.
func (t *track) isSamePlace(m *fingerprint) bool {
	return t.place == 0 || m.place == 0 || t.size != m.size || t.place == m.place
}

// count returns each element's position among those with the same key, and their number.
func (f *tracker) count(level []int) (nth, of []int) {
	nth, of = make([]int, len(level)), make([]int, len(level))
	counts := make(map[key]int, len(level))
	keys := make([]key, len(level))
	for n, i := range level {
		keys[n] = f.keyOf(i)
		nth[n] = counts[keys[n]]
		counts[keys[n]]++
	}
	for n := range level {
		of[n] = counts[keys[n]]
	}
	return nth, of
}

func (f *tracker) keyOf(i int) key {
	m := &f.fingerprints[i]
	anchor, _ := f.around(i)
	return key{m.role, m.identifier, m.label, anchor}
}

// neighborHashes hashes the texts beside each element that has similar ones, up to the next of these. A
// page that recreates its rows in another order has the same buttons in the same positions, and only the
// texts beside them identify the row. The hash is "" for a unique element, and inside reused rows, which
// are identified by their texts.
func (f *tracker) neighborHashes(level, of []int) []string {
	const most = 8 // names in each direction
	beside := make([]string, len(level))
	var h maphash.Hash
	h.SetSeed(f.seed)
	for n, i := range level {
		if of[n] < 2 || f.sets[i] >= 0 || f.fingerprints[i].reused {
			continue
		}
		h.Reset()
		first, end := 0, len(f.fingerprints)
		if a := f.anchors[i]; a >= 0 {
			first, end = a+1, f.snapshot.Elements[a].End
		}
		// read reports whether to go on after the element.
		names := 0
		read := func(j int) bool {
			m := &f.fingerprints[j]
			if m.role == f.fingerprints[i].role && m.label == f.fingerprints[i].label {
				return false
			}
			if m.name != "" {
				_, _ = h.WriteString(m.name)
				_ = h.WriteByte(0)
				names++
			}
			return names < most
		}
		for j := i - 1; j >= first && read(j); j-- {
		}
		_ = h.WriteByte(1)
		names = 0
		for j := f.snapshot.Elements[i].End; j < end && read(j); j++ {
		}
		beside[n] = strconv.FormatUint(h.Sum64(), 36)
	}
	return beside
}

// byKey finds recreated elements.
func (f *tracker) byKey(level []int, nth, of []int, beside []string) {
	for n, i := range level {
		if f.tracks[i] != nil {
			continue
		}
		var best *track
		for _, t := range f.lost[f.keyOf(i)] {
			fits := !f.found[t] && !t.dead && t.nth == nth[n] && t.of == of[n] && t.neighbors == beside[n] && t.isSamePlace(&f.fingerprints[i])
			switch {
			case !fits:
			case best == nil || t.seen > best.seen:
				best = t
			}
		}
		if best != nil {
			f.take(i, best)
		}
	}
}
