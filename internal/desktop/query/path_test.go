package query

import (
	"fmt"
	"slices"
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
	for _, c := range []struct {
		query, canonical string
		want             []int
	}{
		{"//button", "", []int{10, 12, 13}},
		{"//button[@name='Save']", "", []int{10, 12}},
		{`//button[@name="Save"]`, "//button[@name='Save']", []int{10, 12}},
		{"//AXButton[@AXTitle='Save']", "//axbutton[@name='Save']", []int{10, 12}},
		{"//window[@name='Main']//button", "", []int{10}},
		{"//list/listitem[2]", "", []int{4, 9}},
		{"//window[@name='Main']//list/listitem[3]", "", nil},
		{"//list//listitem[1]", "", []int{2, 6, 8}},
		{"(//listitem)[2]", "", []int{4}},
		{"(//listitem[@name])[last()]", "", []int{9}},
		{"//listitem[last()]", "", []int{4, 6, 9}},
		{"//listitem[contains(@name,'l')]", "", []int{2, 4, 9}},
		{"//listitem[contains(@name,'l')][2]", "", []int{4}},
		{"//listitem[2][contains(@name,'l')]", "", []int{4, 9}},
		{"//*[starts-with(@name,'C')]", "", []int{6, 7, 13}},
		{"//*[@identifier='plum']", "", []int{4}},
		{"//*[@id='plum' or @description='Keeps it']", "//*[@identifier='plum' or @description='Keeps it']", []int{4, 10}},
		{"//*[@value]", "", []int{13}},
		{"//button[not(@value)]", "", []int{10, 12}},
		{"//button[@name!='Save']", "", []int{13}},
		{"//*[@role='button' and @name='Cancel']", "", []int{13}},
		{"//*[@role!='listitem']/button[1]", "", []int{10, 12}},
		{"//button[text()='Save' and (@value or @description)]", "//button[@name='Save' and (@value or @description)]", []int{10}},
		{"//button[contains(., 'Sav')]", "//button[contains(@name,'Sav')]", []int{10, 12}},
		{`//listitem[@name="it's \"blue\""]`, "", nil},
		{`//listitem[contains(@name,"it's")]`, "", []int{9}},
		{"//window/*", "", []int{1, 7, 10}},
		{" //window / button [ @name = 'Save' ] ", "//window/button[@name='Save']", []int{10}},
		{"//window/listitem", "", nil},
	} {
		q, err := Parse(c.query, Auto)
		if err != nil {
			assert.Assert(t, c.want == nil, "%s %v", c.query, err)
			assert.Equal(t, c.canonical, "", "%s %v", c.query, err)
			continue
		}
		want := c.canonical
		if want == "" {
			want = c.query
		}
		assert.Check(t, is.Equal(q.String(), want), "%s is understood as %s, want %s", c.query, q, want)
		if found := q.Find(s, Options{Root: -1}); !slices.Equal(found.Matches, c.want) {
			t.Errorf("%s: %s, want %v", c.query, say(s, found.Matches), c.want)
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
