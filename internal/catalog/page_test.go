package catalog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// huge returns an app of a thousand tools in groups.
func huge(t *testing.T) *aai.App {
	t.Helper()
	app := *mustParse(t, manyTools(1, "what it is about"), Options{HostPlatform: "linux"}).App
	one := app.Tools[0]
	app.Tools = nil
	for i := range 1000 {
		tool := *one
		tool.Name, tool.Description = fmt.Sprintf("%s_do_%d", []string{"issues", "pulls", "releases", "wiki"}[i%4], i), "Does a thing to what is named."
		app.Tools = append(app.Tools, &tool)
	}
	return &app
}

// TestAHugeGuideHasPages checks that pages show each operation once, have a limited length, and
// name the next page.
func TestAHugeGuideHasPages(t *testing.T) {
	app := huge(t)
	for _, group := range []string{"", "pulls"} {
		var want, got []string
		for _, tool := range app.Tools {
			if strings.HasPrefix(tool.Name, group) {
				want = append(want, tool.Name)
			}
		}
		page, pages := Page{Group: group}, 0
		for {
			text, data, err := GuidePage(app, page)
			assert.NilError(t, err, "%+v %d", page, len(text))
			assert.Assert(t, len(text) <= maxPage+3000, "%+v: %d bytes, %v", page, len(text), err)
			for _, o := range data.(*guide).Operations {
				got = append(got, o.Name)
				assert.Assert(t, is.Contains(text, "\n- "+o.Name+"("), "%+v %s", page, o.Name)
			}
			pages++
			next := regexp.MustCompile(`"after": "(\w+)"`).FindStringSubmatch(text)
			if next == nil {
				break
			}
			page.After = next[1]
		}
		assert.Assert(t, slices.Equal(got, want), "%q: %d operations on %d pages, expected %d", group, len(got), pages, len(want))
		assert.Assert(t, pages >= 2, "%q: %d operations on %d pages, expected %d", group, len(got), pages, len(want))
	}
	if text := Guide(app); !strings.Contains(text, "issues (250), pulls (250), releases (250), wiki (250).") || !strings.Contains(text, `"group": "issues"`) {
		t.Errorf("no word of the groups:\n%s", text[:1500])
	}
}

func TestPagesThatThereAreNot(t *testing.T) {
	app := huge(t)
	for _, c := range []struct {
		page Page
		says string
	}{{Page{Group: "pull"}, "group: "}, {Page{After: "pulls_do_2"}, "after: "}, {Page{Group: "pulls", After: "issues_do_0"}, "after: "}} {
		text, _, err := GuidePage(app, c.page)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%+v %v", c.page, err)
		assert.Equal(t, e.Code, aai.InvalidParams, "%+v %v", c.page, err)
		assert.Assert(t, strings.HasPrefix(e.Message, c.says), "%+v %v", c.page, err)
		assert.Assert(t, e.Hint != "", "%+v %v", c.page, err)
		assert.Equal(t, text, "", "%+v %v", c.page, err)
	}
	text, _, err := GuidePage(app, Page{After: app.Tools[999].Name})
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(text, "None."))
}

func TestGroups(t *testing.T) {
	for name, want := range map[string]string{
		"issues_create": "issues", "issuesCreate": "issues", "issues.create": "issues", "HTTPGet": "HTTPGet", "list": "list", "set-volume": "set", "_x": "_x", "": "",
	} {
		assert.Check(t, is.Equal(firstWord(name), want), "%q", name)
	}
}
