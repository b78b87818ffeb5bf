package query

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

func TestPaths(t *testing.T) {
	s := snapshottest.Read(t, `
window "Main"
  list "Fruits"
    listitem "Apple"
    listitem "Pear" hidden
    listitem "Plum" id="plum"
    group
      listitem "Cherry"
  list "Colours"
    listitem "Red" selectable
    listitem "it's \"blue\""
  button "Save" desc="Keeps it"
dialog "Open"
  button "Save"
  button "Cancel" value="x"
`)
	for _, c := range snapshottest.Rows[struct {
		Query, Canonical string
		Want             []int
	}](t, "paths.json") {
		q, err := Parse(c.Query, Auto)
		if err != nil {
			assert.Assert(t, c.Want == nil, "%s %v", c.Query, err)
			assert.Equal(t, c.Canonical, "", "%s %v", c.Query, err)
			continue
		}
		want := c.Canonical
		if want == "" {
			want = c.Query
		}
		assert.Check(t, is.Equal(q.String(), want), "%s is understood as %s, want %s", c.Query, q, want)
		if found := q.Find(s, Options{Root: -1}); !slices.Equal(found.Matches, c.Want) {
			t.Errorf("%s: %s, want %v", c.Query, say(s, found.Matches), c.Want)
		}
	}
	for query, want := range map[string][]int{"/window/button": {10}, "/button": nil, "/*": {0, 11}, "/window": {0}} {
		q, err := Parse(query, XPath)
		assert.NilError(t, err)
		if found := q.Find(s, Options{Root: -1}); !slices.Equal(found.Matches, want) {
			t.Errorf("%s: %s, want %v", query, say(s, found.Matches), want)
		}
	}
}

// means evaluates a path of roles and positions backwards from the element: an independent and slow
// implementation.
func means(s *desktop.Snapshot, path []step, i int) bool {
	last := path[len(path)-1]
	fits := func(j int) bool { return s.IsVisible(j) && (last.role == nil || last.role.matches(&s.Elements[j])) }
	if !fits(i) {
		return false
	}
	parent := s.Elements[i].Parent
	for _, p := range last.predicates {
		before := 0
		for _, sibling := range s.Children(parent) {
			if sibling <= i && fits(sibling) {
				before++
			}
		}
		if before != p.number {
			return false
		}
	}
	rest := path[:len(path)-1]
	if len(rest) == 0 {
		return last.deep || parent < 0
	}
	for up := parent; up >= 0; up = s.Elements[up].Parent {
		if means(s, rest, up) {
			return true
		}
		if !last.deep {
			return false
		}
	}
	return false
}

func TestPathsMeanWhatTheySay(t *testing.T) {
	roles := []desktop.Role{desktop.List, desktop.Button, desktop.Group}
	rapid.Check(t, func(t *rapid.T) {
		s := &desktop.Snapshot{}
		depth := []int{}
		for i := range rapid.IntRange(1, 25).Draw(t, "size") {
			level := 0
			if i > 0 {
				level = rapid.IntRange(0, len(depth)).Draw(t, "level")
			}
			e := desktop.Element{ID: desktop.ID(fmt.Sprint(i)), Parent: -1, Role: rapid.SampledFrom(roles).Draw(t, "role"), States: desktop.Showing}
			if rapid.IntRange(0, 9).Draw(t, "hidden") == 0 {
				e.States = 0
			}
			if depth = depth[:level]; level > 0 {
				e.Parent = depth[level-1]
			}
			depth = append(depth, i)
			s.Elements = append(s.Elements, e)
		}
		desktop.SetEnds(s.Elements)
		text := ""
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			text += rapid.SampledFrom([]string{"/", "//"}).Draw(t, "axis") + rapid.SampledFrom([]string{"*", "list", "button", "group"}).Draw(t, "test")
			if n := rapid.IntRange(0, 3).Draw(t, "position"); n > 0 {
				text += fmt.Sprintf("[%d]", n)
			}
		}
		p := &pathParser{text: text}
		path, err := p.path()
		assert.NilError(t, err)
		q, err := Parse(text, XPath)
		assert.NilError(t, err)
		var want []int
		for i := range s.Elements {
			if means(s, path.steps, i) {
				want = append(want, i)
			}
		}
		got := q.Find(s, Options{Root: -1}).Matches
		assert.Assert(t, slices.Equal(got, want), "%s %v %v", text, got, want)
	})
}

