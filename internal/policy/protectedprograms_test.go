package policy

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/lexicon"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

func TestLists(t *testing.T) {
	calculator := &aai.App{ID: "org.gnome.Calculator", Name: "Calculator|Rechner", Aliases: []string{"calc"}}
	window := program("keepassxc", "k")
	window.Source = "/opt/KeePassXC/keepassxc-bin"
	web := &aai.App{ID: "mail.example.com/org.example.Mail", Name: "Mail"}
	page := &aai.App{ID: "page:https://example.com", Name: "example.com", Process: aai.Process{Browser: "chromium"}}
	for name, c := range map[string]struct {
		lists AppLists
		app   *aai.App
		want  bool
	}{
		"no lists":                 {AppLists{}, calculator, true},
		"allowed by id":            {AppLists{Allowed: []string{"org.gnome.Calculator"}}, calculator, true},
		"allowed by name":          {AppLists{Allowed: []string{"calculator"}}, calculator, true},
		"by its name in German":    {AppLists{Allowed: []string{"Rechner"}}, calculator, true},
		"by alias":                 {AppLists{Allowed: []string{"CALC"}}, calculator, true},
		"by pattern":               {AppLists{Allowed: []string{"org.gnome.*"}}, calculator, true},
		"not among the allowed":    {AppLists{Allowed: []string{"Calc", "org.gnome.Calc"}}, web, false},
		"half a name is none":      {AppLists{Allowed: []string{"org.gnome"}}, calculator, false},
		"denied":                   {AppLists{Denied: []string{"org.gnome.*"}}, calculator, false},
		"denied wins":              {AppLists{Allowed: []string{"*"}, Denied: []string{"rechner"}}, calculator, false},
		"another is denied":        {AppLists{Denied: []string{"org.kde.*"}}, calculator, true},
		"a window by short name":   {AppLists{Denied: []string{"KeePassXC"}}, window, false},
		"a window by id":           {AppLists{Denied: []string{"desktop/keepassxc"}}, window, false},
		"a window by executable":   {AppLists{Denied: []string{"/opt/KeePassXC/*"}}, window, false},
		"by its base":              {AppLists{Denied: []string{"keepassxc-*"}}, window, false},
		"a site by pattern":        {AppLists{Denied: []string{"mail.example.com/*"}}, web, false},
		"a page by its browser":    {AppLists{Denied: []string{"chromium"}}, page, false},
		"a page of another one":    {AppLists{Denied: []string{"firefox"}}, page, true},
		"an allowed browser only":  {AppLists{Allowed: []string{"desktop/chromium"}}, page, false},
		"every site":               {AppLists{Denied: []string{"*"}}, web, false},
		"a pattern that is broken": {AppLists{Denied: []string{"["}}, calculator, true},
	} {
		t.Run(name, func(t *testing.T) {
			want := "PERMISSION_DENIED"
			if c.want {
				want = "admits"
			}
			r := asking(notesApp("d"), "list")
			r.App, r.Call.Target = c.app, c.app
			assert.Check(t, is.Equal(check(c.lists, r), want))
		})
	}
	// The app of the tool counts too, and the gateway itself is not listed.
	r := operating(program("editor", "e"), "click")
	assert.Check(t, is.Equal(check(AppLists{Denied: []string{"desktop"}}, r), "PERMISSION_DENIED"))
	assert.Check(t, is.Equal(check(AppLists{Allowed: []string{"editor"}}, r), "admits"))
	got := check(AppLists{Allowed: []string{"editor"}}, operating(nil, "look"))
	assert.Check(t, is.Equal(got, "PERMISSION_DENIED"), "the whole screen: %s", got)
	noWindow := operating(nil, "look")
	noWindow.Tool = &aai.Tool{Name: "programs", Effect: aai.Reads, Target: "app", Params: aai.Schema{Source: []byte("{}")}}
	got = check(AppLists{Denied: []string{"x"}}, noWindow)
	assert.Check(t, is.Equal(got, "admits"), "a tool about no window: %s", got)
	got = check(AppLists{Denied: []string{"x"}}, operating(nil, "look"))
	assert.Check(t, is.Equal(got, "PERMISSION_DENIED"), "the whole screen shows what is denied: %s", got)
	assert.Check(t, is.Equal(check(AppLists{Denied: []string{"*"}}, ownRequest(aai.DoorMCP, "guide", aai.Reads)), "admits"))
	first := func(entries ...string) string {
		entry, found := FirstInvalidPattern(entries)
		return fmt.Sprintf("%q %v", entry, found)
	}
	assert.Check(t, is.Equal(first("a*", "["), `"[" true`))
	assert.Check(t, is.Equal(first("a", "*"), `"" false`))
	assert.Check(t, is.Equal(first("a", " "), `" " true`))
	assert.Check(t, is.Equal(first("a", "", "["), `"" true`))
}

