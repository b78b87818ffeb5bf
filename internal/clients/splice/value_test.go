package splice_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/clients/splice"
)

// valueShape is a typical settings file: keys with and without a group, dotted or not, on
// separate lines with comments.
func valueShape(t *rapid.T, f splice.Format) string {
	comment := func() string {
		if rapid.Bool().Draw(t, "comment") {
			return map[splice.Format]string{splice.JSON: "// it's \"a\" {b}\n", splice.TOML: "# it's \"a\" [b] = 1\n"}[f]
		}
		return "\n"
	}
	literal := func() string {
		return rapid.SampledFrom([]string{`1`, `2.5`, `true`, `"x # y // z"`, `[]`, "[\n  \"a\",\n  \"b\"\n]"}).Draw(t, "value")
	}
	names := func(what string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d.e"}), 0, 4, rapid.ID[string]).Draw(t, what)
	}
	if f == splice.JSON {
		var members []string
		for _, name := range names("plain") {
			members = append(members, fmt.Sprintf("  %q: %s", name, literal()))
		}
		for _, group := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"g", "h"}), 0, 2, rapid.ID[string]).Draw(t, "groups") {
			var inner []string
			for _, name := range names(group) {
				inner = append(inner, fmt.Sprintf("    %q: %s", name, literal()))
			}
			members = append(members, fmt.Sprintf("  %q: {%s%s}", group, comment(), joined(t, inner, comment)))
		}
		return "{" + comment() + joined(t, members, comment) + "}" + comment()
	}
	var b strings.Builder
	b.WriteString(strings.TrimLeft(comment(), "\n"))
	for _, name := range names("plain") {
		fmt.Fprintf(&b, "%s = %s %s", tomlName(name), literal(), comment())
	}
	switch rapid.IntRange(0, 3).Draw(t, "group") {
	case 1:
		for _, name := range names("dotted") {
			fmt.Fprintf(&b, "g.%s = %s %s", tomlName(name), literal(), comment())
		}
	case 2:
		b.WriteString("g = { a = 1, b = 'x' }" + comment())
	case 3:
		b.WriteString("\n[g]" + comment())
		for _, name := range names("table") {
			fmt.Fprintf(&b, "  %s = %s %s", tomlName(name), literal(), comment())
		}
	}
	if rapid.Bool().Draw(t, "another") {
		b.WriteString("\n# of h\n[h]\na = 1")
	}
	return b.String()
}

func tomlName(name string) string {
	if strings.Contains(name, ".") {
		return `"` + name + `"`
	}
	return name
}

func joined(t *rapid.T, members []string, comment func() string) string {
	var b strings.Builder
	for i, m := range members {
		b.WriteString(m)
		if i+1 < len(members) || rapid.Bool().Draw(t, "trailing") {
			b.WriteString(",")
		}
		b.WriteString(" " + comment())
	}
	return b.String()
}

// changed returns the data with the value at the path; nil removes it, with containers that
// become empty.
func changed(all map[string]any, path []string, value any) map[string]any {
	out := make(map[string]any)
	for name, item := range all {
		if group, ok := item.(map[string]any); ok {
			if item = changed(group, nil, nil); len(item.(map[string]any)) == 0 {
				continue
			}
		}
		out[name] = item
	}
	switch {
	case len(path) == 0:
	case len(path) > 1:
		group, _ := out[path[0]].(map[string]any)
		if out[path[0]] = changed(group, path[1:], value); len(out[path[0]].(map[string]any)) == 0 {
			delete(out, path[0])
		}
	case value == nil:
		delete(out, path[0])
	default:
		out[path[0]] = value
	}
	return out
}