func TestTerms(t *testing.T) {
	s := snapshottest.Read(t, editor)
	type terms struct {
		Query, Canonical string
		Strategy         Strategy
		Want             []string
	}
	for _, c := range append(snapshottest.Rows[terms](t, "terms.json"), []terms{
		{"role:link and (title:'Go on' || name:/13$/)", `role:link and (name:"Go on" or name:/13$/)`, TermsExact,
			[]string{`link "Page 13"`, `link "Go on"`}},
		{"role:button or role:link and name:/^p/i", "role:button or role:link and name:/^p/i", Regex, []string{
			`button "Open…"`, `button "Save draft"`, `button "Autosave"`, `button (Closes the tab)`, `button "Don't ask"`,
			`link "Page 12"`, `link "Page 13"`, `button "OK"`}},
	}...) {
		q, err := Parse(c.Query, Auto)
		if err != nil {
			t.Errorf("%s: %v", c.Query, err)
			continue
		}
		assert.Check(t, is.Equal(q.String(), c.Canonical), "%s is understood as %s, want %s", c.Query, q, c.Canonical)
		expect(t, s, c.Query, Auto, c.Strategy, c.Want...)
	}
}

// TestWordsThatLookOtherwise checks that any quoted text is plain words, also in canonical form.
func TestWordsThatLookOtherwise(t *testing.T) {
	for _, words := range []string{"/a/", "/a/i", "//button", "role:button", "(name:x", `"x"`, `'x'`, " x ", `a\"b`, "x\ny name:z", "button:OK"} {
		s := &desktop.Snapshot{Elements: []desktop.Element{{Role: desktop.Button, Name: words, States: desktop.Showing, Parent: -1, End: 1}}}
		for _, strategy := range []Strategy{Auto, Exact, Contains} {
			q, err := Parse(quote(words), strategy)
			if err != nil {
				t.Errorf("%q: %v", words, err)
				continue
			}
			again, err := Parse(q.String(), strategy)
			assert.NilError(t, err, "%q %s %q %q", words, strategy, q, again)
			assert.Equal(t, again.String(), q.String(), "%q %s %q %q", words, strategy, q, again)
			found := q.Find(s, Options{Root: -1})
			same := again.Find(s, Options{Root: -1})
			assert.Assert(t, is.Len(found.Matches, 1), "%q %s %+v %q %+v", words, strategy, found, q, same)
			assert.Equal(t, same.Strategy, found.Strategy, "%q %s %+v %q %+v", words, strategy, found, q, same)
		}
	}
}

// TestEveryRoleHasItsWord compares the query's roles with those in package desktop.
func TestEveryRoleHasItsWord(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../role.go", nil, 0)
	assert.NilError(t, err)
	var roles []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if name, isName := "", false; ok {
			if ident, is := spec.Type.(*ast.Ident); is {
				name, isName = ident.Name, true
			}
			if isName && name == "Role" {
				text, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				roles = append(roles, text)
			}
		}
		return true
	})
	assert.Assert(t, len(roles) >= 50, "only %d roles were read", len(roles))
	words := strings.Fields(roleNames)
	slices.Sort(roles)
	sorted := slices.Sorted(slices.Values(words))
	assert.Check(t, slices.Equal(roles, sorted), "role.go has %q, the query language %q", roles, sorted)
	for _, line := range strings.Fields(otherRoleNames) {
		name, meaning, _ := strings.Cut(line, "=")
		assert.Assert(t, !slices.Contains(words, name), "%s can never be looked up", name)
		assert.Equal(t, plainWord(name), name)
		names, state, hasState := strings.Cut(meaning, "+")
		for role := range strings.SplitSeq(names, ",") {
			assert.Check(t, is.Contains(words, role), "%s means %s, which is no role", name, role)
		}
		assert.Check(t, !hasState || desktop.ParseState(state) != 0, "%s needs %s, which is no state", name, state)
	}
}

