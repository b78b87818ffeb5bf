package refs

import (
	"hash/maphash"
	"strconv"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// An action is an action on an element inside a reused one, such as a field in a row of a table. Its effect
// may change the words by which the two are identified.
type action struct {
	id       desktop.ID
	text     string                // that the element gets; "" if it is not known
	rows     map[desktop.ID]string // the reused elements around it, with a hash of the other words inside
	beside   string                // a hash of the words of the rows beside the outermost of these; "" without words
	isUnique bool                  // it is a button in a row with a text that no row beside it has
}

// Acted tells the table that an action on element i of the snapshot begins, after which the element has the
// text, "" if that is not known. In later snapshots the element and the rows around it are the same although
// their words differ, if the other words inside them and in the rows beside them are still there and the element
// has the text. Without a text, the element must be a button or a box, and a text in the row must be in no row beside it: a list may show
// the next row in the place of a deleted one.
func (r *Table) Acted(s *desktop.Snapshot, i int, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acted = nil
	v := r.view(s)
	if i < 0 || i >= len(v.tracks) || v.sets[i] < 0 && !v.fingerprints[i].reused {
		return
	}
	a := &action{id: s.Elements[i].ID, text: text, rows: make(map[desktop.ID]string)}
	outermost := i
	for row := v.sets[i]; row >= 0; row = v.sets[row] {
		a.rows[s.Elements[row].ID] = v.otherWords(r.seed, row, i, text)
		outermost = row
	}
	a.beside = v.wordsBeside(r.seed, outermost)
	a.isUnique = s.Elements[i].Role.IsPressable() && !v.fingerprints[i].reused && v.hasUniqueText(outermost)
	r.acted = a
}

// namesWithin returns the names inside element i, without those of the element except and inside it.
func (v *view) namesWithin(i, except int) []string {
	var names []string
	elements := v.snapshot.Elements
	for j := i + 1; j < elements[i].End; j++ {
		if j == except {
			j = elements[j].End - 1
			continue
		}
		if name := v.fingerprints[j].ownName; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// otherWords hashes the names inside a row, without those of the element except. The row's own name may contain
// the text; without a text it counts too.
func (v *view) otherWords(seed maphash.Seed, row, except int, text string) string {
	names := v.namesWithin(row, except)
	if text == "" {
		names = append(names, v.fingerprints[row].ownName)
	}
	return hashOf(seed, names)
}

// wordsBeside hashes the names of the elements beside a row, and inside them.
func (v *view) wordsBeside(seed maphash.Seed, row int) string {
	var names []string
	elements := v.snapshot.Elements
	for j := range elements {
		if j != row && elements[j].Parent == elements[row].Parent {
			names = append(append(names, v.fingerprints[j].ownName), v.namesWithin(j, -1)...)
		}
	}
	return hashOf(seed, names)
}

// hashOf returns "" for no names.
func hashOf(seed maphash.Seed, names []string) string {
	if len(names) == 0 {
		return ""
	}
	var h maphash.Hash
	h.SetSeed(seed)
	for _, name := range names {
		_, _ = h.WriteString(name)
		_ = h.WriteByte(0)
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// hasUniqueText reports whether there are rows beside the row, and a name inside it, but not of a button or a box,
// occurs in none of them.
func (v *view) hasUniqueText(row int) bool {
	elements := v.snapshot.Elements
	others := make(map[string]bool)
	for j := range elements {
		if j != row && elements[j].Parent == elements[row].Parent && elements[j].Role == elements[row].Role {
			for _, name := range v.namesWithin(j, -1) {
				others[name] = true
			}
		}
	}
	for j := row + 1; j < elements[row].End; j++ {
		if name := v.fingerprints[j].ownName; name != "" && !elements[j].Role.IsPressable() && len(others) > 0 && !others[name] {
			return true
		}
	}
	return false
}

// followsAction reports whether element i, with an ID that the track had, is still the track's element
// although the words differ, because of the last action.
func (f *tracker) followsAction(i int, t *track) bool {
	if f.acted == nil || t.identifier != f.fingerprints[i].identifier || !t.isSamePlace(&f.fingerprints[i]) {
		return false
	}
	element, there := f.ids[f.acted.id]
	if !there || i > element || element >= f.snapshot.Elements[i].End {
		return false
	}
	e := &f.snapshot.Elements[element]
	if f.acted.text == "" && !f.acted.isUnique || f.acted.text != "" && e.Value != f.acted.text && e.Name != f.acted.text {
		return false
	}
	outermost := element
	for row := f.sets[element]; row >= 0; row = f.sets[row] {
		if f.acted.rows[f.snapshot.Elements[row].ID] != f.otherWords(f.seed, row, element, f.acted.text) {
			return false
		}
		outermost = row
	}
	return f.acted.beside != "" && f.acted.beside == f.wordsBeside(f.seed, outermost)
}
