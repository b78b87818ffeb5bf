package refs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// TestActionsChangeWords checks pairs of snapshots around an action on the element named "it", which has a
// ref. In the second one the ref means the element with the description "it", or is stale without one.
func TestActionsChangeWords(t *testing.T) {
	const rows = "row key=1\n  text \"Ann\" key=2\n  button \"it\" key=3\nrow key=4\n  text \"Bob\" key=5\n  button \"Stop\" key=6"
	const alike = "row key=1\n  textbox \"it\" key=3\n  button \"Go\" key=2\nrow key=4\n  textbox \"Qty\" key=6\n  button \"Go\" key=5"
	for name, c := range map[string]struct{ before, text, after string }{
		"a button's own words":            {rows, "", strings.Replace(rows, `"it" key=3`, `"Done" key=3 desc="it"`, 1)},
		"another row in its place":        {rows, "", "row key=1\n  text \"Bob\" key=2\n  button \"Stop\" key=3"},
		"another row with the same words": {rows, "", "row key=1\n  text \"Bob\" key=2\n  button \"it\" key=3"},
		"the row is named by the text":    {alike, "five", strings.NewReplacer("row key=1", `row "Row five" key=1`, `"it" key=3`, `"it" value="five" key=3 desc="it"`).Replace(alike)},
		"the field does not hold it":      {alike, "five", strings.NewReplacer("row key=1", `row "Row six" key=1`, `"it" key=3`, `"it" value="six" key=3`).Replace(alike)},
		"rows that are alike, no text":    {alike, "", strings.NewReplacer("row key=1", `row "Row five" key=1`).Replace(alike)},
		"a cell named by its text":        {"cell \"it\" key=1\ncell \"one\" key=2", "five", "cell \"five\" key=1 desc=\"it\"\ncell \"one\" key=2"},
		"a cell with another text":        {"cell \"it\" key=1\ncell \"one\" key=2", "five", "cell \"six\" key=1\ncell \"one\" key=2"},
		"the list went on":                {"cell \"it\" key=1\ncell \"one\" key=2", "five", "cell \"five\" key=1\ncell \"two\" key=2"},
		"a list of one":                   {`cell "it" key=1`, "five", `cell "five" key=1`},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := snapshottest.Read(t, c.before), snapshottest.Read(t, c.after)
			r := New()
			ref := r.Ref(before, named(t, before, "it"))
			r.Acted(before, named(t, before, "it"), c.text)
			want := slices.IndexFunc(after.Elements, func(e desktop.Element) bool { return e.Description == "it" })
			if want < 0 {
				stale(t, r, after, ref)
				return
			}
			got, err := r.Resolve(after, ref)
			assert.NilError(t, err, ref)
			assert.Equal(t, got, want, ref)
		})
	}
}

// TestNamesWithoutValues checks which elements count as renamed when their names contain their values.
func TestNamesWithoutValues(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		renamed       bool
	}{
		"named by the value": {`combobox "Low" value="Low" key=1`, `combobox "High" value="High" key=1`, false},
		"a label with it":    {`slider "Volume 3" value="3" key=1`, `slider "Volume 7" value="7" key=1`, false},
		"another label":      {`textbox "for Ann" value="3" key=1`, `textbox "for Bob" value="3" key=1`, true},
		"in a tab":           {"tab \"One\" key=2\n  combobox \"Low\" value=\"Low\" key=1", "tab \"Uno\" key=2\n  combobox \"High\" value=\"High\" key=1", false},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := snapshottest.Read(t, c.before), snapshottest.Read(t, c.after)
			r := New()
			i := slices.IndexFunc(before.Elements, func(e desktop.Element) bool { return e.ID == "1" })
			ref := r.Ref(before, i)
			data, err := json.Marshal(r)
			assert.NilError(t, err)
			loaded := New()
			assert.NilError(t, json.Unmarshal(data, loaded))
			for _, r := range []*Table{r, loaded} {
				got, err := r.Resolve(after, ref)
				assert.NilError(t, err, ref)
				assert.Equal(t, got, i, ref)
				_, renamed := r.NameChanged(after, ref)
				assert.Check(t, is.Equal(renamed, c.renamed))
			}
		})
	}
}

