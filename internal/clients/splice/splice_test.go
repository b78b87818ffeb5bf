package splice_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/clients/splice"
)

func entry() []splice.Field {
	return []splice.Field{{Name: "command", Value: "/usr/bin/aai"}, {Name: "args", Value: []string{"mcp", "serve"}}}
}

func jsonPlace() splice.Place {
	return splice.Place{Format: splice.JSON, Path: []string{"mcpServers"}, Name: "aai"}
}

func tomlPlace() splice.Place {
	return splice.Place{Format: splice.TOML, Path: []string{"mcp_servers"}, Name: "aai"}
}

func yamlPlace() splice.Place {
	return splice.Place{Format: splice.YAML, Path: []string{"extensions"}, Name: "aai"}
}

func listPlace() splice.Place {
	return splice.Place{Format: splice.YAML, Path: []string{"mcpServers"}, Name: "aai", List: true}
}

// TestPut checks the position of an entry, by the shape of the text.
func TestPut(t *testing.T) {
	for _, c := range []struct {
		name          string
		place         splice.Place
		before, after string
	}{
		{"empty JSON", jsonPlace(), "", "{\n  \"mcpServers\": {\n    \"aai\": {\n      \"command\": \"/usr/bin/aai\",\n      \"args\": [\"mcp\", \"serve\"]\n    }\n  }\n}\n"},
		{"an object of nothing", jsonPlace(), "{}", "{\n  \"mcpServers\": {\n    \"aai\": {\n      \"command\": \"/usr/bin/aai\",\n      \"args\": [\"mcp\", \"serve\"]\n    }\n  }\n}"},
		{"minified", jsonPlace(), `{"a":1}`, `{"a":1,"mcpServers":{"aai":{"command":"/usr/bin/aai","args":["mcp","serve"]}}}`},
		{
			"behind comments and a trailing comma", jsonPlace(),
			"{\n\t\"mcpServers\": {\n\t\t\"b\": {}, // last\n\t\t// \"c\": {}\n\t},\n}\n",
			"{\n\t\"mcpServers\": {\n\t\t\"b\": {}, // last\n\t\t// \"c\": {}\n\t\t\"aai\": {\n\t\t\t\"command\": \"/usr/bin/aai\",\n\t\t\t\"args\": [\"mcp\", \"serve\"]\n\t\t},\n\t},\n}\n",
		},
		{
			"the comma stands before the comment", jsonPlace(),
			"{\r\n  \"a\": 1 // one\r\n}\r\n",
			"{\r\n  \"a\": 1, // one\r\n  \"mcpServers\": {\r\n    \"aai\": {\r\n      \"command\": \"/usr/bin/aai\",\r\n      \"args\": [\"mcp\", \"serve\"]\r\n    }\r\n  }\r\n}\r\n",
		},
		{"in one line", jsonPlace(), "{\n  \"mcpServers\": {\"b\": {}}\n}", "{\n  \"mcpServers\": {\"b\": {}, \"aai\": {\"command\": \"/usr/bin/aai\", \"args\": [\"mcp\", \"serve\"]}}\n}"},
		{"a byte order mark", jsonPlace(), "\ufeff{\"a\": 1}", "\ufeff{\"a\": 1,\"mcpServers\":{\"aai\":{\"command\":\"/usr/bin/aai\",\"args\":[\"mcp\",\"serve\"]}}}"},
		{"empty TOML", tomlPlace(), "", "[mcp_servers.aai]\ncommand = \"/usr/bin/aai\"\nargs = [\"mcp\", \"serve\"]\n"},
		{"behind a last line without an end", tomlPlace(), "a = \"\"\"\n[mcp_servers.aai]\n\"\"\"", "a = \"\"\"\n[mcp_servers.aai]\n\"\"\"\n\n[mcp_servers.aai]\ncommand = \"/usr/bin/aai\"\nargs = [\"mcp\", \"serve\"]\n"},
		{"an inline table", tomlPlace(), "mcp_servers = { b = { command = \"b\" } }\n", "mcp_servers = { aai = { command = \"/usr/bin/aai\", args = [\"mcp\", \"serve\"] }, b = { command = \"b\" } }\n"},
		{"empty YAML", yamlPlace(), "# mine\n", "# mine\nextensions:\n  aai:\n    command: \"/usr/bin/aai\"\n    args: [\"mcp\", \"serve\"]\n"},
		{"an empty map", yamlPlace(), "extensions: {} # none\nb: 1\n", "extensions: # none\n  aai:\n    command: \"/usr/bin/aai\"\n    args: [\"mcp\", \"serve\"]\nb: 1\n"},
		{
			"behind a text that looks like a comment", yamlPlace(),
			"extensions:\n    a:\n        x: |\n            # heading\n\n# about b\nb: 2\n",
			"extensions:\n    a:\n        x: |\n            # heading\n    aai:\n      command: \"/usr/bin/aai\"\n      args: [\"mcp\", \"serve\"]\n\n# about b\nb: 2\n",
		},
		{ // otherwise text after it would end its last line
			"a text that ends the file", yamlPlace(),
			"# mine\na: |\n  text", "# mine\nextensions:\n  aai:\n    command: \"/usr/bin/aai\"\n    args: [\"mcp\", \"serve\"]\na: |\n  text",
		},
		{"between braces", yamlPlace(), "extensions: {a: {b: c}}\n", "extensions: {aai: {command: \"/usr/bin/aai\", args: [\"mcp\", \"serve\"]}, a: {b: c}}\n"},
		{"YAML that is JSON", yamlPlace(), "{\"extensions\": {}}", "{\"extensions\": {\"aai\":{\"command\":\"/usr/bin/aai\",\"args\":[\"mcp\",\"serve\"]}}}"},
		{"a list that is not indented", listPlace(), "mcpServers:\n- name: a\n  command: b\nz: 1\n", "mcpServers:\n- name: a\n  command: b\n- name: aai\n  command: \"/usr/bin/aai\"\n  args: [\"mcp\", \"serve\"]\nz: 1\n"},
		{"null", jsonPlace(), "{\n  \"mcpServers\": null, // yet\n  \"a\": 1\n}\n", "{\n  \"mcpServers\": {\n    \"aai\": {\n      \"command\": \"/usr/bin/aai\",\n      \"args\": [\"mcp\", \"serve\"]\n    }\n  }, // yet\n  \"a\": 1\n}\n"},
		{"null, minified", jsonPlace(), `{"mcpServers":null,"aai":{}}`, `{"mcpServers":{"aai":{"command":"/usr/bin/aai","args":["mcp","serve"]}},"aai":{}}`},
		{"null on the way", splice.Place{Format: splice.JSON, Path: []string{"mcp", "servers"}, Name: "aai"}, `{"mcp":null}`, `{"mcp":{"servers":{"aai":{"command":"/usr/bin/aai","args":["mcp","serve"]}}}}`},
		{"all between braces", yamlPlace(), "# mine\n{a: 1, b: [c]}\n", "# mine\n{\"extensions\": {\"aai\": {\"command\": \"/usr/bin/aai\", \"args\": [\"mcp\", \"serve\"]}}, a: 1, b: [c]}\n"},
		{"all between braces, in lines", yamlPlace(), "{\n  a: 1, # one\n  extensions: {},\n}\n", "{\n  a: 1, # one\n  extensions: {\"aai\": {\"command\": \"/usr/bin/aai\", \"args\": [\"mcp\", \"serve\"]}},\n}\n"},
		{"null between braces", yamlPlace(), "{a: 1, extensions: null}", "{a: 1, extensions: {\"aai\": {\"command\": \"/usr/bin/aai\", \"args\": [\"mcp\", \"serve\"]}}}"},
		{"nothing between braces", yamlPlace(), "{a: 1, extensions: , b: 2}", "{a: 1, extensions: {\"aai\": {\"command\": \"/usr/bin/aai\", \"args\": [\"mcp\", \"serve\"]}}, b: 2}"},
		{"a list between braces", listPlace(), "{mcpServers: [], a: {b: c}}", "{mcpServers: [{\"name\": \"aai\", \"command\": \"/usr/bin/aai\", \"args\": [\"mcp\", \"serve\"]}], a: {b: c}}"},
		{"JSON with a list", listPlace(), "{\"name\": \"x\"}", "{\"mcpServers\": [{\"name\": \"aai\", \"command\": \"/usr/bin/aai\", \"args\": [\"mcp\", \"serve\"]}], \"name\": \"x\"}"},
		{"another one of its name", tomlPlace(), "[mcp_servers.aai]\ncommand = \"old\"\n[mcp_servers.aai.env]\nA = \"b\"\n\n# c\n[c]\n", "\n# c\n[c]\n\n[mcp_servers.aai]\ncommand = \"/usr/bin/aai\"\nargs = [\"mcp\", \"serve\"]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := splice.Put([]byte(c.before), c.place, entry())
			assert.NilError(t, err)
			assert.Check(t, is.DeepEqual(c.after, string(got)))
			fields, there, err := splice.Find(got, c.place)
			assert.NilError(t, err, "%v %v", fields, there)
			assert.Assert(t, there, "found %v, %v, %v", fields, there, err)
			assert.Assert(t, splice.Contains(fields, entry()), "found %v, %v, %v", fields, there, err)
		})
	}
}

