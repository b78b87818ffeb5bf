package splice_test

import (
	"errors"
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
