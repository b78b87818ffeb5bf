package messages

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
		if err != nil {
			t.Fatal(err)
		}
		short, arguments, err := extractArguments("tools/call", params)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]any{}
		if err := json.Unmarshal(short, &got); err != nil {
			t.Fatalf("%v: %s", err, short)
		}
		if arguments != nil {
			if len(short) > len(params)-len(arguments)+len(emptyArguments) {
				t.Fatalf("%d of %d bytes are left", len(short), len(params))
			}
			var args any
			if err := json.Unmarshal(arguments, &args); err != nil {
				t.Fatalf("%v: %s", err, arguments)
			}
			got["arguments"] = args
		}
		var want map[string]any
		if err := json.Unmarshal(params, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v of %v", got, want)
		}
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
		if _, _, err := extractArguments(c.method, json.RawMessage(c.params)); err == nil {
			t.Errorf("%s: it goes on", name)
		}
	}
}

// TestEncode checks that a response is encoded as by the SDK.
func TestEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := []any{nil, rapid.String().Draw(t, "id"), float64(rapid.Int32().Draw(t, "number"))}
		id, err := jsonrpc.MakeID(rapid.SampledFrom(ids).Draw(t, "of"))
		if err != nil {
			t.Fatal(err)
		}
		result, err := json.Marshal(map[string]any{"v": rapid.String().Draw(t, "v")})
		if err != nil {
			t.Fatal(err)
		}
		r := &jsonrpc.Response{ID: id, Result: result}
		ours, err := Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := jsonrpc.EncodeMessage(r)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if json.Unmarshal(ours, &a) != nil || json.Unmarshal(theirs, &b) != nil || !reflect.DeepEqual(a, b) || bytes.ContainsAny(ours, "\n") {
			t.Fatalf("%s, but the SDK writes %s", ours, theirs)
		}
	})
}
