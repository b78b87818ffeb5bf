package webapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"
)

// Invalid JSON is still the response of a server that has acted: it becomes text, with a warning
// that names the error.
func TestAttackJSON(t *testing.T) {
	for _, c := range []struct{ name, body, warning string }{
		{"truncated", `{"a": [1, 2`, "ends in the middle"},
		{"truncated in a string", `{"a": "b`, "ends in the middle"},
		{"no JSON", `<html>`, "invalid JSON at byte 0"},
		{"two values", `{} {}`, "unexpected data after its end"},
		{"duplicate name", `{"path": "/good", "path": "/evil"}`, "a name twice"},
		{"the same name in an escape", `{"path": 1, "p\u0061th": 2}`, "a name twice"},
		{"the same name once it is cleaned", "{\"path\": 1, \"pa\u200bth\": 2}", "a name twice"},
		{"invalid UTF-8", "{\"a\": \"\xff\"}", "invalid JSON at byte"},
		{"a lone surrogate", `{"a": "\ud800"}`, "invalid JSON at byte"},
		{"NaN", `{"a": NaN}`, "invalid JSON at byte"},
		{"comment", `{"a": 1} // one`, "unexpected data after its end"},
		{"deep", strings.Repeat("[", 101) + strings.Repeat("]", 101), "nested more than 100 deep"},
		{"very deep", strings.Repeat("[", 100_000), "nested more than 100 deep"},
		{"many values", "[" + strings.Repeat("0,", 250_000) + "0]", "more than 250000 values"},
		{"a number beyond measure", "1e999999999", "out of range"},
		{"a number next to nothing", "1E-999999999", "out of range"},
		{"a number as long as a book", strings.Repeat("9", 401), "out of range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := answer(t, http.StatusOK, "application/json", c.body)
			assert.Assert(t, result.Data == nil, "got %.200v, want the warning %q", result, c.warning)
			assert.Assert(t, is.Contains(result.Warning, c.warning), "%.200v", result)
			if want := strings.NewReplacer("\u200b", "", "\xff", "").Replace(c.body); result.Text != want && len(want) < 100 {
				t.Errorf("got the text %q", result.Text)
			}
		})
	}
}

func TestDeepAndWideJSONWithinTheLimits(t *testing.T) {
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	if result := answer(t, http.StatusOK, "application/json", deep); result.Data == nil || result.Warning != "" {
		t.Errorf("got %+v", result)
	}
	var wide strings.Builder
	for i := range 100_000 {
		wide.WriteString(`,"` + strconv.Itoa(i) + `":0`)
	}
	result := answer(t, http.StatusOK, "application/json", "{"+wide.String()[1:]+"}")
	object, _ := result.Data.(map[string]any)
	assert.Assert(t, is.Len(object, 100_000))
	assert.Assert(t, !strings.Contains(result.Text, "\n"), "got %d members", len(object))
}

// jsonValues draws JSON values as encoding/json reads them with UseNumber.
func jsonValues(depth int) *rapid.Generator[any] {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab \"\\/<ü日\n\t")))
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.Int64(), func(n int64) any { return json.Number(strconv.FormatInt(n, 10)) }),
		rapid.Map(rapid.Float64Range(-1e300, 1e300), func(f float64) any {
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}),
	}
	if depth > 0 {
		inner := jsonValues(depth - 1)
		leaves = append(leaves,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(v []any) any { return v }),
			rapid.Map(rapid.MapOfN(text, inner, 0, 4), func(v map[string]any) any { return v }),
		)
	}
	return rapid.OneOf(leaves...)
}

// readJSON returns the same values as encoding/json, and an equivalent text.
func TestJSONProperty(t *testing.T) {
	same := func(s string) string { return s }
	rapid.Check(t, func(rt *rapid.T) {
		want := jsonValues(4).Draw(rt, "value")
		source, err := json.Marshal(want)
		assert.NilError(rt, err)
		value, text, err := readJSON(string(source), same)
		assert.NilError(rt, err, "%s %#v", source, value)
		assert.Assert(rt, reflect.DeepEqual(value, want), "%s was read as %#v, %v", source, value, err)
		assert.Assert(rt, reflect.DeepEqual(decodeExactly(rt, text), want), "%s was spelled %s", source, text)
	})
}

func decodeExactly(t interface{ Fatal(...any) }, text string) (value any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// For every input, readJSON terminates and agrees with encoding/json about valid JSON, except
// where it is stricter.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `[1,"a",null,true]`, `{"a":{"b":[]}}`, `1e400`, "\"\x00\"", `{"a":1,"a":2}`, `"\ud800"`, "\xff"} {
		f.Add([]byte(seed))
	}
	x := &exchange{}
	f.Fuzz(func(t *testing.T, body []byte) {
		value, text, err := readJSON(string(body), x.clean)
		if err != nil {
			return
		}
		assert.Assert(t, json.Valid(body), "%q is not JSON, but was read as %#v", body, value)
		assert.Assert(t, reflect.DeepEqual(decodeExactly(t, text), value), "%q was spelled %s", body, text)
		assert.Assert(t, !bytes.ContainsRune([]byte(text), 0x1b), "%q was not cleaned: %q", body, text)
		assert.Assert(t, !strings.Contains(text, "\u202e"), "%q was not cleaned: %q", body, text)
	})
}
