package refs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// named returns the only element with the name, or with the name and the role.
func named(t testing.TB, s *desktop.Snapshot, name string) int {
	t.Helper()
	found := -1
	for i := range s.Elements {
		if s.Elements[i].Name == name {
			assert.Assert(t, found < 0, "two elements are called %s", name)
			found = i
		}
	}
	assert.Assert(t, found >= 0, "nothing is called %s", name)
	return found
}

func stale(t *testing.T, r *Table, s *desktop.Snapshot, ref string) {
	t.Helper()
	_ = staleError(t, r, s, ref)
}

// staleError checks that a ref is stale, and returns the error.
func staleError(t *testing.T, r *Table, s *desktop.Snapshot, ref string) *aai.Error {
	t.Helper()
	i, err := r.Resolve(s, ref)
	var e *aai.Error
	assert.Assert(t, errors.As(err, &e), "%s is %d, %v; want STALE_REF", ref, i, err)
	assert.Equal(t, e.Code, aai.StaleRef, "%s %d %v", ref, i, err)
	return e
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		"e1": true, "e12": true, "e999999999": true, "e": false, "e0": false, "e01": false, "E1": false, "1": false, "e1 ": false,
		"e1234567890": false, "e1x": false, "e-1": false, "e+1": false, "": false, "[e1]": false, "e١": false,
	} {
		assert.Check(t, is.Equal(Is(text), want), "%q", text)
	}
}

func TestCountUpAsTheyAreAskedFor(t *testing.T) {
	s := snapshottest.Read(t, "window \"A\"\n  button \"x\"\n  button \"y\"")
	r := New()
	for _, c := range []struct {
		i    int
		want string
	}{{2, "e1"}, {0, "e2"}, {2, "e1"}, {1, "e3"}, {-1, ""}, {3, ""}} {
		assert.Check(t, is.Equal(r.Ref(s, c.i), c.want), "%d", c.i)
	}
	// A ref of an earlier gateway is indistinguishable from an invented one.
	for ref, says := range map[string]string{
		"e4": "this gateway process never gave", "e12345": "this gateway process never gave", "e0": "not a ref", "Save": "not a ref", "": "not a ref",
	} {
		_, err := r.Resolve(s, ref)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "Resolve(%q): %v", ref, err)
		assert.Equal(t, e.Code, aai.ElementNotFound, "%q %v", ref, err)
		assert.Assert(t, is.Contains(e.Message, says), "%q %v", ref, err)
		assert.Assert(t, is.Contains(e.Hint, "snapshot"), "%q %v", ref, err)
		if says != "not a ref" && !strings.Contains(e.Hint, "end with the gateway's process") {
			t.Errorf("Resolve(%q) does not say why: %s", ref, e.Hint)
		}
	}
}

// TestOutliveSnapshots checks pairs of snapshots. The element named "it" in the first one has a ref. In the
// second one the ref means the element with the description "it", or is stale without one.
func TestOutliveSnapshots(t *testing.T) {
	for _, c := range snapshottest.Rows[struct{ Name, Before, After string }](t, "outlive.json") {
		t.Run(c.Name, func(t *testing.T) {
			before, after := snapshottest.Read(t, c.Before), snapshottest.Read(t, c.After)
			r := New()
			ref := r.Ref(before, named(t, before, "it"))
			want := slices.IndexFunc(after.Elements, func(e desktop.Element) bool { return e.Description == "it" })
			if strings.Contains(c.Name, "anew") || c.Name == "by identifier" || c.Name == "row moved to another" || c.Name == "window has a new title" {
				want = slices.IndexFunc(after.Elements, func(e desktop.Element) bool { return e.Name == "it" })
			}
			if c.Name == "another role, and anew" || c.Name == "moved and drawn anew" || c.Name == "another window, anew" {
				want = -1
			}
			if want < 0 {
				stale(t, r, after, ref)
				return
			}
			got, err := r.Resolve(after, ref)
			assert.NilError(t, err, ref)
			assert.Equal(t, got, want, ref)
			assert.Check(t, is.Equal(r.Ref(after, want), ref))
		})
	}
}

