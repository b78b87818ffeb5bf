package refs

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

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
	ref := first.Ref(s, 2)
	assert.Equal(t, ref, "e1", "the first ref is %s", ref)
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
	ref = second.Ref(later, 0)
	assert.Check(t, is.Equal(ref, "e3"), "the next ref is %s", ref)
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
