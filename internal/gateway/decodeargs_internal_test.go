package gateway

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

// decodedObject decodes as encoding/json does.
func decodedObject(raw []byte) (object map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&object)
	return object, err
}

// TestDecodeObject checks that arguments without a name twice decode as by encoding/json.
func TestDecodeObject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var draw func(depth int) any
		draw = func(depth int) any {
			switch rapid.IntRange(0, 4+2*depth).Draw(t, "kind") {
			case 0:
				return rapid.MapOfN(rapid.StringN(0, 3, 9), rapid.Just[any](1), 0, 3).Draw(t, "object")
			case 1, 2:
				list := []any{}
				for range rapid.IntRange(0, 3).Draw(t, "elements") {
					list = append(list, draw(depth+1))
				}
				return list
			}
			return rapid.SampledFrom([]any{"", "{", 1.5e300, -7, true, nil, map[string]any{}}).Draw(t, "scalar")
		}
		raw, err := json.MarshalIndent(map[string]any{"a": draw(0), "b": draw(0)}, "", " ")
		assert.NilError(t, err)
		want, err := decodedObject(raw)
		assert.NilError(t, err)
		got, err := decodeObject(raw)
		assert.NilError(t, err, "%s %v", raw, got)
		assert.Assert(t, reflect.DeepEqual(got, want), "%s %v", raw, got)
	})
}

// TestNamesTwice checks that a name that occurs twice in one object is an error with its path.
func TestNamesTwice(t *testing.T) {
	for raw, want := range map[string]string{
		`{"s":"a","s":"b"}`:             "s: the name",
		`{"s":1,"\u0073":2}`:            "s: the name",
		`{"a":[0,{"b":{"c":1,"c":1}}]}`: "a[1].b.c: the name",
		`"{\"s\":1,\"s\":1}"`:           "s: the name",
		`{"s":1,"S":2,"a":{"s":1}}`:     "",
		`{"a":[{"s":1},{"s":1}]}`:       "",
	} {
		_, err := parseArgs(json.RawMessage(raw))
		switch {
		case want == "":
			assert.Check(t, err == nil, "%s %v", raw, err)
		case err == nil || err.Code != aai.InvalidParams || !strings.HasPrefix(err.Message, want) || err.Hint == "":
			t.Errorf("%s: got %+v, want %q", raw, err, want)
		}
	}
}

// TestMalformedObjects checks that an argDecoder refuses each text that encoding/json refuses.
func TestMalformedObjects(t *testing.T) {
	for _, raw := range []string{`{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":[1 2]}`, `{"a":[1,]}`, `{"a":01}`, `{"a":1]`, `[}`, `{1:2}`, `{"a":1} {}`, `{"a":1}x`, `[]`, `1`, `{"a" 1}`, `{"a":1 "b":2}`} {
		got, err := decodeObject([]byte(raw))
		assert.Check(t, err != nil, "%s %v", raw, got)
	}
}
