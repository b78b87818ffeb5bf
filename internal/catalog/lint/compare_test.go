package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/lint"
)

// versioned returns a descriptor of a version, with tools and other members.
func versioned(version, tools, more string) string {
	return fmt.Sprintf(`{"schema_version": "1.0", "version": %q, "appId": "org.example.Mail", "name": "Mail", "description": "Mails.", %s
		"platforms": {"linux": {"automation": "dbus", "service": "a.b", "object": "/", "interface": "a.b", "tools": [%s]}}}`, version, more, tools)
}

const (
	search = `{"name": "search", "description": "Search for items", "method": "Search", "parameters": {"type": "object",
		"properties": {"query": {"type": "string", "description": "Search query"}, "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
			"sort": {"enum": ["up", "down"]}, "where": {"type": "object", "properties": {"folder": {"type": "string"}}}, "tags": {"type": "array", "items": {"type": "string"}}},
		"required": ["query"]}, "returns": {"type": "object", "properties": {"id": {"type": "string"}, "kind": {"enum": ["a", "b"]}}, "required": ["id"]}}`
	other = `{"name": "count", "description": "Count items", "method": "Count", "effect": "changes"}`
)

func compare(t *testing.T, a, b string) *answer.LintComparison {
	t.Helper()
	c, err := lint.Compare([]byte(a), []byte(b), catalog.Options{})
	assert.NilError(t, err)
	return c
}

// TestTheProtocolsTable checks the seven rows of the protocol's table, in its order.
func TestTheProtocolsTable(t *testing.T) {
	without := strings.Replace(search, `"description": "Search for items", `, ``, 1)
	for _, row := range []struct {
		change, before, after, from, to string
		want                            answer.Bump
	}{
		{"Add new tool", search, search + "," + other, "1.0.0", "1.1.0", answer.Minor},
		{"Add optional parameter", search, strings.Replace(search, `"sort"`, `"page": {"type": "integer"}, "sort"`, 1), "1.0.0", "1.1.0", answer.Minor},
		{"Add tool description", without, search, "1.0.0", "1.0.1", answer.Patch},
		{"Remove tool", search + "," + other, search, "1.0.0", "2.0.0", answer.Major},
		{"Add required parameter", search, strings.NewReplacer(`"sort"`, `"page": {"type": "integer"}, "sort"`, `["query"]`, `["query", "page"]`).Replace(search), "1.0.0", "2.0.0", answer.Major},
		{"Rename tool", search, strings.Replace(search, `"search"`, `"find"`, 1), "1.0.0", "2.0.0", answer.Major},
		{"Change parameter type", search, strings.Replace(search, `"type": "integer"`, `"type": "number"`, 1), "1.0.0", "2.0.0", answer.Major},
	} {
		t.Run(row.change, func(t *testing.T) {
			assert.Assert(t, row.before != row.after, "nothing was changed")
			c := compare(t, versioned(row.from, row.before, ""), versioned(row.to, row.after, ""))
			assert.Equal(t, c.RequiredBump, row.want, "%+v", c)
			assert.Equal(t, c.ActualBump, row.want, "%+v", c)
			assert.Assert(t, c.IsSufficient, "%+v", c)
			assert.Equal(t, c.Changes[0].Bump, row.want, "%+v", c)
			for _, made := range []string{"1.0.0", "1.0.1", "1.1.0", "2.0.0"} {
				c := compare(t, versioned(row.from, row.before, ""), versioned(made, row.after, ""))
				assert.Check(t, is.Equal(c.IsSufficient, (c.ActualBump >= row.want)), "%s %+v", made, c)
			}
		})
	}
}