// TestFaults checks that an invalid or ambiguous text is an error with its position, and that no
// text is returned.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		place        splice.Place
		text         string
		line, column int
		says         string
	}{
		{jsonPlace(), "{\n  \"a\": }", 2, 8, "expected JSON"},
		{jsonPlace(), "[]", 1, 1, "expected an object"},
		{jsonPlace(), "{\"mcpServers\": true}", 1, 16, "expected one, which begins with {"},
		{yamlPlace(), "{extensions: [a]}", 1, 14, "expected keys"},
		{yamlPlace(), "{a: 1, extensions: {b: 1}, extensions: {}}", 1, 28, "for the second time"},
		{jsonPlace(), "{\"mcpServers\": {},\n \"mcpServers\": {}}", 2, 2, "for the second time"},
		{jsonPlace(), "{\"mcpServers\": {\"aai\": {}, \"aai\": {}}}", 1, 28, "for the second time"},
		{jsonPlace(), "{\n\"a\": \"\xff\"}", 2, 7, "no UTF-8"},
		{jsonPlace(), "{\x00}", 1, 2, "no UTF-8"},
		{tomlPlace(), "a = 1\nb = \n", 2, 5, "expected TOML"},
		{tomlPlace(), "a = 1\na = 2\n", 2, 1, "a name that is not there yet"},
		{tomlPlace(), "mcp_servers = 1\n", 0, 0, "does not know how to add to"},
		{yamlPlace(), "a: [1\nb: 2\n", 2, 2, "expected YAML"},
		{yamlPlace(), "a: 1\n---\nb: 2\n", 2, 1, "a second document"},
		{yamlPlace(), "- a\n", 1, 1, "expected keys"},
		{yamlPlace(), "a: 1\nextensions: [b]\n", 2, 13, "expected keys"},
		{yamlPlace(), "extensions:\n  a: 1\nextensions:\n  b: 1\n", 3, 1, "for the second time"},
		{listPlace(), "mcpServers:\n  a: 1\n", 2, 3, "expected a list"},
	} {
		got, err := splice.Put([]byte(c.text), c.place, entry())
		f, ok := errors.AsType[*splice.Fault](err)
		if !ok || got != nil {
			t.Errorf("%q: %q, %v", c.text, got, err)
			continue
		}
		assert.Check(t, is.Equal(f.Line, c.line), "%q %v", c.text, f)
		assert.Check(t, is.Equal(f.Column, c.column), "%q %v", c.text, f)
		assert.Check(t, is.Contains(f.Error(), c.says), "%q %v", c.text, f)
	}
}

