package desktop

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aai"
)

// qtNamed finds the only element with the name, or with the name and the role.
func qtNamed(t testing.TB, s *Snapshot, name string) int {
	t.Helper()
	found := -1
	for i := range s.Elements {
		if s.Elements[i].Name == name {
			if found >= 0 {
				t.Fatalf("two elements are called %s", name)
			}
			found = i
		}
	}
	if found < 0 {
		t.Fatalf("nothing is called %s", name)
	}
	return found
}

func qtStale(t *testing.T, r *Refs, s *Snapshot, ref string) {
	t.Helper()
	_ = qtStaleError(t, r, s, ref)
}

// qtStaleError checks that a ref is stale, and returns the error.
func qtStaleError(t *testing.T, r *Refs, s *Snapshot, ref string) *aai.Error {
	t.Helper()
	i, err := r.Resolve(s, ref)
	var e *aai.Error
	if !errors.As(err, &e) || e.Code != aai.StaleRef {
		t.Fatalf("%s is %d, %v; want STALE_REF", ref, i, err)
	}
	return e
}

func TestIsRef(t *testing.T) {
	for text, want := range map[string]bool{
		"e1": true, "e12": true, "e999999999": true, "e": false, "e0": false, "e01": false, "E1": false, "1": false, "e1 ": false,
		"e1234567890": false, "e1x": false, "e-1": false, "e+1": false, "": false, "[e1]": false, "e١": false,
	} {
		if got := IsRef(text); got != want {
			t.Errorf("IsRef(%q) = %v", text, got)
		}
	}
}

func TestRefsCountUpAsTheyAreAskedFor(t *testing.T) {
	s := qtTree(t, "window \"A\"\n  button \"x\"\n  button \"y\"")
	r := NewRefs()
	for _, c := range []struct {
		i    int
		want string
	}{{2, "e1"}, {0, "e2"}, {2, "e1"}, {1, "e3"}, {-1, ""}, {3, ""}} {
		if got := r.Ref(s, c.i); got != c.want {
			t.Errorf("Ref(%d) = %q, want %q", c.i, got, c.want)
		}
	}
	for _, ref := range []string{"e4", "e0", "Save", ""} {
		_, err := r.Resolve(s, ref)
		if e := aai.AsError(err); e == nil || e.Code != aai.ElementNotFound || !strings.Contains(e.Message, "never given") || e.Hint == "" {
			t.Errorf("Resolve(%q): %v", ref, err)
		}
	}
}

