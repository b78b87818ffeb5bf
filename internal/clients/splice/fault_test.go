package splice_test

import (
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/clients/splice"
)

// TestFaultsHaveNothingOfTheText checks that they have the position and the expected syntax; the
// text may be a secret.
func TestFaultsHaveNothingOfTheText(t *testing.T) {
	for _, c := range []struct {
		format splice.Format
		text   string
		said   string
	}{
		{splice.JSON, `{"a": "ghp_\qSECRET"}`, "line 1, column 7: expected JSON, with or without comments; here a value: a text in double quotation marks, a number, true, false or null"},
		{splice.JSON, `{"a": ghp_}`, "line 1, column 7: "},
		{splice.JSON, `{"a" ghp_}`, "line 1, column 6: expected JSON, with or without comments; here a colon"},
		{splice.JSON, `{"a": "ghp_"`, "here more, for the text ends too early"},
		{splice.JSON, `{} ghp_`, "line 1, column 4: "},
		{splice.JSON, `{ghp_: 1}`, "line 1, column 2: "},
		{splice.TOML, "ghp_1 = 1\nghp_1 = 2\n", "line 2, column 1: expected TOML; here a name that is not there yet"},
		{splice.TOML, "[ghp_1]\n[ghp_1]\n", "line 2, column 2: "},
		{splice.TOML, "a = ghp_", "line 1, column 5: expected TOML; here a value: a text in quotation marks, a number, true or false"},
		{splice.TOML, "ghp_ = 1\n[ghp_.ghp_]\n", "line 2, column 2: "},
		{splice.TOML, "a = \"ghp_", "here the end of the value in this line"},
		{splice.YAML, "a: *ghp_x", "line 1, column 4: expected YAML; here the name of an earlier anchor"},
		{splice.YAML, "a: [ghp_", "line 2, column 1: did not find expected ',' or ']'; expected YAML"},
		{splice.YAML, "!ghp_!x a: 1", "line 1, column 1: expected YAML"},
		{splice.YAML, "ghp_: b: ghp_", "line 1, column 8: mapping values are not allowed in this context; expected YAML"},
	} {
		_, _, err := splice.Find([]byte(c.text), splice.Place{Format: c.format, Path: []string{"servers"}, Name: "x"})
		assert.Assert(t, is.ErrorContains(err, c.said), "%q", c.text)
		assert.Assert(t, !strings.Contains(err.Error(), "ghp"), "%q %v", c.text, err)
		assert.Assert(t, !strings.Contains(err.Error(), "'g'"), "%q %v", c.text, err)
	}
}

// TestNesting checks that a text that would exhaust the stack is rejected.
func TestNesting(t *testing.T) {
	const many = 3_000_000
	deep := func(open, end string, n int) string { return strings.Repeat(open, n) + strings.Repeat(end, n) }
	for name, c := range map[string]struct {
		format splice.Format
		text   string
		fine   bool
	}{
		"JSON, open":            {splice.JSON, strings.Repeat("[", many), false},
		"JSON, closed":          {splice.JSON, `{"a": ` + deep("[", "]", many) + "}", false},
		"JSON, objects":         {splice.JSON, strings.Repeat(`{"a":`, many), false},
		"JSON, in comments":     {splice.JSON, "{ /* " + strings.Repeat("[", 2000) + "*/ // " + strings.Repeat("{", 2000) + "\n}", true},
		"JSON, in a text":       {splice.JSON, `{"a": "\"` + strings.Repeat("[", 2000) + `"}`, true},
		"JSON, after a comment": {splice.JSON, `{"a": "//", "b": ` + deep("[", "]", many) + "}", false},
		"JSON, as deep":         {splice.JSON, `{"a": ` + deep("[", "]", 999) + "}", true},
		"JSON, one deeper":      {splice.JSON, `{"a": ` + deep("[", "]", 1000) + "}", false},
		"JSON, many":            {splice.JSON, `{"a": [` + strings.Repeat("[1.5],", 5000) + "]}", true},
		"TOML":                  {splice.TOML, "a = " + deep("[", "]", many), false},
		"TOML, one deeper":      {splice.TOML, "a = " + deep("[", "]", 1001), false},
		"TOML, a key":           {splice.TOML, strings.Repeat("a.", many) + "a = 1", false},
		"TOML, a table":         {splice.TOML, "[" + strings.Repeat("a.", many) + "a]", false},
		"TOML, keys in tables":  {splice.TOML, "a = " + strings.Repeat("{ "+strings.Repeat("a.", 900)+"a = ", 900), false},
		"TOML, in texts":        {splice.TOML, "a = '" + strings.Repeat("[", 2000) + "' # " + strings.Repeat("[", 2000) + "\nb = \"\"\"\"\n" + strings.Repeat("[", 2000) + "\"\"\"\n", true},
		"TOML, numbers":         {splice.TOML, "a = [" + strings.Repeat("1.5, ", 5000) + "]", true},
		"YAML":                  {splice.YAML, "a: " + strings.Repeat("[", many), false},
		"YAML, closed":          {splice.YAML, "a: " + deep("[", "]", 1001), false},
		"YAML, lists":           {splice.YAML, strings.Repeat("- ", 100_000) + "a", false},
		"YAML, in braces":       {splice.YAML, strings.Repeat(`{"a":`, many), false},
		"YAML, as deep":         {splice.YAML, "a: " + deep("[", "]", 900), true},
	} {
		_, _, err := splice.Find([]byte(c.text), splice.Place{Format: c.format, Path: []string{"servers"}, Name: "x"})
		assert.Check(t, !c.fine || err == nil, "%s %.200v", name, err)
		assert.Check(t, c.fine || err != nil && strings.Contains(err.Error(), "more than 1000 levels are in each other; expected fewer"), "%s %.200v", name, err)
	}
}

// TestManyKeys checks that a text that takes the parser minutes is rejected.
func TestManyKeys(t *testing.T) {
	many := func(n int, one string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(one, "%", strconv.Itoa(i)) + "\n")
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text string
		fine bool
	}{
		"keys":         {many(200_000, "k% = 1"), false},
		"dotted keys":  {many(200_000, "k%.a = 1"), false},
		"long keys":    {many(200, "k%"+strings.Repeat(".a", 900)+" = 1"), false},
		"tables":       {many(200_000, "[k%]"), false},
		"in one table": {"a = { " + strings.ReplaceAll(many(200_000, "k%=1,"), "\n", "") + "z=1 }", false},
		"enough":       {many(3000, "[projects.\"/home/ann/%\"]\ntrust = 1.5 # a = b = c\n"), true},
		"texts":        {"a = '" + strings.Repeat("=", 20_000) + "'\nb = [" + strings.Repeat("1.5, ", 20_000) + "]\n", true},
	} {
		_, _, err := splice.Find([]byte(c.text), splice.Place{Format: splice.TOML, Path: []string{"servers"}, Name: "x"})
		assert.Check(t, is.Equal(c.fine, (err == nil)), "%s %.200v", name, err)
		assert.Check(t, err == nil || strings.Contains(err.Error(), "here are more than 10000 keys and tables; expected fewer"), "%s %.200v", name, err)
	}
}