// TestDrop checks removals from texts that have changed.
func TestDrop(t *testing.T) {
	for _, c := range []struct {
		place         splice.Place
		before, after string
	}{
		{jsonPlace(), "{\n  \"mcpServers\": {\n    \"aai\": {\"command\": \"x\", \"env\": {\"A\": \"b\"}}, // mine\n    \"b\": {}\n  }\n}", "{\n  \"mcpServers\": { // mine\n    \"b\": {}\n  }\n}"},
		{jsonPlace(), "{\"mcpServers\": {\"aai\": {}, \"b\": {}}}", "{\"mcpServers\": {\"b\": {}}}"},
		{jsonPlace(), "{\"mcpServers\": {\"b\": {}, \"aai\": {}}}", "{\"mcpServers\": {\"b\": {}}}"},
		{jsonPlace(), "{\"mcpServers\": {\"aai\": {}}}", "{\"mcpServers\": {}}"},
		{jsonPlace(), "{\"a\": 1}", "{\"a\": 1}"},
		{tomlPlace(), "[mcp_servers.aai]\ncommand = \"x\"\n\n[mcp_servers.aai.env]\nA = \"b\"\n# tail\n\n[c]\nd = 1\n", "# tail\n\n[c]\nd = 1\n"},
		{tomlPlace(), "[mcp_servers]\naai = { command = \"x\" }\nb = { command = \"y\" }\n", "[mcp_servers]\nb = { command = \"y\" }\n"},
		{tomlPlace(), "mcp_servers = { b = { command = \"y\" }, aai = { command = \"x\" } }\n", "mcp_servers = { b = { command = \"y\" } }\n"},
		{yamlPlace(), "extensions:\n  aai:\n    cmd: x\n    # mine\n    more: |\n      # y\n  # about b\n  b:\n    c: d\n", "extensions:\n  # about b\n  b:\n    c: d\n"},
		{yamlPlace(), "extensions:\n  aai:\n    cmd: x\nz: 1\n", "extensions: {}\nz: 1\n"},
		{listPlace(), "mcpServers:\n  - name: a\n  - command: x\n    name: aai\n  - name: b\n", "mcpServers:\n  - name: a\n  - name: b\n"},
		{yamlPlace(), "{extensions: {aai: {cmd: x}, b: {}}, a: 1}\n", "{extensions: {b: {}}, a: 1}\n"},
		{yamlPlace(), "{a: 1, extensions: {aai: {cmd: x}}}\n", "{a: 1, extensions: {}}\n"},
		{listPlace(), "mcpServers: [{name: a}, {name: aai, args: [b]}]\n", "mcpServers: [{name: a}]\n"},
	} {
		got, err := splice.Drop([]byte(c.before), c.place)
		d := cmp.Diff(c.after, string(got))
		assert.Check(t, is.Equal(d, ""), "%q", c.before)
		assert.Check(t, err, "%q", c.before)
	}
}

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