// TestRefsOutliveSnapshots: each case is the app before and after. The element
// called "it" before has a ref. Afterwards that is the element with the
// description "it", or is stale where there is none.
func TestRefsOutliveSnapshots(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"nothing changed":         {`button "it" @1`, `button "it" @1 ~"it"`},
		"renamed":                 {`button "it" @1`, `button "Stop" @1 ~"it"`},
		"drawn anew":              {`button "it" @1`, `button "it" @2 ~""`},
		"gone":                    {`button "it" @1`, `button "Stop" @2`},
		"another role":            {`button "it" @1`, `link "it" @1`},
		"another role, and anew":  {`button "it" @1`, "link \"it\" @1\nbutton \"it\" @2"},
		"moved":                   {"window \"A\" @1\n  button \"it\" @2\nwindow \"B\" @3", "window \"A\" @1\nwindow \"B\" @3\n  button \"it\" @2 ~\"it\""},
		"moved and drawn anew":    {"window \"A\" @1\n  button \"it\" @2\nwindow \"B\" @3", "window \"A\" @1\nwindow \"B\" @3\n  button \"it\" @4"},
		"window has a new title":  {"window \"A\" @1\n  button \"it\" @2", "window \"*A\" @1\n  button \"it\" @3 ~\"\""},
		"another window, anew":    {"window \"A\" @1\n  button \"it\" @2", "window \"*A\" @4\n  button \"it\" @3"},
		"moved, and a twin came":  {"window \"A\" @1\n  button \"it\" @2", "window \"A\" @1\n  button \"it\" @9\n  group \"G\" @5\n    button \"it\" @2 ~\"it\""},
		"by identifier":           {`button "it" #go @1`, `button "it" #go @2`},
		"another identifier":      {`button "it" #go @1`, `button "it" #stop @2`},
		"a second one appears":    {`button "it" @1`, "button \"it\" @1 ~\"it\"\nbutton \"it\" @2"},
		"one became two":          {`button "it" @1`, "button \"it\" @2\nbutton \"it\" @3"},
		"row is used again":       {`row "it" @1`, `row "Bob" @1`},
		"row moved to another":    {"row \"it\" @1\nrow \"Bob\" @2", "row \"Bob\" @1\nrow \"it\" @2 ~\"\""},
		"row with an identifier":  {`row "it" #a @1`, `row "Bob" #a @1`},
		"in a virtual list":       {"generic \"V\" @1 virtual\n  button \"it\" @2", "generic \"V\" @1 virtual\n  button \"Bob\" @2"},
		"virtual, another place":  {"list \"V\" @1 virtual\n  listitem \"it\" @2 3/90", "list \"V\" @1 virtual\n  listitem \"it\" @2 50/90"},
		"virtual, one was added":  {"list \"V\" @1 virtual\n  listitem \"it\" @2 3/90", "list \"V\" @1 virtual\n  listitem \"it\" @2 4/91 ~\"it\""},
		"virtual, drawn anew":     {"list \"V\" @1 virtual\n  listitem \"it\" @2 3/90", "list \"V\" @1 virtual\n  listitem \"it\" @3 3/90"},
		"virtual, another's twin": {"list \"V\" @1 virtual\n  listitem \"it\" @2 3/90", "list \"V\" @1 virtual\n  listitem \"it\" @3 50/90"},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := qtTree(t, c.before), qtTree(t, c.after)
			r := NewRefs()
			ref := r.Ref(before, qtNamed(t, before, "it"))
			want := slices.IndexFunc(after.Elements, func(e Element) bool { return e.Description == "it" })
			if strings.Contains(name, "anew") || name == "by identifier" || name == "row moved to another" || name == "window has a new title" {
				want = slices.IndexFunc(after.Elements, func(e Element) bool { return e.Name == "it" })
			}
			if name == "another role, and anew" || name == "moved and drawn anew" || name == "another window, anew" {
				want = -1
			}
			if want < 0 {
				qtStale(t, r, after, ref)
				return
			}
			if got, err := r.Resolve(after, ref); err != nil || got != want {
				t.Errorf("%s is %d, %v; want %d", ref, got, err, want)
			}
			if got := r.Ref(after, want); got != ref {
				t.Errorf("the ref is now %s, was %s", got, ref)
			}
		})
	}
}

// qtPeople is a table whose rows have no names, as an app shows some of it.
func qtPeople(t testing.TB, ids, names string) *Snapshot {
	outline := "window \"Staff\" @w\n  table \"People\" @t\n"
	for i, name := range strings.Fields(names) {
		id := strings.Fields(ids)[i]
		outline += fmt.Sprintf("    row @r%s\n      cell %q @c%s\n      cell \"\" @d%s\n        button \"Delete\" ~%q @b%s\n", id, name, id, id, name, id)
	}
	s := qtTree(t, outline)
	for i := range s.Elements {
		if s.Elements[i].Role == Button {
			s.Elements[i].Description = "" // the app does not say whose button it is
		}
	}
	return s
}

// TestAButtonInARowThatIsUsedAgain: all buttons are called Delete, and keep their
// IDs while the rows around them change whom they are about.
func TestAButtonInARowThatIsUsedAgain(t *testing.T) {
	owner := func(s *Snapshot, i int) string { return s.Elements[s.Elements[s.Elements[i].Parent].Parent+1].Name }
	first := qtPeople(t, "1 2 3", "Ann Bob Cid")
	r := NewRefs()
	var refs []string
	for i := range first.Elements {
		if first.Elements[i].Role == Button {
			refs = append(refs, r.Ref(first, i))
		}
	}
	for _, c := range []struct{ ids, names, want string }{
		{"1 2 3", "Ann Bob Cid", "Ann Bob Cid"},
		{"1 2 3", "Bob Cid Dan", "- Bob Cid"},   // scrolled by one
		{"1 2 3", "Ann Bob Cid", "Ann Bob Cid"}, // and back
		{"4 5 6", "Ann Bob Cid", "Ann Bob Cid"}, // drawn anew
		{"6 5 4", "Cid Bob Ann", "Ann Bob Cid"}, // sorted
		{"6 5 4", "Ann Bob Cid", "Ann Bob Cid"}, // sorted by putting others into the rows
		{"6 4", "Ann Cid", "Ann - Cid"},         // one is deleted
		{"6 4", "Eve Eve", "- - -"},
	} {
		s := qtPeople(t, c.ids, c.names)
		var got []string
		for _, ref := range refs {
			i, err := r.Resolve(s, ref)
			if err != nil {
				got = append(got, "-")
				continue
			}
			got = append(got, owner(s, i))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s in %s: the refs are of %q, want %s", c.names, c.ids, got, c.want)
		}
	}
}

