package recording_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/recording"
)

// form returns a snapshot of a window with elements, each a role and a name.
func form(elements ...string) *desktop.Snapshot {
	s := &desktop.Snapshot{Elements: []desktop.Element{{ID: "w", Role: desktop.Window, Name: "Form", States: desktop.Showing, Parent: -1}}}
	for i := 0; i < len(elements); i += 2 {
		s.Elements = append(s.Elements, desktop.Element{ID: desktop.ID(rune('a' + i)), Role: desktop.Role(elements[i]), Name: elements[i+1], States: desktop.Showing | desktop.Enabled})
	}
	desktop.SetEnds(s.Elements)
	return s
}

// TestHealing: a renamed or moved element is found if nothing else can be meant, and another one never.
func TestHealing(t *testing.T) {
	before := form("button", "Save", "button", "Close", "textbox", "Customer name", "listitem", "March")
	for name, c := range map[string]struct {
		of   int
		now  *desktop.Snapshot
		want string // "": none
	}{
		"moved":                   {1, form("textbox", "Customer name", "button", "Close", "button", "Save"), "Save"},
		"words were added":        {1, form("button", "Save draft now", "button", "Close", "textbox", "Customer name", "listitem", "March"), ""},
		"a field has a new word":  {3, form("button", "Save", "button", "Close", "textbox", "Customer full name", "listitem", "March"), "Customer full name"},
		"the opposite":            {1, form("button", "Don't Save", "button", "Close", "textbox", "Customer name"), ""},
		"a loss in its place":     {1, form("button", "Save delete", "button", "Close", "textbox", "Customer name"), ""},
		"another thing":           {1, form("button", "Delete", "button", "Close", "textbox", "Customer name", "listitem", "March"), ""},
		"two of the name":         {1, form("button", "Save", "button", "Save"), ""},
		"a row with another name": {4, form("button", "Save", "button", "Close", "textbox", "Customer name", "listitem", "April"), ""},
		"another number":          {1, form("button", "Save 2", "button", "Close", "textbox", "Customer name"), ""},
		"nothing like it":         {1, form("textbox", "Save"), ""},
	} {
		found, isClear := recording.Candidates(c.now, recording.NewTarget(before, c.of))
		got := ""
		if isClear {
			got = c.now.Elements[found[0].Index].Name
		}
		assert.Check(t, is.Equal(got, c.want), name)
	}
}

// TestQueryFor: each query finds its element and no other.
func TestQueryFor(t *testing.T) {
	s := form("button", "Save", "button", "Save", "textbox", "", "checkbox", `a "b" \c`, "list", "Goods")
	want := []string{"", "//window[@name='Form']/button[1]", "//window[@name='Form']/button[2]", "role:textbox", `role:checkbox name:"a \"b\" \\c"`, `role:list name:"Goods"`}
	for i := 1; i < len(s.Elements); i++ {
		assert.Check(t, is.Equal(recording.QueryFor(s, i), want[i]), "%d", i)
	}
}

// TestDocument: texts become parameters, and templates in them mean themselves.
func TestDocument(t *testing.T) {
	step := recorded.Step{Tool: "ax_set_value", Args: map[string]any{"app": "a", "query": "q", "value": recorded.Escape("x {{y}}")}, Target: &recorded.Target{Role: "textbox", Name: "Full name", Typed: true}}
	b, err := recorded.Document("n", "a", []recorded.Step{step})
	assert.NilError(t, err)
	const want = `"full_name": {
        "default": "x {{y}}",`
	text := string(b)
	assert.Assert(t, is.Contains(text, want))
	assert.Assert(t, is.Contains(text, `"value": "{{params.full_name}}"`))
}
