package splice_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	goccy "github.com/goccy/go-yaml"
	"github.com/tailscale/hujson"
	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/clients/splice"
)

// A parseReference parses a text with another parser than the package.
type parseReference func([]byte) (map[string]any, error)

func parseReferenceJSON(text []byte) (all map[string]any, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return map[string]any{}, nil
	}
	plain, err := hujson.Standardize(append(bytes.Clone(text), '\n'))
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(plain, &all)
}

func parseReferenceTOML(text []byte) (all map[string]any, err error) {
	return all, toml.Unmarshal(text, &all)
}

func parseReferenceYAML(text []byte) (all map[string]any, err error) {
	return all, goccy.Unmarshal(text, &all)
}

// TestNothingElseChanges checks typical shapes of files. For each, the entry is added, all old
// bytes stay in order, another parser reads the old data plus the entry, and the removal restores
// the old data.
func TestNothingElseChanges(t *testing.T) {
	for _, c := range []struct {
		name  string
		place splice.Place
		shape func(*rapid.T) string
		judge parseReference
	}{
		{"JSON", jsonPlace(), jsonShape, parseReferenceJSON},
		{"TOML", tomlPlace(), tomlShape, parseReferenceTOML},
		{"YAML map", yamlPlace(), func(t *rapid.T) string { return yamlShape(t, yamlPlace()) }, parseReferenceYAML},
		{"YAML list", listPlace(), func(t *rapid.T) string { return yamlShape(t, listPlace()) }, parseReferenceYAML},
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text := []byte(c.shape(t))
				put, err := splice.Put(text, c.place, entry())
				assert.NilError(t, err, text)
				_, there, err := splice.Find(text, c.place)
				assert.NilError(t, err)
				checkPut(t, c.place, c.judge, text, put, there)
				again, err := splice.Put(put, c.place, entry())
				assert.NilError(t, err, put)
				sameBut(t, c.place, c.judge, put, again)
				checkDrop(t, c.place, c.judge, text, put, there)
			})
		})
	}
}

func checkPut(t *rapid.T, p splice.Place, read parseReference, text, put []byte, there bool) {
	sameBut(t, p, read, text, put)
	assert.Assert(t, there || within(unfilled(p, text), put), "bytes are gone:\n%s\nbecame\n%s", text, put)
	if ends := bytes.Count(text, []byte("\n")); ends > 0 {
		crlf := bytes.Count(text, []byte("\r\n"))
		got, all := bytes.Count(put, []byte("\r\n")), bytes.Count(put, []byte("\n"))
		assert.Assert(t, crlf != ends || got == all, "line ends are mixed: %q", put)
		assert.Assert(t, crlf != 0 || got == 0, "line ends are mixed: %q", put)
	}
	assert.Equal(t, bytes.HasPrefix(text, []byte("\ufeff")), bytes.HasPrefix(put, []byte("\ufeff")), "the byte order mark: %q", put)
	all, err := read(bytes.TrimPrefix(put, []byte("\ufeff")))
	assert.NilError(t, err, put)
	got, _ := entryOf(p, all).(map[string]any)
	assert.Equal(t, got["command"], "/usr/bin/aai", "%v %s", got, put)
	assert.Assert(t, reflect.DeepEqual(got["args"], []any{"mcp", "serve"}), "the entry is %v in\n%s", got, put)
}

func checkDrop(t *rapid.T, p splice.Place, read parseReference, text, put []byte, there bool) {
	dropped, err := splice.Drop(put, p)
	assert.NilError(t, err, put)
	sameBut(t, p, read, text, dropped)
	_, still, _ := splice.Find(dropped, p)
	assert.Assert(t, !still, "it is still there:\n%s", dropped)
	all, err := read(bytes.TrimPrefix(text, []byte("\ufeff")))
	assert.NilError(t, err)
	held := reflect.ValueOf(all[p.Path[0]])
	assert.Assert(t, there || !held.IsValid() || held.Len() <= 0 || strings.TrimRight(string(dropped), "\r\n") == strings.TrimRight(string(text), "\r\n"), "without it again:\n%q\nbecame\n%q", text, dropped)
}

// sameBut checks that two texts have the same data except for the entry.
func sameBut(t *rapid.T, p splice.Place, read parseReference, a, b []byte) {
	var both [2]map[string]any
	for i, text := range [][]byte{a, b} {
		all, err := read(bytes.TrimPrefix(text, []byte("\ufeff")))
		assert.NilError(t, err, text)
		both[i] = lacking(p, all)
	}
	assert.Assert(t, reflect.DeepEqual(both[0], both[1]), "something else changed:\n%s\n%v\nbecame\n%s\n%v", a, both[0], b, both[1])
}

// lacking returns the data without the entry and the containers that become empty.
func lacking(p splice.Place, all map[string]any) map[string]any {
	if all == nil {
		all = map[string]any{}
	}
	switch held := all[p.Path[0]].(type) {
	case map[string]any:
		delete(held, p.Name)
		if len(held) == 0 {
			delete(all, p.Path[0])
		}
	case []any:
		held = slices.DeleteFunc(held, func(item any) bool {
			m, _ := item.(map[string]any)
			return m["name"] == p.Name
		})
		if all[p.Path[0]] = held; len(held) == 0 {
			delete(all, p.Path[0])
		}
	case nil:
		delete(all, p.Path[0])
	}
	return all
}

func entryOf(p splice.Place, all map[string]any) any {
	switch held := all[p.Path[0]].(type) {
	case map[string]any:
		return held[p.Name]
	case []any:
		for _, item := range held {
			if m, ok := item.(map[string]any); ok && m["name"] == p.Name {
				return item
			}
		}
	}
	return nil
}

// unfilled is a YAML text without the mark of an empty container, which is replaced.
func unfilled(p splice.Place, text []byte) []byte {
	if p.Format != splice.YAML {
		return text
	}
	return regexp.MustCompile(`(?m)^(\x{feff}?`+p.Path[0]+`:)[ ]+(\{ *\}|\[ *\]|null|~)`).ReplaceAll(text, []byte("$1"))
}

// within reports whether the bytes of a are in b, in order.
func within(a, b []byte) bool {
	for _, c := range a {
		i := bytes.IndexByte(b, c)
		if i < 0 {
			return false
		}
		b = b[i+1:]
	}
	return true
}