// FuzzPut checks that no text makes the parsers panic, that an added entry is found, and that the
// text is valid after its removal.
func FuzzPut(f *testing.F) {
	for _, text := range []string{
		"", "{}", "{\"mcpServers\": {\"a\": {}, // b\n}}", "{\"a\":1}//", "\ufeff{", "[mcp_servers]\na = {}", "mcp_servers.a.b = 1\n[c]\n", "[[a]]\nb=\"\"\"\n\"\"\"",
		"extensions:\n  a: {b: c}\n", "mcpServers:\n- &x name: a\n- *x\n", "? a\n: b\n", "extensions: &a {}\nb: *a\n", "a: |+\n\n\n", "%YAML 1.2\n---\na: b\n...\n", "\t", "a\r\rb: c",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, place := range []splice.Place{jsonPlace(), tomlPlace(), yamlPlace(), listPlace()} {
			put, err := splice.Put(text, place, entry())
			if err != nil {
				continue
			}
			fields, there, err := splice.Find(put, place)
			assert.NilError(t, err, "%s %q %q", place.Format, text, put)
			assert.Assert(t, there, "%s: %q became %q: %v", place.Format, text, put, err)
			assert.Assert(t, splice.Contains(fields, entry()), "%s: %q became %q: %v", place.Format, text, put, err)
			dropped, err := splice.Drop(put, place)
			if err != nil {
				continue // an error, and nothing is written
			}
			_, there, err = splice.Find(dropped, place)
			assert.NilError(t, err, "%s %q %q", place.Format, put, dropped)
			assert.Assert(t, !there, "%s: %q without it is %q: %v", place.Format, put, dropped, err)
		}
	})
}
