package refs

import (
	"encoding/json"
	"slices"
	"strings"
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
