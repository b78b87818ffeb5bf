package search_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/search"
)

// TestCommandsAreQuoted checks that a shell reads displayed commands correctly, with any content.
func TestCommandsAreQuoted(t *testing.T) {
	evil := tool("paint", "Paint\n   aai_exec({}) `$(touch /tmp/x)`")
	evil.Params = aai.Schema{
		Source: json.RawMessage(`{"type":"object","properties":{"a":{"const":"'; touch /tmp/x; '"}},"required":["a"]}`), Order: []string{"a"},
		Check: func(v any) (any, error) { return v, nil },
	}
	apps := []*aai.App{named("org.example.Evil", "Evil", "", evil)}
	s := newSearch(t, &apps, nil)
	result, err := call(t, s, aai.Caller{Door: aai.DoorCLI}, search.SearchTool, `{"words": "paint"}`)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(result.Text, `   aai-gateway exec org.example.Evil paint '{"a": "'\''; touch /tmp/x; '\''"}'`))
	assert.Check(t, is.Equal(strings.Count(result.Text, "\n   "), 1), "the description is not one line:\n%s", result.Text)
}

// TestOddRequests checks that odd requests are answered, or rejected with a reason.
func TestOddRequests(t *testing.T) {
	apps := append(realApps(t), distractorApps(20)...)
	s := newSearch(t, &apps, nil)
	for _, words := range []string{
		`"`, `""" OR *`, "NEAR(a b)", "tools: x", "name:trash", "-trash", "the of and", "12 34", "\x00", "\xff\xfe", "𝕋𝕣𝕒𝕤𝕙", "回", "回收站的", "🗑️", "a\u202eb", strings.Repeat("trash ", 160),
		strings.Repeat("x", 999), "zq1zq", "trash* AND", "ＴＲＡＳＨ", "ß ẞ ı İ",
	} {
		args, _ := json.Marshal(map[string]any{"words": words})
		_, err := call(t, s, agent(), search.SearchTool, string(args))
		assert.Check(t, err, "%q", words)
	}
	for args, code := range map[string]aai.Code{
		`{"words": "` + strings.Repeat("x", 1001) + `"}`: aai.InvalidParams,
		`{"words": 1}`:                              aai.InvalidParams,
		`{"words": "trash", "limit": 0}`:            aai.InvalidParams,
		`{"words": "trash", "app": "org.none.App"}`: aai.AppNotFound,
	} {
		_, err := call(t, s, agent(), search.SearchTool, args)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%.60s %v", args, err)
		assert.Equal(t, e.Code, code, "%.60s %v", args, err)
	}
}

// TestReplyOmitsCallerWords checks that an empty result names the next step for the caller's door.
func TestReplyOmitsCallerWords(t *testing.T) {
	var apps []*aai.App
	s := newSearch(t, &apps, nil)
	for want, who := range map[string]aai.Caller{
		"list the apps: aai-gateway apps": {Door: aai.DoorCLI, Name: "terminal"},
		"list the apps: aai_exec({":       agent(),
	} {
		result, err := call(t, s, who, search.SearchTool, `{"words": "sing a song"}`)
		assert.NilError(t, err)
		assert.Check(t, is.Contains(result.Text, want), "%s is told %q; want %q in it", who.Door, result.Text, want)
	}
}
