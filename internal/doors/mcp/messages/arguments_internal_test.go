package messages

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

// TestExtractArgumentsLosesNothing checks that both parts together are the original.
func TestExtractArgumentsLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := map[string]any{"name": rapid.String().Draw(t, "name")}
		if rapid.Bool().Draw(t, "meta") {
			members["_meta"] = map[string]any{"arguments": "not these", "n": 1.5}
		}
		text := strings.Repeat(rapid.StringN(1, 3, -1).Draw(t, "text"), rapid.IntRange(1, 3000).Draw(t, "times"))
		members["arguments"] = rapid.SampledFrom([]any{map[string]any{"v": text, "l": []any{1.0, nil}}, text, []any{text}, nil}).Draw(t, "arguments")
		params, err := json.Marshal(members)
		assert.NilError(t, err)
		short, arguments, err := extractArguments("tools/call", params)
		assert.NilError(t, err)
		got := map[string]any{}
		assert.NilError(t, json.Unmarshal(short, &got), short)
		if arguments != nil {
			assert.Assert(t, len(short) <= len(params)-len(arguments)+len(emptyArguments), "%d of %d bytes are left", len(short), len(params))
			var args any
			assert.NilError(t, json.Unmarshal(arguments, &args), arguments)
			got["arguments"] = args
		}
		var want map[string]any
		err = json.Unmarshal(params, &want)
		assert.NilError(t, err, "%v %v", got, want)
		assert.Assert(t, reflect.DeepEqual(got, want), "%v %v", got, want)
	})
}

func TestExtractArgumentsRefuses(t *testing.T) {
	large := `{"v":"` + strings.Repeat("x", 2*minExtractedBytes) + `"}`
	for name, c := range map[string]struct{ method, params string }{
		"arguments twice":            {"tools/call", `{"arguments":` + large + `,"arguments":` + large + `}`},
		"arguments in another guise": {"tools/call", `{"arguments":` + large + `,"\u0061rguments":` + large + `}`},
		"a large name":               {"tools/call", `{"name":"` + strings.Repeat("x", maxParams) + `"}`},
		"a large meta":               {"tools/call", `{"arguments":` + large + `,"_meta":{"x":"` + strings.Repeat("x", maxParams) + `"}}`},
		"large elsewhere":            {"resources/read", `{"arguments":"` + strings.Repeat("x", maxParams) + `"}`},
	} {
		_, _, err := extractArguments(c.method, json.RawMessage(c.params))
		assert.Check(t, err != nil, "%s: it goes on", name)
	}
}

// TestEncode checks that a response is encoded as by the SDK.
func TestEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := []any{nil, rapid.String().Draw(t, "id"), float64(rapid.Int32().Draw(t, "number"))}
		id, err := jsonrpc.MakeID(rapid.SampledFrom(ids).Draw(t, "of"))
		assert.NilError(t, err)
		result, err := json.Marshal(map[string]any{"v": rapid.String().Draw(t, "v")})
		assert.NilError(t, err)
		r := &jsonrpc.Response{ID: id, Result: result}
		ours, err := Encode(r)
		assert.NilError(t, err)
		theirs, err := jsonrpc.EncodeMessage(r)
		assert.NilError(t, err)
		var a, b any
		assert.NilError(t, json.Unmarshal(ours, &a), "%s %s", ours, theirs)
		assert.NilError(t, json.Unmarshal(theirs, &b), "%s %s", ours, theirs)
		assert.Assert(t, reflect.DeepEqual(a, b), "%s, but the SDK writes %s", ours, theirs)
		assert.Assert(t, !bytes.ContainsAny(ours, "\n"), "%s, but the SDK writes %s", ours, theirs)
	})
}
