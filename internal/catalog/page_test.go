package catalog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

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
			if err != nil || len(text) > maxPage+3000 {
				t.Fatalf("%+v: %d bytes, %v", page, len(text), err)
			}
			for _, o := range data.(*guide).Operations {
				got = append(got, o.Name)
				if !strings.Contains(text, "\n- "+o.Name+"(") {
					t.Fatalf("%+v: no word of %s:\n%s", page, o.Name, text)
				}
			}
			pages++
			next := regexp.MustCompile(`"after": "(\w+)"`).FindStringSubmatch(text)
			if next == nil {
				break
			}
			page.After = next[1]
		}
		if !slices.Equal(got, want) || pages < 2 {
			t.Errorf("%q: %d operations on %d pages, expected %d", group, len(got), pages, len(want))
		}
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
		if e == nil || e.Code != aai.InvalidParams || !strings.HasPrefix(e.Message, c.says) || e.Hint == "" || text != "" {
			t.Errorf("%+v: %v, %q", c.page, err, text)
		}
	}
	if text, _, err := GuidePage(app, Page{After: app.Tools[999].Name}); err != nil || !strings.Contains(text, "None.") {
		t.Errorf("behind the last: %v, %s", err, text)
	}
}

func TestGroups(t *testing.T) {
	for name, want := range map[string]string{
		"issues_create": "issues", "issuesCreate": "issues", "issues.create": "issues", "HTTPGet": "HTTPGet", "list": "list", "set-volume": "set", "_x": "_x", "": "",
	} {
		if got := firstWord(name); got != want {
			t.Errorf("%q is of %q, expected %q", name, got, want)
		}
	}
}