// TestOneValueChanges checks that after one value is set, set again and removed, another parser
// reads the same other values, and all other bytes stay in order.
func TestOneValueChanges(t *testing.T) {
	for f, read := range map[splice.Format]parseReference{splice.JSON: parseReferenceJSON, splice.TOML: parseReferenceTOML} {
		t.Run(string(f), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text := valueShape(t, f)
				if rapid.Bool().Draw(t, "CRLF") {
					text = strings.ReplaceAll(text, "\n", "\r\n")
				}
				path := rapid.SampledFrom([][]string{{"a"}, {"d.e"}, {"g", "a"}, {"g", "d.e"}, {"new"}, {"k", "new"}}).Draw(t, "path")
				value := rapid.SampledFrom([]any{true, "it's # \"x\"", 7.0, 0.25, []any{"a", "b"}, []any{}}).Draw(t, "set")
				before, err := read([]byte(text))
				assert.NilError(t, err, text)
				check := func(what string, was string, got []byte, err error, value any) {
					assert.NilError(t, err, "%s %s", what, was)
					all, err := read(got)
					assert.NilError(t, err, "%s %s", what, got)
					want := changed(before, path, value)
					if f == splice.TOML && value == 7.0 {
						want = changed(before, path, int64(7))
					}
					if got := changed(all, nil, nil); !reflect.DeepEqual(got, want) {
						t.Fatalf("%s: %v, want %v in\n%s\nwhich was\n%s", what, got, want, all, was)
					}
				}
				set, err := splice.Set([]byte(text), f, path, value)
				check("set", text, set, err, value)
				unset, err := splice.Unset(set, f, path)
				check("unset", string(set), unset, err, nil)
				assert.Assert(t, within(unset, set), "bytes came:\n%s\nbecame\n%s", set, unset)
				without, err := splice.Unset([]byte(text), f, path)
				check("unset at once", text, without, err, nil)
				assert.Assert(t, within(without, set), "bytes are gone:\n%s\nbecame\n%s", text, set)
				again, err := splice.Set(set, f, path, value)
				assert.NilError(t, err, "%s %s", set, again)
				assert.Equal(t, string(again), string(set), "%s %s", set, again)
				line := splice.Line(set, f, path)
				assert.Assert(t, is.Contains(slices.Collect(strings.Lines(string(set)))[line-1], path[len(path)-1]), "%d %s", line, set)
			})
		})
	}
}

// TestValuesStayInTheirPlace checks that an existing value is replaced in place.
func TestValuesStayInTheirPlace(t *testing.T) {
	for _, c := range []struct {
		f          splice.Format
		path       string
		value      any
		text, want string
	}{
		{splice.JSON, "a", 2.0, "{\n  // why\n  \"a\": 1, // so\n  \"b\": 2\n}\n", "{\n  // why\n  \"a\": 2, // so\n  \"b\": 2\n}\n"},
		{splice.JSON, "g a", "x", "{\"g\": {\"a\": [1,\n2]}}", "{\"g\": {\"a\": \"x\"}}"},
		{splice.JSON, "g a", true, "", "{\n  \"g\": {\n    \"a\": true\n  }\n}\n"},
		{splice.JSON, "g a", true, "{\n\t\"b\": 1\n}\n", "{\n\t\"b\": 1,\n\t\"g\": {\n\t\t\"a\": true\n\t}\n}\n"},
		{splice.TOML, "a", 2.0, "# why\na = 1 # so\nb = 2\n", "# why\na = 2 # so\nb = 2\n"},
		{splice.TOML, "g a", []any{"#"}, "[g]\na = [ # one\n 1,\n] # so\n# of b\nb = 1", "[g]\na = [\"#\"] # so\n# of b\nb = 1"},
		{splice.TOML, "g a", 1.0, "b = 2", "b = 2\n\n[g]\na = 1\n"},
		{splice.TOML, "a", 1.0, "# of g\n[g]\nb = 2\n", "a = 1\n# of g\n[g]\nb = 2\n"},
		{splice.TOML, "g a", 1.0, "[g]\nb = 2\n\n[h]\nc = 1\n", "[g]\nb = 2\na = 1\n\n[h]\nc = 1\n"},
	} {
		got, err := splice.Set([]byte(c.text), c.f, strings.Fields(c.path), c.value)
		assert.NilError(t, err, "%q %s", c.text, got)
		assert.Equal(t, string(got), c.want, "%q %s", c.text, got)
	}
	for text, f := range map[string]splice.Format{"{": splice.JSON, "[1]": splice.JSON, "a = ": splice.TOML, `{"g": 1}`: splice.JSON, "g = 1": splice.TOML, "a: 1": splice.YAML} {
		got, err := splice.Set([]byte(text), f, []string{"g", "a"}, 1.0)
		assert.Check(t, err != nil, "%q became %q", text, got)
	}
}