// people returns a table with nameless rows, of which the app shows some.
func people(t testing.TB, ids, names string) *desktop.Snapshot {
	outline := "window \"Staff\" key=w\n  table \"People\" key=t\n"
	for i, name := range strings.Fields(names) {
		id := strings.Fields(ids)[i]
		outline += fmt.Sprintf("    row key=r%s\n      cell %q key=c%s\n      cell \"\" key=d%s\n        button \"Delete\" desc=%q key=b%s\n", id, name, id, id, name, id)
	}
	s := snapshottest.Read(t, outline)
	for i := range s.Elements {
		if s.Elements[i].Role == desktop.Button {
			s.Elements[i].Description = "" // the app does not say to which person the button belongs
		}
	}
	return s
}

// TestAButtonInARowThatIsUsedAgain checks buttons that are all named Delete and keep their IDs while their
// rows show other people.
func TestAButtonInARowThatIsUsedAgain(t *testing.T) {
	owner := func(s *desktop.Snapshot, i int) string {
		return s.Elements[s.Elements[s.Elements[i].Parent].Parent+1].Name
	}
	first := people(t, "1 2 3", "Ann Bob Cid")
	r := New()
	var refs []string
	for i := range first.Elements {
		if first.Elements[i].Role == desktop.Button {
			refs = append(refs, r.Ref(first, i))
		}
	}
	for _, c := range []struct{ ids, names, want string }{
		{"1 2 3", "Ann Bob Cid", "Ann Bob Cid"},
		{"1 2 3", "Bob Cid Dan", "- Bob Cid"},   // scrolled by one
		{"1 2 3", "Ann Bob Cid", "Ann Bob Cid"}, // scrolled back
		{"4 5 6", "Ann Bob Cid", "Ann Bob Cid"}, // recreated
		{"6 5 4", "Cid Bob Ann", "Ann Bob Cid"}, // sorted
		{"6 5 4", "Ann Bob Cid", "Ann Bob Cid"}, // sorted by reassigning the rows
		{"6 4", "Ann Cid", "Ann - Cid"},         // one deleted
		{"6 4", "Eve Eve", "- - -"},
	} {
		s := people(t, c.ids, c.names)
		var got []string
		for _, ref := range refs {
			i, err := r.Resolve(s, ref)
			if err != nil {
				got = append(got, "-")
				continue
			}
			got = append(got, owner(s, i))
		}
		assert.Check(t, is.Equal(strings.Join(got, " "), c.want), "%s in %s: the refs are of %q, want %s", c.names, c.ids, got, c.want)
	}
}

// TestTwinRows checks that another row of the same name may replace the row.
func TestTwinRows(t *testing.T) {
	r := New()
	ref := r.Ref(snapshottest.Read(t, "row \"Bob\" key=1\n  button \"Follow\" key=2"), 1)
	stale(t, r, snapshottest.Read(t, "row \"Bob\" key=1\n  button \"Delete\" key=2"), ref)
	// If positions are known, twins are distinguishable, also later.
	r = New()
	list := func(items string) *desktop.Snapshot { return snapshottest.Read(t, "list \"L\" key=1 virtual\n"+items) }
	ref = r.Ref(list("  listitem \"Bob\" key=2 pos=3 size=90"), 1)
	stale(t, r, list("  listitem \"Eve\" key=3 pos=40 size=90"), ref)
	stale(t, r, list("  listitem \"Bob\" key=2 pos=50 size=90"), ref)
	i, err := r.Resolve(list("  listitem \"Bob\" key=3 pos=3 size=90"), ref)
	assert.NilError(t, err)
	assert.Equal(t, i, 1)
}