// TestTheRuleOfThumb checks changes that the table omits by its rule: MAJOR for changes that may
// break an agent, MINOR for new features, PATCH for fixes.
func TestTheRuleOfThumb(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     answer.Bump
	}{
		{`"Search query"`, `"What to search for"`, answer.Patch},
		{`"method": "Search"`, `"method": "SearchAll"`, answer.Patch},
		{`"method": "Search"`, `"method": "Search", "timeout": 5`, answer.Patch},
		{`"method": "Search"`, `"method": "Search", "x-note": 1`, answer.Patch},
		{`"method": "Search"`, `"method": "Search", "effect": "reads"`, answer.Minor},
		{`"effect": "changes"`, `"effect": "destroys"`, answer.Major},
		{`"limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},`, ``, answer.Major},
		{`"default": 10`, `"default": 20`, answer.Minor},
		{`"maximum": 100`, `"maximum": 99.5`, answer.Major},
		{`"maximum": 100`, `"maximum": 101`, answer.Minor},
		{`, "maximum": 100`, ``, answer.Minor},
		{`"minimum": 1,`, `"minimum": 0,`, answer.Minor},
		{`"minimum": 1,`, `"minimum": 2,`, answer.Major},
		{`"sort": {"enum": ["up", "down"]}`, `"sort": {"enum": ["up", "down", "none"]}`, answer.Minor},
		{`"sort": {"enum": ["up", "down"]}`, `"sort": {"enum": ["up"]}`, answer.Major},
		{`"sort": {"enum": ["up", "down"]}`, `"sort": {"enum": ["down", "up"]}`, answer.Patch},
		{`"sort": {"enum": ["up", "down"]}`, `"sort": {}`, answer.Minor},
		{`"required": ["query"]}, "returns"`, `"required": []}, "returns"`, answer.Minor},
		{`"required": ["query"]}, "returns"`, `"required": ["query", "limit"]}, "returns"`, answer.Major},
		{`"required": ["query"]}, "returns"`, `"required": ["query"], "additionalProperties": false}, "returns"`, answer.Major},
		{`"folder": {"type": "string"}`, `"folder": {"type": "integer"}`, answer.Major},
		{`"folder": {"type": "string"}`, `"folder": {"type": "string"}, "deep": {}`, answer.Minor},
		{`"items": {"type": "string"}`, `"items": {"type": "integer"}`, answer.Major},
		{`"query": {"type": "string", `, `"query": {"type": "string", "pattern": "^a", `, answer.Major},
		{`"query": {"type": "string", `, `"query": {"type": "string", "anyOf": [{}], `, answer.Major},
		{`"id": {"type": "string"}`, `"id": {"type": "integer"}`, answer.Major},
		{`"id": {"type": "string"}`, `"id": {"type": "string"}, "more": {}`, answer.Minor},
		{`"kind": {"enum": ["a", "b"]}`, `"kind": {"enum": ["a", "b", "c"]}`, answer.Major}, // an agent does not know "c"
		{`"kind": {"enum": ["a", "b"]}`, `"kind": {"enum": ["a"]}`, answer.Minor},
		{`, "required": ["id"]`, ``, answer.Major},
		{`"linux": {`, `"ios": {"automation": "url_scheme", "scheme": "x", "tools": []}, "linux": {`, answer.Minor},
		{`"org.example.Mail"`, `"org.example.Post"`, answer.Major},
		{`"aliases": ["m"],`, ``, answer.Major},
		{`"aliases": ["m"],`, `"aliases": ["m", "n"],`, answer.Minor},
		{`"Mails."`, `"Sends mails."`, answer.Patch},
	} {
		before := versioned("1.2.3", search+","+other, `"aliases": ["m"],`)
		after := strings.Replace(before, test.from, test.to, 1)
		assert.Assert(t, before != after, "%s is not there", test.from)
		c := compare(t, before, after)
		assert.Check(t, is.Equal(c.RequiredBump, test.want), "%s %s %+v", test.from, test.to, c)
		assert.Check(t, !c.IsSufficient, "%s %s %+v", test.from, test.to, c)
		assert.Check(t, compare(t, after, before).RequiredBump != answer.NoBump, "%s -> %s: nothing when taken back", test.to, test.from)
	}
}

// TestComparisonFollowsReferences checks that references count by their targets.
func TestComparisonFollowsReferences(t *testing.T) {
	at := func(params string) string {
		return versioned("1.0.0", `{"name": "t", "method": "M", "parameters": `+params+`}`, "")
	}
	inline := at(`{"properties": {"a": {"type": "string"}}}`)
	same := at(`{"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": {"type": "string"}}}`)
	changed := at(`{"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": {"type": "integer"}}}`)
	c := compare(t, inline, same)
	assert.Check(t, is.Equal(c.RequiredBump, answer.Patch), "moved into a definition: %+v", c)
	c = compare(t, same, changed)
	assert.Check(t, is.Equal(c.RequiredBump, answer.Major), "a changed definition: %+v", c)
}

