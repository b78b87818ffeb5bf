package splice_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/clients/splice"
)

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