// TestWhatMovedIsFoundWhereItWasLast checks that the current surroundings of an element are remembered.
func TestWhatMovedIsFoundWhereItWasLast(t *testing.T) {
	r := New()
	ref := r.Ref(snapshottest.Read(t, "window \"A\" key=1\n  button \"x\" key=2\nwindow \"B\" key=3"), 1)
	for _, outline := range []string{"window \"A\" key=1\nwindow \"B\" key=3\n  button \"x\" key=2", "window \"A\" key=1"} {
		_, _ = r.Resolve(snapshottest.Read(t, outline), ref)
	}
	i, err := r.Resolve(snapshottest.Read(t, "window \"A\" key=1\nwindow \"B\" key=5\n  button \"x\" key=6"), ref)
	assert.NilError(t, err)
	assert.Equal(t, i, 2)
}

// TestADialogThatAsksSomethingElse checks that the OK of another dialog is another element, even with the
// same names.
func TestADialogThatAsksSomethingElse(t *testing.T) {
	ask := func(question, id string) *desktop.Snapshot {
		return snapshottest.Read(t, fmt.Sprintf("window \"Main\" key=m\ndialog \"Question\" key=d%s\n  text %q key=t%s\n  button \"OK\" key=b%s", id, question, id, id))
	}
	r := New()
	first := ask("Save the file?", "1")
	ref := r.Ref(first, 3)
	stale(t, r, ask("Delete all files?", "2"), ref)
	i, err := r.Resolve(ask("Save the file?", "3"), ref)
	assert.NilError(t, err)
	assert.Equal(t, i, 3)
	stale(t, r, snapshottest.Read(t, "window \"Main\" key=m"), ref)
	i, err = r.Resolve(ask("Save the file?", "4"), ref)
	assert.NilError(t, err)
	assert.Equal(t, i, 3)
}

func TestEqualsAreToldApartByPlace(t *testing.T) {
	r := New()
	tree := func(ids string) *desktop.Snapshot {
		outline := "window \"A\" key=w\n"
		for id := range strings.FieldsSeq(ids) {
			outline += "  button \"Edit\" key=" + id + "\n"
		}
		return snapshottest.Read(t, outline)
	}
	s := tree("1 2 3")
	refs := []string{r.Ref(s, 1), r.Ref(s, 2), r.Ref(s, 3)}
	s = tree("4 5 6")
	for n, ref := range refs {
		i, err := r.Resolve(s, ref)
		assert.NilError(t, err, ref)
		assert.Equal(t, i, n+1, ref)
	}
	// The middle one disappears and a new one appears at the end, at the position of the last one, which
	// still exists.
	s = tree("4 6 7")
	stale(t, r, s, refs[1])
	if i, err := r.Resolve(s, refs[2]); err != nil || i != 2 {
		t.Errorf("%s is %d, %v", refs[2], i, err)
	}
	// One new element in place of two may be either of them.
	s = tree("8")
	stale(t, r, s, refs[0])
	stale(t, r, s, refs[2])
	// Of two returning elements one has kept its ID, so the other is not taken for it.
	r = New()
	s = tree("1 2")
	refs = []string{r.Ref(s, 1), r.Ref(s, 2)}
	stale(t, r, tree(""), refs[1])
	s = tree("2 9")
	stale(t, r, s, refs[0])
	if i, err := r.Resolve(s, refs[1]); err != nil || i != 1 {
		t.Errorf("%s is %d, %v", refs[1], i, err)
	}
	// An element that never had a ref is another one, too.
	r = New()
	ref := r.Ref(tree("1 2 3"), 2)
	stale(t, r, tree("1 3 4"), ref)
}

