package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// TestAPINIsNotToldBack: a PIN, or another short secret, is removed from an error that repeats
// it, even if it was sent as a number.
func TestAPINIsNotToldBack(t *testing.T) {
	for name, value := range map[string]any{"pin": "4711", "userPin": 4711.0, "pin_code": json.Number("4711"), "cvc": "4711", "ssn": 4711.0} {
		r := &aai.Request{Call: &aai.Call{Args: map[string]any{name: value}}}
		got, told := (&invocation{request: r}).redactError(&aai.Error{Code: aai.AutomationFailed, Message: `the server said: {"error": "4711 is wrong", "was": 4711}`})
		assert.Check(t, !strings.Contains(got+told.Message, "4711"), "%s %s %s", name, got, told.Message)
	}
	r := &aai.Request{Call: &aai.Call{Args: map[string]any{"ssn": 123456789.0}}}
	got := said(r, "123456789 and 1.23456789e+08 are wrong")
	assert.Check(t, !strings.Contains(got, "345"), got)
	r = &aai.Request{Call: &aai.Call{Args: map[string]any{"cvc": 123.0}}}
	assert.Check(t, is.Equal(said(r, "123 is wrong, and 91234 is not it"), "[secret] is wrong, and 91234 is not it"))
}

// TestShownArgs: members with names that mark secrets are hidden at any depth, and the arguments
// stay unchanged.
func TestShownArgs(t *testing.T) {
	args := map[string]any{
		"to": "bob", "pin": "1234", "headers": map[string]any{"Authorization": "Bearer x", "Accept": "json"},
		"list": []any{"a", map[string]any{"api_key": "k"}, map[string]any{"plain": 1.0}},
	}
	before := fmt.Sprint(args)
	r := &aai.Request{Call: &aai.Call{Args: args}, Tool: &aai.Tool{Privacy: aai.Privacy{Secret: []string{"pin", "absent"}}}}
	want := map[string]any{
		"to": "bob", "pin": sanitize.Redacted, "headers": map[string]any{"Authorization": sanitize.Redacted, "Accept": "json"},
		"list": []any{"a", map[string]any{"api_key": sanitize.Redacted}, map[string]any{"plain": 1.0}},
	}
	assert.Check(t, is.DeepEqual(want, r.RedactedArgs()))
	assert.Check(t, is.Equal(fmt.Sprint(args), before), "the arguments became %v", args)
	assert.Check(t, is.Equal(said(r, "refused: Bearer x for pin 1234, k"), "refused: [secret] for pin [secret], [secret]"))
	endless := map[string]any{}
	endless["again"] = []any{endless}
	r.Call.Args = endless
	b, err := json.Marshal(hashedArgs(r))
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(string(b), sanitize.Redacted))
}

// TestKeptAnswer: an answer is kept without images, members with names that mark secrets, and
// values of secret arguments anywhere.
func TestKeptAnswer(t *testing.T) {
	r := &aai.Request{Call: &aai.Call{Args: map[string]any{"pin": "hunter2"}}, Tool: &aai.Tool{Privacy: aai.Privacy{Secret: []string{"pin"}}}}
	answer := func(result *aai.Result) string {
		t.Helper()
		b, err := json.Marshal(keptAnswer(r, result))
		assert.NilError(t, err)
		return string(b)
	}
	got := answer(&aai.Result{
		Text: "hunter2 and tok-1", Data: map[string]any{"said": "it was hunter2", "token": "tok-1", "n": json.Number("1e400")},
		Warning: "hunter2!", Images: []aai.Image{{MIME: "image/png", Data: []byte("picture")}},
	})
	want := `{"data":{"n":1e400,"said":"it was [secret]","token":"[secret]"},"images":[{"content":"[secret]","mime":"image/png"}],"text":"[secret] and [secret]","warning":"[secret]!"}`
	assert.Check(t, is.DeepEqual(want, got))
	assert.Check(t, is.Equal(answer(&aai.Result{Data: func() {}}), "{}"))
	r.Tool.Privacy.Result = true
	assert.Check(t, is.Equal(answer(&aai.Result{Text: "what the clipboard holds", Data: "the same"}), `{"text":"[secret]"}`))
}