// TestTwinRows: another row with the same name takes the row's place.
func TestTwinRows(t *testing.T) {
	r := NewRefs()
	ref := r.Ref(qtTree(t, "row \"Bob\" @1\n  button \"Follow\" @2"), 1)
	qtStale(t, r, qtTree(t, "row \"Bob\" @1\n  button \"Delete\" @2"), ref)
	// Where places are known, twins are told apart, also after a while.
	r = NewRefs()
	list := func(items string) *Snapshot { return qtTree(t, "list \"L\" @1 virtual\n"+items) }
	ref = r.Ref(list("  listitem \"Bob\" @2 3/90"), 1)
	qtStale(t, r, list("  listitem \"Eve\" @3 40/90"), ref)
	qtStale(t, r, list("  listitem \"Bob\" @2 50/90"), ref)
	if i, err := r.Resolve(list("  listitem \"Bob\" @3 3/90"), ref); err != nil || i != 1 {
		t.Errorf("scrolled back: %d, %v", i, err)
	}
}

// TestWhatMovedIsFoundWhereItWasLast: what is around it is remembered with it.
func TestWhatMovedIsFoundWhereItWasLast(t *testing.T) {
	r := NewRefs()
	ref := r.Ref(qtTree(t, "window \"A\" @1\n  button \"x\" @2\nwindow \"B\" @3"), 1)
	for _, outline := range []string{"window \"A\" @1\nwindow \"B\" @3\n  button \"x\" @2", "window \"A\" @1"} {
		_, _ = r.Resolve(qtTree(t, outline), ref)
	}
	if i, err := r.Resolve(qtTree(t, "window \"A\" @1\nwindow \"B\" @5\n  button \"x\" @6"), ref); err != nil || i != 2 {
		t.Errorf("it is %d, %v", i, err)
	}
}

// TestADialogThatAsksSomethingElse: its OK is another one, though all names are
// the same.
func TestADialogThatAsksSomethingElse(t *testing.T) {
	ask := func(question, id string) *Snapshot {
		return qtTree(t, fmt.Sprintf("window \"Main\" @m\ndialog \"Question\" @d%s\n  text %q @t%s\n  button \"OK\" @b%s", id, question, id, id))
	}
	r := NewRefs()
	first := ask("Save the file?", "1")
	ref := r.Ref(first, 3)
	qtStale(t, r, ask("Delete all files?", "2"), ref)
	if i, err := r.Resolve(ask("Save the file?", "3"), ref); err != nil || i != 3 {
		t.Errorf("the same question again: %d, %v", i, err)
	}
	qtStale(t, r, qtTree(t, "window \"Main\" @m"), ref)
	if i, err := r.Resolve(ask("Save the file?", "4"), ref); err != nil || i != 3 {
		t.Errorf("the same question after a while: %d, %v", i, err)
	}
}

