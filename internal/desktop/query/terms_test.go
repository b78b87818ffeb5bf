package query

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

func TestTerms(t *testing.T) {
	s := snapshottest.Read(t, editor)
	for _, c := range []struct {
		query, canonical string
		strategy         Strategy
		want             []string
	}{
		{"role:slider", "role:slider", ByRole, []string{`slider "Volume"`}},
		{"ROLE:AXSlider", "ROLE:AXSlider", ByRole, []string{`slider "Volume"`}},
		{"role:slider or role:list", "role:slider or role:list", ByRole, []string{`slider "Volume"`, `list "Fruits"`}},
		{"title:Apple", "title:Apple", TermsExact, []string{`option "Apple"`}},
		{"label:apple", "label:apple", TermsLoose, []string{`option "Apple"`}},
		{"name:pie", "name:pie", TermsContains, []string{`option "Apple pie"`}},
		{"name:agree", "name:agree", TermsContains, []string{`checkbox "Disagree"`}},
		{"name: Apple", "name: Apple", TermsExact, []string{`option "Apple"`}},
		{"value:40", "value:40", TermsExact, []string{`slider "Volume"`}},
		{"description:closes", "description:closes", TermsContains, []string{`button (Closes the tab)`}},
		{"identifier:save-draft", "identifier:save-draft", TermsExact, []string{`button "Save draft"`}},
		{"role:button title:Open", `role:button and name:"Open"`, TermsLoose, []string{`button "Open…"`}},
		{"role:button && title:Open…", `role:button and name:"Open…"`, TermsExact, []string{`button "Open…"`}},
		{"role:button AND Save draft", `role:button and name:"Save draft"`, TermsExact, []string{`button "Save draft"`}},
		{"Save draft role:button", `name:"Save draft" and role:button`, TermsExact, []string{`button "Save draft"`}},
		{"button:Save draft", "button:Save draft", TermsExact, []string{`button "Save draft"`}},
		{`AXButton:"Save draft"`, `role:axbutton and name:"Save draft"`, TermsExact, []string{`button "Save draft"`}},
		{"(role:link or role:button) and title:Go on", `(role:link or role:button) and name:"Go on"`, TermsExact, []string{`link "Go on"`}},
		{"role:link and (title:'Go on' || name:/13$/)", `role:link and (name:"Go on" or name:/13$/)`, TermsExact,
			[]string{`link "Page 13"`, `link "Go on"`}},
		{"role:button or role:link and name:/^p/i", "role:button or role:link and name:/^p/i", Regex, []string{
			`button "Open…"`, `button "Save draft"`, `button "Autosave"`, `button (Closes the tab)`, `button "Don't ask"`,
			`link "Page 12"`, `link "Page 13"`, `button "OK"`}},
		{"((role:list))", "role:list", ByRole, []string{`list "Fruits"`}},
		{"role:password", "role:password", ByRole, []string{`textbox "Secret"`}},
		{`role:"menu item" name:file`, `role:menuitem and name:"file"`, TermsLoose, []string{`menuitem "_File"`}},
		{"title:Terms and conditions", "title:Terms and conditions", "", nil},
		{"title:Save (Ctrl+S) and role:button", `name:"Save (Ctrl+S)" and role:button`, "", nil},
		{"(title:Save (Ctrl+S) or role:list)", `name:"Save (Ctrl+S)" or role:list`, TermsExact, []string{`list "Fruits"`}},
		{"name:/usr/share", "name:/usr/share", "", nil},
		{"role:link and https://x", `role:link and name:"https://x"`, "", nil},
		{"role:link and 12:30", `role:link and name:"12:30"`, "", nil},
		// Text in the form of a role and a name may be a name.
		{"Status: ready", "Status: ready", NameExact, []string{`text "Status: ready"`}},
		{"status:ready", "status:ready", TermsExact, []string{`status "ready"`}},
		{"Name:", "Name:", NameContains, []string{`textbox "Full name:"`}},
	} {
		q, err := Parse(c.query, Auto)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		assert.Check(t, is.Equal(q.String(), c.canonical), "%s is understood as %s, want %s", c.query, q, c.canonical)
		expect(t, s, c.query, Auto, c.strategy, c.want...)
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