// TestAgainst checks that the finding at "version" names the required version.
func TestAgainst(t *testing.T) {
	before := versioned("1.4.2", search+","+other, "")
	for _, test := range []struct{ to, tools, want string }{
		{"1.4.2", search + "," + other, ""},
		{"2.0.0", search, ""},
		{"1.5.0", search, `is 1.5.0 after 1.4.2 (MINOR), but needs MAJOR: platforms.linux.tools[1] was removed: the tool count. Make it 2.0.0.`},
		{"1.4.2", strings.Replace(search, "Search query", "Query", 1) + "," + other, `is 1.4.2 after 1.4.2 (not raised), but needs PATCH: platforms.linux.tools[0].parameters.properties.query is described in other words. Make it 1.4.3.`},
		{"1.4.3", search + "," + other, ""},
		{"1.4.1", search + "," + other, "is 1.4.1, which comes before 1.4.2. Raise it."},
		{"2.0.0-rc.1", search, ""},
	} {
		r := lint.CheckAgainst([]byte(versioned(test.to, test.tools, "")), []byte(before), catalog.Options{})
		got := ""
		for _, f := range r.Findings {
			if f.Severity == answer.SeverityError {
				got += f.Problem + ". " + f.Fix
				assert.Check(t, is.Equal(f.Path, "version"), "%+v", f)
				assert.Check(t, is.Equal(f.Rule, "semver"), "%+v", f)
				assert.Check(t, is.Equal(f.Line, 1), "%+v", f)
			}
		}
		assert.Equal(t, got, test.want, test.to)
		assert.Assert(t, r.Comparison != nil, test.to)
		assert.Equal(t, r.Comparison.IsSufficient, (test.want == ""), test.to)
	}
	r := lint.CheckAgainst([]byte(before), []byte(`{}`), catalog.Options{})
	assert.Assert(t, r.HasSeverity(answer.SeverityError), "against what is none: %+v", r)
	assert.Assert(t, r.Comparison == nil, "against what is none: %+v", r)
}

// TestMajorZero checks that before 1.0.0 nothing is promised.
func TestMajorZero(t *testing.T) {
	c := compare(t, versioned("0.3.1", search+","+other, ""), versioned("0.4.0", search, ""))
	assert.Check(t, is.Equal(c.RequiredBump, answer.Major), "%+v", c)
	assert.Check(t, is.Equal(c.ActualBump, answer.Minor), "%+v", c)
	assert.Check(t, c.IsSufficient, "%+v", c)
	c = compare(t, versioned("0.3.1", search+","+other, ""), versioned("0.3.2", search, ""))
	assert.Check(t, !c.IsSufficient, "%+v", c)
}

func TestVersions(t *testing.T) {
	// In the order of precedence, from the specification, sections 2, 9 and 11.
	ordered := []string{
		"0.0.4", "1.0.0-0.3.7", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1",
		"1.2.0", "1.10.0", "2.0.0", "2.1.0", "2.1.1", "10.0.0", "99999999999.0.0",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			c := compare(t, versioned(a, search, ""), versioned(b, search, ""))
			assert.Check(t, is.Equal(c.IsSufficient, (i <= j)), "%s %s %+v", a, b, c)
		}
	}
	for _, wrong := range []string{"", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3.4", "1.2.-3", " 1.2.3", "1.2.99999999999999999999", "a"} {
		_, err := lint.Compare([]byte(versioned(wrong, search, "")), []byte(versioned("1.0.0", search, "")), catalog.Options{})
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%q %v", wrong, err)
		assert.Equal(t, e.Code, aai.DescriptorInvalid, "%q %v", wrong, err)
		assert.Assert(t, strings.HasPrefix(e.Message, "version: "), "%q %v", wrong, err)
	}
	for _, right := range []string{"1.2.3+build.5", "1.2.3-a.b-c+x.007"} {
		compare(t, versioned(right, search, ""), versioned(right, search, ""))
	}
}

// TestEveryChangeIsSeen checks that two descriptors with different JSON need some bump, in both
// directions.
func TestEveryChangeIsSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := encoded(t, anyApp(t)), encoded(t, anyApp(t))
		c, err := lint.Compare(a, b, catalog.Options{})
		assert.NilError(t, err)
		back, err := lint.Compare(b, a, catalog.Options{})
		assert.NilError(t, err)
		assert.Equal(t, (c.RequiredBump == answer.NoBump), (back.RequiredBump == answer.NoBump), "%+v %+v", c, back)
		assert.Assert(t, c.RequiredBump != answer.NoBump || len(c.Changes) <= 0, "%+v %+v", c, back)
		for i, change := range c.Changes {
			if change.Problem == "" || change.Bump == answer.NoBump || i > 0 && change.Bump > c.Changes[i-1].Bump {
				t.Fatalf("%+v", c.Changes)
			}
		}
	})
}
