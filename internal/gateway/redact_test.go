package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// TestAPINIsNotToldBack: a PIN, or another short secret, is removed from an error that repeats
// it, even if it was sent as a number.
func TestAPINIsNotToldBack(t *testing.T) {
	for name, value := range map[string]any{"pin": "4711", "userPin": 4711.0, "pin_code": json.Number("4711"), "cvc": "4711", "ssn": 4711.0} {
		r := &aai.Request{Call: &aai.Call{Args: map[string]any{name: value}}}
		got, told := (&invocation{request: r}).redactError(&aai.Error{Code: aai.AutomationFailed, Message: `the server said: {"error": "4711 is wrong", "was": 4711}`})
		if strings.Contains(got+told.Message, "4711") {
			t.Errorf("%s: %s, %s", name, got, told.Message)
		}
	}
	r := &aai.Request{Call: &aai.Call{Args: map[string]any{"ssn": 123456789.0}}}
	if got := said(r, "123456789 and 1.23456789e+08 are wrong"); strings.Contains(got, "345") {
		t.Error(got)
	}
	r = &aai.Request{Call: &aai.Call{Args: map[string]any{"cvc": 123.0}}}
	if got := said(r, "123 is wrong, and 91234 is not it"); got != "[secret] is wrong, and 91234 is not it" {
		t.Error(got)
	}
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
	if diff := cmp.Diff(want, r.RedactedArgs()); diff != "" {
		t.Error(diff)
	}
	if fmt.Sprint(args) != before {
		t.Errorf("the arguments became %v", args)
	}
	if got := said(r, "refused: Bearer x for pin 1234, k"); got != "refused: [secret] for pin [secret], [secret]" {
		t.Error(got)
	}
	endless := map[string]any{}
	endless["again"] = []any{endless}
	r.Call.Args = endless
	if b, err := json.Marshal(hashedArgs(r)); err != nil || !strings.Contains(string(b), sanitize.Redacted) {
		t.Errorf("%v", err)
	}
}

// TestKeptAnswer: an answer is kept without images, members with names that mark secrets, and
// values of secret arguments anywhere.
func TestKeptAnswer(t *testing.T) {
	r := &aai.Request{Call: &aai.Call{Args: map[string]any{"pin": "hunter2"}}, Tool: &aai.Tool{Privacy: aai.Privacy{Secret: []string{"pin"}}}}
	answer := func(result *aai.Result) string {
		t.Helper()
		b, err := json.Marshal(keptAnswer(r, result))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	got := answer(&aai.Result{
		Text: "hunter2 and tok-1", Data: map[string]any{"said": "it was hunter2", "token": "tok-1", "n": json.Number("1e400")},
		Warning: "hunter2!", Images: []aai.Image{{MIME: "image/png", Data: []byte("picture")}},
	})
	want := `{"data":{"n":1e400,"said":"it was [secret]","token":"[secret]"},"images":[{"content":"[secret]","mime":"image/png"}],"text":"[secret] and [secret]","warning":"[secret]!"}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := answer(&aai.Result{Data: func() {}}); got != "{}" {
		t.Error(got)
	}
	r.Tool.Privacy.Result = true
	if got := answer(&aai.Result{Text: "what the clipboard holds", Data: "the same"}); got != `{"text":"[secret]"}` {
		t.Error(got)
	}
}
