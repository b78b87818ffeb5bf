package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// completed returns the suggestions.
func (c *wire) completed(ref, argument, value, said string) []string {
	c.t.Helper()
	var got struct {
		Completion struct {
			Values  []string
			Total   int
			HasMore bool
		}
	}
	c.get("completion/complete", fmt.Sprintf(`{"ref":%s,"argument":{"name":%q,"value":%q},"context":{"arguments":%s}}`, ref, argument, value, said), &got)
	assert.Check(c.t, is.Equal(got.Completion.HasMore, (got.Completion.Total > len(got.Completion.Values))), "%s %s %q %+v", ref, argument, value, got)
	assert.Check(c.t, len(got.Completion.Values) <= 100, "%s %s %q %+v", ref, argument, value, got)
	return got.Completion.Values
}

func prompted1(name string) string { return fmt.Sprintf(`{"type":"ref/prompt","name":%q}`, name) }
func templated(uri string) string  { return fmt.Sprintf(`{"type":"ref/resource","uri":%q}`, uri) }

func TestCompletions(t *testing.T) {
	w := newWorld(t, withDesktop)
	w.catalog.apps = append(w.catalog.apps,
		w.app("org.example.Calendar", "Calendar", ""), w.app("com.example.calc", "Calculator|Rechner", ""))
	c := w.dial(t).open("2025-11-25", `{}`)
	for _, try := range []struct{ ref, argument, value, said, want string }{
		// Running programs come first, then listed apps.
		{prompted1("navigate-to"), "app_name", "", `{}`, "Editor Notes Calendar Calculator"},
		{prompted1("navigate-to"), "app_name", "cal", `{}`, "Calendar Calculator"},
		{prompted1("navigate-to"), "app_name", "calculatr", `{}`, "Calculator Calendar"},
		{prompted1("navigate-to"), "app_name", "xyzzyxyzzy", `{}`, ""},
		{prompted1("navigate-to"), "destination", "x", `{}`, ""},
		// The value of the other argument is not suggested.
		{prompted1("cross-app-copy"), "target_app", "", `{"source_app":"editor"}`, "Notes Calendar Calculator"},
		{prompted1("cross-app-copy"), "source_app", "", `{"source_app":"editor"}`, "Editor Notes Calendar Calculator"},
		{prompted1("automate-workflow"), "apps", "Editor, cal", `{}`, "Editor, Calendar Editor, Calculator"},
		{prompted1("test-app"), "focus_area", "bar", `{}`, "toolbar menu bar sidebar tab bar status bar"},
		{prompted1("extract-data"), "output_format", "", `{}`, "json csv markdown"},
		{prompted1("accessibility-audit"), "standard", "aaa", `{}`, "AAA"},
		// The ids of apps are unchanged.
		{templated("app:{+id}"), "id", "", `{}`, notes + " org.example.Calendar com.example.calc"},
		{templated("app:{+id}"), "id", "CAL", `{}`, "org.example.Calendar com.example.calc"},
		{templated("guide:{+id}"), "id", "desk", `{}`, "desktop"},
		{templated("app:" + notes), "id", "x", `{}`, ""},
	} {
		assert.Check(t, is.Equal(strings.Join(c.completed(try.ref, try.argument, try.value, try.said), " "), try.want), "%s %s %q %s", try.ref, try.argument, try.value, try.said)
	}
}

func TestCompletionsThatCannotBe(t *testing.T) {
	c := newWorld(t, withDesktop).dial(t).open("2025-11-25", `{}`)
	for params, word := range map[string]string{
		`{"ref":{"type":"ref/prompt","name":"nobody"},"argument":{"name":"x","value":""}}`:             `no prompt "nobody"`,
		`{"ref":{"type":"ref/prompt","name":"navigate-to"},"argument":{"name":"x","value":""}}`:        "app_name, destination",
		`{"ref":{"type":"ref/resource","uri":"file:///{path}"},"argument":{"name":"path","value":""}}`: "no template",
		`{"ref":{"type":"ref/resource","uri":"app:{+id}"},"argument":{"name":"path","value":""}}`:      `no "path", but id`,
		`{"argument":{"name":"path","value":""}}`:                                                      "ref",
	} {
		c.refused(-32602, word, "completion/complete", params)
	}
	m := c.ask("completion/complete", `{"ref":{"type":"ref/other"},"argument":{"name":"path","value":""}}`)
	assert.Check(t, m.Error != nil, "a reference of no kind: %s", m.Result)
}

// TestManyCompletions: there may be more values than a completion can have.
func TestManyCompletions(t *testing.T) {
	w := newWorld(t)
	for i := range 150 {
		w.catalog.apps = append(w.catalog.apps, w.app(fmt.Sprintf("org.example.App%03d", i), "App", ""))
	}
	c := w.dial(t).open("2025-11-25", `{}`)
	got := c.completed(templated("app:{+id}"), "id", "app", `{}`)
	assert.Assert(t, is.Len(got, 100))
	assert.Equal(t, got[0], "org.example.App000")
}

// TestCompletionsAskNobody checks that a completion asks no questions: it does not suggest programs
// that the caller may not see without one, and shows no dialog.
func TestCompletionsAskNobody(t *testing.T) {
	asked := 0
	w := newWorld(t, withDesktop, withGate(asksByDialog), withDialog(func() { asked++ }))
	c := w.dial(t).open("2025-11-25", elicitationCapability)
	for range 3 { // with each key that is pressed
		got := c.completed(prompted1("navigate-to"), "app_name", "", `{}`)
		assert.Check(t, slices.Equal(got, []string{"Notes"}), "proposed %q", got)
	}
	assert.Check(t, asked <= 0, "%d questions were asked", asked)
	got := w.journal.outcomes("ax_list_apps")
	assert.Check(t, is.Equal(got[aai.ConsentRequired], 1), "on record: %v", got)
}