// TestRowsDrawnAnew simulates a page that recreates its rows without row elements: buttons at the same
// positions then belong to other people.
func TestRowsDrawnAnew(t *testing.T) {
	ids := 0
	tree := func(row, rows string) *desktop.Snapshot {
		outline := "window \"A\" key=w\n"
		for name := range strings.FieldsSeq(rows) {
			for part := range strings.FieldsSeq(row) {
				ids++
				if part == "Name" {
					outline += fmt.Sprintf("  text %q key=i%d\n", name, ids)
				} else {
					outline += fmt.Sprintf("  button %q key=i%d\n", part, ids)
				}
			}
		}
		return snapshottest.Read(t, outline)
	}
	for _, row := range []string{"Name Pick", "Pick Name", "Name Edit Pick", "Edit Pick Name", "Pick Name Edit"} {
		r := New()
		s := tree(row, "Amy Bob Cat")
		var refs []string
		for i := range s.Elements {
			if s.Elements[i].Role == desktop.Button {
				refs = append(refs, r.Ref(s, i))
			}
		}
		same := tree(row, "Amy Bob Cat")
		for _, ref := range refs {
			_, err := r.Resolve(same, ref)
			assert.Check(t, err, "%s: nothing has changed but the IDs: %v", row, err)
		}
		for _, others := range []string{"Cat Bob Amy", "Bob Cat Amy", "Dan Amy Bob"} {
			s := tree(row, others)
			for n, ref := range refs {
				i, err := r.Resolve(s, ref)
				if err != nil {
					continue
				}
				was, is := strings.Fields("Amy Bob Cat")[n*3/len(refs)], strings.Fields(others)[(i-1)*3/(len(s.Elements)-1)]
				if was != is {
					t.Errorf("%s: %s of %s is %s's in %s", row, ref, was, is, others)
				}
			}
		}
	}
}

func TestStaleRefSaysWhatIsLikeIt(t *testing.T) {
	r := New()
	ref := r.Ref(snapshottest.Read(t, "button \"Save as\" key=1"), 0)
	s := snapshottest.Read(t, "window \"A\"\n  button \"Save as PDF\" key=2\n  link \"Save as\" key=3\n  button \"Quit\" key=4\n  button \"Save as\" key=5 hidden")
	e := staleError(t, r, s, ref)
	assert.Assert(t, is.Contains(e.Message, `e1, button "Save as",`), "%+v", e)
	assert.Assert(t, e.Hint != "", "%+v", e)
	assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
	assert.Assert(t, slices.Equal(e.Candidates, []string{`e2 button "Save as PDF"`, `e3 link "Save as"`}), "%+v", e)
	i, err := r.Resolve(s, "e2")
	assert.NilError(t, err)
	assert.Equal(t, i, 1)
	// A changed role makes a ref stale permanently.
	s = snapshottest.Read(t, "window \"A\"\n  link \"Save as PDF\" key=2")
	stale(t, r, s, "e2")
	stale(t, r, snapshottest.Read(t, "window \"A\"\n  button \"Save as PDF\" key=2"), "e2")
}

func TestOlderSnapshots(t *testing.T) {
	r := New()
	at := func(second int, outline string) *desktop.Snapshot {
		s := snapshottest.Read(t, outline)
		s.Taken = time.Unix(int64(second), 0)
		return s
	}
	first := at(1, "button \"A\" key=1\nbutton \"B\" key=2")
	second := at(2, "button \"A\" key=1\nlink \"B\" key=2\nbutton \"C\" key=3")
	a, b := r.Ref(first, 0), r.Ref(first, 1)
	link, c := r.Ref(second, 1), r.Ref(second, 2)
	for _, check := range []struct {
		s    *desktop.Snapshot
		ref  string
		want int
	}{{first, a, 0}, {first, b, 1}, {second, a, 0}, {second, c, 2}} {
		i, err := r.Resolve(check.s, check.ref)
		assert.NilError(t, err, check.ref)
		assert.Equal(t, i, check.want, check.ref)
	}
	stale(t, r, second, b)
	// A late snapshot does not bring back removed elements.
	late := at(1, "button \"A\" key=1\nbutton \"B\" key=2\nbutton \"old\" key=9")
	i, err := r.Resolve(late, a)
	assert.NilError(t, err, a)
	assert.Equal(t, i, 0, a)
	old := r.Ref(late, 2)
	i, err = r.Resolve(late, old)
	assert.NilError(t, err, old)
	assert.Equal(t, i, 2, old)
	third := at(3, "button \"A\" key=1\nlink \"B\" key=2\nbutton \"C\" key=3")
	stale(t, r, third, old)
	for want, ref := range []string{a, link, c} {
		i, err := r.Resolve(third, ref)
		assert.NilError(t, err, ref)
		assert.Equal(t, i, want, ref)
	}
}
