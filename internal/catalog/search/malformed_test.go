package search_test

import (
	"encoding/json"
	"strings"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
	if want := `   aai-gateway exec org.example.Evil paint '{"a": "'\''; touch /tmp/x; '\''"}'`; !strings.Contains(result.Text, want) {
		t.Errorf("no %s in:\n%s", want, result.Text)
	}
	if strings.Count(result.Text, "\n   ") != 1 {
		t.Errorf("the description is not one line:\n%s", result.Text)
	}
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
		if _, err := call(t, s, agent(), search.SearchTool, string(args)); err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
	for args, code := range map[string]aai.Code{
		`{"words": "` + strings.Repeat("x", 1001) + `"}`: aai.InvalidParams,
		`{"words": 1}`:                              aai.InvalidParams,
		`{"words": "trash", "limit": 0}`:            aai.InvalidParams,
		`{"words": "trash", "app": "org.none.App"}`: aai.AppNotFound,
	} {
		_, err := call(t, s, agent(), search.SearchTool, args)
		if e := aai.AsError(err); e == nil || e.Code != code {
			t.Errorf("%.60s: %v", args, err)
		}
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
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(result.Text, want) {
			t.Errorf("%s is told %q; want %q in it", who.Door, result.Text, want)
		}
	}
}

// TestOneWord checks that a request of one verb finds its tool.
func TestOneWord(t *testing.T) {
	apps := append(realApps(t), distractorApps(20)...)
	s := newSearch(t, &apps, nil)
	for words, want := range map[string]string{"ausrechnen": "org.gnome.Calculator calculate(", "计算": "org.gnome.Calculator calculate(", "calculate": "org.gnome.Calculator calculate("} {
		result, err := call(t, s, agent(), search.SearchTool, `{"words": "`+words+`"}`)
		if err != nil || !strings.Contains(result.Text, "1. "+want) {
			t.Errorf("%s: %v, %.200s", words, err, result.Text)
		}
	}
}
