package refs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// savedTable is the saved form of a Table: the identifying properties of the newest snapshot's elements,
// without the values that are not in a name.
type savedTable struct {
	Last     int            `json:"last"`
	Elements []savedElement `json:"elements,omitempty"`
}

type savedElement struct {
	ID          desktop.ID   `json:"id"`
	Role        desktop.Role `json:"role"`
	Name        string       `json:"name,omitempty"`
	Value       string       `json:"value,omitempty"` // if the name contains it
	Description string       `json:"description,omitempty"`
	Identifier  string       `json:"identifier,omitempty"`
	Virtual     bool         `json:"virtual,omitempty"`
	Pos         int          `json:"pos,omitempty"`
	Size        int          `json:"size,omitempty"`
	Parent      int          `json:"parent"`
	End         int          `json:"end"`
	Ref         int          `json:"ref,omitempty"`
}

// MarshalJSON saves the data that is needed to recognize the newest snapshot's elements. Elements that are
// no longer in it are omitted: their refs become stale.
func (r *Table) MarshalJSON() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := savedTable{Last: r.last}
	if n := len(r.views); n > 0 && r.last > 0 {
		v := r.views[n-1]
		kept.Elements = make([]savedElement, len(v.tracks))
		for i := range v.tracks {
			e, value := &v.snapshot.Elements[i], ""
			if v.tracks[i].ownName != e.Name {
				value = e.Value
			}
			kept.Elements[i] = savedElement{
				e.ID, e.Role, e.Name, value, e.Description, e.Identifier, e.States.Has(desktop.Virtual),
				e.Pos, e.Size, e.Parent, e.End, v.tracks[i].number,
			}
		}
	}
	return json.Marshal(kept)
}

// UnmarshalJSON replaces the table's content by saved data. It changes nothing if it fails.
func (r *Table) UnmarshalJSON(data []byte) error {
	var kept savedTable
	if err := json.Unmarshal(data, &kept); err != nil {
		return err
	}
	shot := &desktop.Snapshot{Elements: make([]desktop.Element, len(kept.Elements))}
	numbers := make(map[int]int)
	for i, k := range kept.Elements {
		if k.Parent < -1 || k.Parent >= i || k.End <= i || k.End > len(kept.Elements) {
			return fmt.Errorf("elements[%d]: it cannot be in %d and end at %d", i, k.Parent, k.End)
		}
		if _, twice := numbers[k.Ref]; twice || k.Ref < 0 || k.Ref > kept.Last {
			return fmt.Errorf("elements[%d].ref: expected a number of its own up to %d, not %d", i, kept.Last, k.Ref)
		}
		if k.Ref > 0 {
			numbers[k.Ref] = i
		}
		e := &shot.Elements[i]
		e.ID, e.Role, e.Name, e.Value, e.Description, e.Identifier = k.ID, k.Role, k.Name, k.Value, k.Description, k.Identifier
		e.Pos, e.Size, e.Parent, e.End = k.Pos, k.Size, k.Parent, k.End
		if k.Virtual {
			e.States = desktop.Virtual
		}
	}
	known := New()
	if len(shot.Elements) > 0 {
		v := known.view(shot)
		for _, number := range slices.Sorted(maps.Keys(numbers)) {
			known.last = number - 1
			known.ref(v, numbers[number])
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seed, r.last, r.clock = known.seed, kept.Last, known.clock
	r.views, r.live, r.gone, r.given = known.views, known.live, known.gone, known.given
	return nil
}
