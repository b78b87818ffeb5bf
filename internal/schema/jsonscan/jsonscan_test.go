package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/schema/jsonscan"
)

// counted counts values, names and depth by a JSON tokenizer.
func counted(t *rapid.T, text []byte) (values, depth int) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	for {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return values, depth
		}
		assert.NilError(t, err, text)
		if kind := token.Kind(); kind != '}' && kind != ']' {
			values++
		}
		depth = max(depth, d.StackDepth())
	}
}

// anyText draws a JSON text with signs and white space at every place where they are allowed.
func anyText(t *rapid.T, depth int) string {
	space := func() string { return rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "space") }
	quoted := func() string {
		return rapid.SampledFrom([]string{`""`, `"a"`, `"\""`, `"\\"`, `"{[,:]}"`, `"id"`, `"é\u00e9"`, `"\\\\\""`, `"{id"`}).Draw(t, "text")
	}
	var parts []string
	switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
	case kind > 6 && depth < 5:
		for range rapid.IntRange(0, 4).Draw(t, "elements") {
			parts = append(parts, space()+anyText(t, depth+1)+space())
		}
		return "[" + space() + strings.Join(parts, ",") + "]"
	case kind > 3 && depth < 5:
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			parts = append(parts, space()+quoted()+space()+":"+space()+anyText(t, depth+1)+space())
		}
		return "{" + space() + strings.Join(parts, ",") + "}"
	case kind > 1:
		return quoted()
	}
	return rapid.SampledFrom([]string{"0", "-1.5e+7", "true", "false", "null"}).Draw(t, "scalar")
}

// TestCounts checks that a Scanner counts as a tokenizer does, wherever the text is divided.
func TestCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(anyText(t, 0))
		values, depth := counted(t, text)
		var s jsonscan.Scanner
		at := rapid.IntRange(0, len(text)).Draw(t, "division")
		_, _ = s.Write(text[:at])
		_, _ = s.Write(text[at:])
		assert.Equal(t, s.Values, values, text)
		assert.Equal(t, s.Depth, depth, text)
	})
}

// TestID checks that the id of a message is the one that a decoder finds.
func TestID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{`1`, `"a"`, `"a\",}"`, `"\u0069d"`, `{"id":2}`, `[3]`, `-1.5`}).Draw(t, "id")
		members := []string{`"id":` + id}
		for i := range rapid.IntRange(0, 3).Draw(t, "others") {
			members = append(members, fmt.Sprintf(`"id%d": %s`, i, anyText(t, 1)))
		}
		text := "{" + strings.Join(rapid.Permutation(members).Draw(t, "order"), " , ") + "}\n"
		var message struct{ ID json.RawMessage }
		assert.NilError(t, json.Unmarshal([]byte(text), &message))
		got := jsonscan.Scan([]byte(text)).ID()
		assert.Assert(t, bytes.Equal(got, message.ID), "%s: got the id %s", text, got)
	})
}

func TestIDOfOtherTexts(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":1,"id":2}`:      "",
		`{"id":1,"\u0069d":2}`: "",
		`{"\u0069d":2}`:        "2",
		`{"ID":2}`:             "",
		`{"params":{"id":2}}`:  "",
		`[{"id":2}]`:           "",
		`{"id":2`:              "",
		`{"id":2} {}`:          "",
		`{"id":2}x`:            "",
		`{"{id":2}`:            "",
		`"id"`:                 "",
		`{"id":"` + strings.Repeat("x", 1000) + `"}`:                                       "",
		`{"` + strings.Repeat("x", 1000) + `":1,"id":2}`:                                   "2",
		`{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `,"id":2}`: "2",
	} {
		got := jsonscan.Scan([]byte(text)).ID()
		assert.Check(t, is.Equal(string(got), want), "%.60s %q", text, got)
	}
}

func TestIsAnswer(t *testing.T) {
	for text, want := range map[string]bool{
		`{"id":1,"result":{}}`:              true,
		`{"error":{"code":1},"id":null}`:    true,
		`{"id":1,"method":"x","result":{}}`: false,
		`{"id":1}`:                          false,
		`{"id":1,"params":{"result":1}}`:    false,
		`[{"result":1}]`:                    false,
	} {
		assert.Check(t, is.Equal(jsonscan.Scan([]byte(text)).IsAnswer(), want), text)
	}
}