func TestEqualsAreToldApartByPlace(t *testing.T) {
	r := NewRefs()
	tree := func(ids string) *Snapshot {
		outline := "window \"A\" @w\n"
		for id := range strings.FieldsSeq(ids) {
			outline += "  button \"Edit\" @" + id + "\n"
		}
		return qtTree(t, outline)
	}
	s := tree("1 2 3")
	refs := []string{r.Ref(s, 1), r.Ref(s, 2), r.Ref(s, 3)}
	s = tree("4 5 6")
	for n, ref := range refs {
		if i, err := r.Resolve(s, ref); err != nil || i != n+1 {
			t.Errorf("%s is %d, %v", ref, i, err)
		}
	}
	// The middle one goes and a new one comes at the end, which stands where the
	// last one stood; but the last one is still there.
	s = tree("4 6 7")
	qtStale(t, r, s, refs[1])
	if i, err := r.Resolve(s, refs[2]); err != nil || i != 2 {
		t.Errorf("%s is %d, %v", refs[2], i, err)
	}
	// One new element in the place of two may be either.
	s = tree("8")
	qtStale(t, r, s, refs[0])
	qtStale(t, r, s, refs[2])
	// Of two that come back one has kept its ID: the other is not taken for it.
	r = NewRefs()
	s = tree("1 2")
	refs = []string{r.Ref(s, 1), r.Ref(s, 2)}
	qtStale(t, r, tree(""), refs[1])
	s = tree("2 9")
	qtStale(t, r, s, refs[0])
	if i, err := r.Resolve(s, refs[1]); err != nil || i != 1 {
		t.Errorf("%s is %d, %v", refs[1], i, err)
	}
	// An element that never had a ref is another one, too.
	r = NewRefs()
	ref := r.Ref(tree("1 2 3"), 2)
	qtStale(t, r, tree("1 3 4"), ref)
}

func TestStaleRefSaysWhatIsLikeIt(t *testing.T) {
	r := NewRefs()
	ref := r.Ref(qtTree(t, "button \"Save as\" @1"), 0)
	s := qtTree(t, "window \"A\"\n  button \"Save as PDF\" @2\n  link \"Save as\" @3\n  button \"Quit\" @4\n  button \"Save as\" @5 hidden")
	e := qtStaleError(t, r, s, ref)
	if !strings.Contains(e.Message, `e1, button "Save as",`) || e.Hint == "" || e.Delivery != aai.NotDelivered ||
		!slices.Equal(e.Candidates, []string{`e2 button "Save as PDF"`, `e3 link "Save as"`}) {
		t.Errorf("%+v", e)
	}
	if i, err := r.Resolve(s, "e2"); err != nil || i != 1 {
		t.Errorf("the candidate is %d, %v", i, err)
	}
	// A role that changes makes a ref stale for good.
	s = qtTree(t, "window \"A\"\n  link \"Save as PDF\" @2")
	qtStale(t, r, s, "e2")
	qtStale(t, r, qtTree(t, "window \"A\"\n  button \"Save as PDF\" @2"), "e2")
}

func TestOlderSnapshots(t *testing.T) {
	r := NewRefs()
	at := func(second int, outline string) *Snapshot {
		s := qtTree(t, outline)
		s.Taken = time.Unix(int64(second), 0)
		return s
	}
	first := at(1, "button \"A\" @1\nbutton \"B\" @2")
	second := at(2, "button \"A\" @1\nlink \"B\" @2\nbutton \"C\" @3")
	a, b := r.Ref(first, 0), r.Ref(first, 1)
	link, c := r.Ref(second, 1), r.Ref(second, 2)
	for _, check := range []struct {
		s    *Snapshot
		ref  string
		want int
	}{{first, a, 0}, {first, b, 1}, {second, a, 0}, {second, c, 2}} {
		if i, err := r.Resolve(check.s, check.ref); err != nil || i != check.want {
			t.Errorf("%s is %d, %v; want %d", check.ref, i, err, check.want)
		}
	}
	qtStale(t, r, second, b)
	// One that comes late does not bring back what is gone.
	late := at(1, "button \"A\" @1\nbutton \"B\" @2\nbutton \"old\" @9")
	if i, err := r.Resolve(late, a); err != nil || i != 0 {
		t.Errorf("%s is %d, %v", a, i, err)
	}
	old := r.Ref(late, 2)
	if i, err := r.Resolve(late, old); err != nil || i != 2 {
		t.Errorf("%s is %d, %v", old, i, err)
	}
	third := at(3, "button \"A\" @1\nlink \"B\" @2\nbutton \"C\" @3")
	qtStale(t, r, third, old)
	for want, ref := range []string{a, link, c} {
		if i, err := r.Resolve(third, ref); err != nil || i != want {
			t.Errorf("%s is %d, %v; want %d", ref, i, err, want)
		}
	}
}