// TestToActIsNotToDestroy checks that permission to click does not cover "Delete".
func TestToActIsNotToDestroy(t *testing.T) {
	d := newDesk(Grant{Caller: Wildcard, App: "desktop/editor", Tool: aai.PermissionAct, Decision: Allow})
	deleting := func() *aai.Request {
		r := operating(program("editor", "e"), "click")
		r.Destructive = true
		return r
	}
	d.admits(t, operating(program("editor", "e"), "click"))
	q := d.question(t, deleting())
	assert.Check(t, is.Contains(q.Title, "that may not be undone"))
	for _, c := range q.Choices {
		assert.Check(t, c.ID != choiceAll, "all is offered")
	}
	d.admits(t, answered(deleting(), q, choiceSession))
	d.admits(t, deleting())
	all := newDesk()
	q = all.question(t, operating(program("editor", "e"), "click"))
	all.admits(t, answered(operating(program("editor", "e"), "click"), q, choiceAll))
	all.question(t, deleting())
}

// TestTheQuestionSaysWhy checks that the question names the word or key that makes a click destructive.
func TestTheQuestionSaysWhy(t *testing.T) {
	gate := risk.NewDestructiveMarker(lexicon.DestructiveWords())
	for _, c := range []struct {
		hit  aai.TargetElement
		want string
	}{
		{aai.TargetElement{Role: "button", Name: "AC", AllText: "AC Clear All"}, `It may not be undone, because of the word "clear all" there`},
		{aai.TargetElement{Role: "button", Name: "Save", AllText: "Save 全部删除文件"}, `It may not be undone, because of the word "删除" there`},
		{aai.TargetElement{Role: "textbox", Name: "Notes", Key: "ctrl+w", Irreversible: true}, `It may not be undone, because of the key "ctrl+w"`},
		{aai.TargetElement{Role: "button", Name: "Reload", Irreversible: true}, ""}, // the window's text is the reason
		{aai.TargetElement{Role: "button", Name: "Save", AllText: "Save"}, ""},
	} {
		r := operating(program("editor", "e"), "click")
		app := *r.App
		app.Operator = fakeoperator.Operator{Resolve: func(context.Context, *aai.Call) aai.TargetElement { return c.hit }}
		r.App = &app
		check(gate, r)
		q := newDesk().question(t, r)
		var why []string
		for line := range strings.SplitSeq(q.Text, "\n") {
			if strings.Contains(line, "undone, because") {
				why = append(why, line)
			}
		}
		assert.Check(t, is.Equal(strings.Join(why, "|"), c.want), c.hit)
	}
}

// TestTheQuestionNamesWhatIsHit checks that the question names the element, and that the answer is bound
// to it.
func TestTheQuestionNamesWhatIsHit(t *testing.T) {
	deleting := func(name string) *aai.Request {
		r := operating(program("editor", "e"), "click")
		r.Destructive, r.Element = true, aai.TargetElement{Role: "button", Name: name, Window: "Notes", AllText: name}
		return r
	}
	d := newDesk()
	q := d.question(t, deleting("Delete draft\nIn: all"))
	want := aai.QuoteMark + `On: button "Delete draft\nIn: all" in "Notes"`
	assert.Check(t, is.Contains(strings.Split(q.Text, "\n"), want), "the question is\n%s\nwant the line %s", q.Text, want)
	d.refuses(t, answered(deleting("Delete account"), q, choiceOnce), aai.ConsentRequired)
	d.admits(t, answered(deleting("Delete draft"), d.question(t, deleting("Delete draft")), choiceOnce))
	// Permission to act does not cover destruction.
	act := operating(program("editor", "e"), "click")
	q = d.question(t, act)
	d.refuses(t, answered(deleting("Delete draft"), q, choiceOnce), aai.ConsentRequired)
}
