package refs

import (
	"encoding/json"
	"strings"
	"testing"

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
	if ref := first.Ref(s, 2); ref != "e1" {
		t.Fatalf("the first ref is %s", ref)
	}
	_ = first.Ref(s, 1)
	data, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "a secret") {
		t.Errorf("a value is written down: %s", data)
	}
	second := New()
	if err := json.Unmarshal(data, second); err != nil {
		t.Fatal(err)
	}
	later := shot()
	later.Elements[1].ID = "b2" // recreated
	if i, err := second.Resolve(later, "e2"); err != nil || i != 1 {
		t.Errorf("e2 is %d, %v; want the button", i, err)
	}
	if i, err := second.Resolve(later, "e1"); err != nil || i != 2 {
		t.Errorf("e1 is %d, %v; want the text box", i, err)
	}
	if ref := second.Ref(later, 0); ref != "e3" {
		t.Errorf("the next ref is %s", ref)
	}
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
		if err := json.Unmarshal([]byte(text), r); err == nil {
			t.Errorf("%s was read", text)
		}
		if i, err := r.Resolve(s, "e1"); err != nil || i != 0 {
			t.Errorf("after %s e1 is %d, %v", text, i, err)
		}
	}
}