func TestRolesOfMacOS(t *testing.T) {
	for word, want := range map[string]desktop.Element{
		"AXButton": {Role: desktop.Button}, "AXTextField": {Role: desktop.Textbox}, "AXTextArea": {Role: desktop.Textbox, States: desktop.Multiline},
		"AXCheckBox": {Role: desktop.Checkbox}, "AXRadioButton": {Role: desktop.Radio}, "AXPopUpButton": {Role: desktop.Combobox},
		"AXComboBox": {Role: desktop.Combobox}, "AXMenuItem": {Role: desktop.MenuItem}, "AXMenuBar": {Role: desktop.Menubar}, "AXMenu": {Role: desktop.Menu},
		"AXStaticText": {Role: desktop.Text}, "AXWindow": {Role: desktop.Window}, "AXSheet": {Role: desktop.Dialog}, "AXGroup": {Role: desktop.Group},
		"AXScrollArea": {Role: desktop.Generic}, "AXTable": {Role: desktop.Table}, "AXRow": {Role: desktop.Row}, "AXCell": {Role: desktop.Cell},
		"AXOutline": {Role: desktop.TreeView}, "AXList": {Role: desktop.List}, "AXImage": {Role: desktop.Image}, "AXLink": {Role: desktop.Link},
		"AXSlider": {Role: desktop.Slider}, "AXIncrementor": {Role: desktop.Spinbutton}, "AXTabGroup": {Role: desktop.Tablist},
		"AXToolbar": {Role: desktop.Toolbar}, "AXSplitGroup": {Role: desktop.Group}, "AXProgressIndicator": {Role: desktop.Progressbar},
		"AXHeading": {Role: desktop.Heading}, "AXWebArea": {Role: desktop.Document}, "AXSecureTextField": {Role: desktop.Textbox, States: desktop.Protected},
	} {
		for _, spelling := range []string{word, strings.ToLower(word), strings.TrimPrefix(word, "AX")} {
			role, ok := lookUpRole(spelling)
			assert.Assert(t, ok, "%s does not mean %s", spelling, want.Role)
			assert.Assert(t, role.matches(&want), "%s does not mean %s", spelling, want.Role)
		}
	}
	for word, other := range map[string]desktop.Element{
		"AXSecureTextField": {Role: desktop.Textbox}, "AXTextArea": {Role: desktop.Textbox}, "AXButton": {Role: desktop.Link}, "AXMenuButton": {Role: desktop.Button},
	} {
		role, ok := lookUpRole(word)
		assert.Assert(t, ok, "%s means any %s", word, other.Role)
		assert.Assert(t, !role.matches(&other), "%s means any %s", word, other.Role)
	}
	_, ok := lookUpRole("AXNothing")
	assert.Check(t, !ok, "AXNothing is a role")
}

// FuzzParse checks that no text causes a panic, that a valid query prints as an equivalent one, and that
// searches end.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"Save", `"Save"`, "role:button and (name:'x' or value:/^a/i)", "button:Save", "title:Cut and paste id:x", "/a\\/b/i", "/usr/share/",
		"//window[@name='X']//list/option[3][last()]", "(//button[contains(., \"it's\") and not(@value)])[2]", "Status: ok", "name: x",
		"(a or role:list) && b", `name:"a\"\\\n"`, "//*[@role!='AXButton' or starts-with(@id,'q')]", "((", "role:", "a:b:c", "..._: ", `"" and name:x`,
	} {
		for n := range 7 {
			f.Add(text, uint8(n))
		}
	}
	tree := snapshottest.Read(f, editor)
	strategies := []Strategy{Auto, Exact, Contains, Regex, ByRole, Identifier, XPath}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		strategy := strategies[int(n)%len(strategies)]
		q, err := Parse(text, strategy)
		if err != nil {
			assert.Assert(t, q == nil, "%q: both a query and %v", text, err)
			return
		}
		found := q.Find(tree, Options{Root: -1})
		if len(q.String()) > MaxLength {
			return
		}
		again, err := Parse(q.String(), strategy)
		assert.NilError(t, err, "%q by %s prints as %q: %v", text, strategy, q, err)
		assert.Equal(t, again.String(), q.String(), "%q by %s prints as %q, which prints as %q", text, strategy, q, again)
		same := again.Find(tree, Options{Root: -1})
		assert.Assert(t, slices.Equal(same.Matches, found.Matches), "%q by %s finds %v, and printed as %q %v", text, strategy, found, q, same)
		assert.Equal(t, same.Strategy, found.Strategy, "%q %s %v %q %v", text, strategy, found, q, same)
		assert.Assert(t, slices.Equal(same.HiddenMatches, found.HiddenMatches), "%q by %s finds %v, and printed as %q %v", text, strategy, found, q, same)
	})
}