// TestMemoryIsBounded simulates an app that repeatedly recreates very many elements.
func TestMemoryIsBounded(t *testing.T) {
	r := New()
	const size, rounds = 6000, 40
	first := ""
	for round := range rounds {
		s := &desktop.Snapshot{Elements: make([]desktop.Element, size)}
		for i := range s.Elements {
			id := fmt.Sprintf("%d-%d", round, i)
			s.Elements[i] = desktop.Element{ID: desktop.ID(id), Role: desktop.Button, Name: id, Parent: -1, States: desktop.Showing}
		}
		desktop.SetEnds(s.Elements)
		for i := range s.Elements {
			ref := r.Ref(s, i)
			if first == "" {
				first = ref
			}
		}
		if round == rounds-1 {
			e := staleError(t, r, s, first)
			assert.Check(t, is.Contains(e.Message, "long ago"))
			assert.Check(t, is.Equal(r.Ref(s, 0), refText((rounds-1)*size+1)))
		}
		most := (keepSnapshots + 2) * size * 2
		assert.Assert(t, len(r.given)+len(r.gone) <= max(most, maxTracks), "after %d rounds it holds %d refs, %d that are gone and %d views", round, len(r.given), len(r.gone), len(r.views))
		assert.Assert(t, len(r.views) <= maxViews, "after %d rounds it holds %d refs, %d that are gone and %d views", round, len(r.given), len(r.gone), len(r.views))
	}
}

// TestConcurrentUse is for the race detector.
func TestConcurrentUse(t *testing.T) {
	r := New()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s := snapshottest.Read(t, "window \"A\" key=1\n  button \"x\" key=2\n  row \"y\" key=3")
			for range 50 {
				for i := range s.Elements {
					if got, err := r.Resolve(s, r.Ref(s, i)); err != nil || got != i {
						t.Errorf("%d is %d, %v", i, got, err)
					}
				}
			}
		})
	}
	all.Wait()
	assert.Check(t, is.Equal(r.last, 3), "%d refs were given for 3 elements", r.last)
}

// BenchmarkTable assigns refs to 10,000 recreated elements.
func BenchmarkTable(b *testing.B) {
	r := New()
	s := snapshottest.Many(10_000)
	round := 0
	for b.Loop() {
		round++
		next := &desktop.Snapshot{Elements: slices.Clone(s.Elements)}
		for i := range next.Elements {
			next.Elements[i].ID = desktop.ID(fmt.Sprint(round%2, "-", i))
		}
		for i := range next.Elements {
			r.Ref(next, i)
		}
	}
}

// TestMarshalRoundTrip checks that a loaded table identifies the same elements, reuses no number, and
// contains no values of elements.
func TestMarshalRoundTrip(t *testing.T) {
	shot := func() *desktop.Snapshot {
		return &desktop.Snapshot{Elements: []desktop.Element{
			{ID: "w", Role: desktop.Window, Name: "Mail", Parent: -1, End: 3},
			{ID: "b", Role: desktop.Button, Name: "Send", Parent: 0, End: 2},
			{ID: "t", Role: desktop.Textbox, Name: "To", Value: "a secret", Parent: 0, End: 3},
		}}
	}
	first := New()
	s := shot()
	assert.Equal(t, first.Ref(s, 2), "e1")
	_ = first.Ref(s, 1)
	data, err := json.Marshal(first)
	assert.NilError(t, err)
	assert.Check(t, !strings.Contains(string(data), "a secret"), "a value is written down: %s", data)
	second := New()
	assert.NilError(t, json.Unmarshal(data, second))
	later := shot()
	later.Elements[1].ID = "b2" // recreated
	i, err := second.Resolve(later, "e2")
	assert.NilError(t, err)
	assert.Equal(t, i, 1)
	i, err = second.Resolve(later, "e1")
	assert.NilError(t, err)
	assert.Equal(t, i, 2)
	assert.Check(t, is.Equal(second.Ref(later, 0), "e3"))
}

// TestUnmarshalRejectsInvalid checks that invalid data is refused and leaves the table unchanged.
func TestUnmarshalRejectsInvalid(t *testing.T) {
	s := &desktop.Snapshot{Elements: []desktop.Element{{ID: "w", Role: desktop.Window, Name: "Mail", Parent: -1, End: 1}}}
	for _, text := range []string{
		`[]`,
		`{"last": 1, "elements": [{"id": "w", "role": "window", "parent": 0, "end": 1}]}`,
		`{"last": 1, "elements": [{"id": "w", "role": "window", "parent": -2, "end": 1}]}`,
		`{"last": 1, "elements": [{"id": "w", "role": "window", "parent": -1, "end": 2}]}`,
		`{"last": 1, "elements": [{"id": "w", "role": "window", "parent": -1, "end": 0}]}`,
		`{"last": 1, "elements": [{"id": "w", "role": "window", "parent": -1, "end": 1, "ref": 2}]}`,
		`{"last": 1, "elements": [{"id": "w", "role": "window", "parent": -1, "end": 1, "ref": -1}]}`,
		`{"last": 1, "elements": [{"id": "w", "role": "window", "parent": -1, "end": 1, "ref": 1}, {"id": "v", "role": "window", "parent": -1, "end": 2, "ref": 1}]}`,
	} {
		r := New()
		_ = r.Ref(s, 0)
		assert.Check(t, json.Unmarshal([]byte(text), r) != nil, "%s was read", text)
		i, err := r.Resolve(s, "e1")
		assert.NilError(t, err, text)
		assert.Equal(t, i, 0, text)
	}
}
