package sanitize_test

import (
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// TestPIN: a PIN is a secret, and "pin" as a verb is none.
func TestPIN(t *testing.T) {
	for name, secret := range map[string]bool{
		"pin": true, "PIN": true, "userPin": true, "pin2": true, "pin_code": true, "new-pin-confirm": true,
		"pin_to_taskbar": false, "pinTab": false, "Pin this window": false, "pins": false, "spin": false,
	} {
		assert.Check(t, is.Equal(sanitize.IsSecretName(name), secret), "%s %v", name, !secret)
	}
}

// TestCountsAreNoSecrets: a number of tokens is a count; a value that could be a token is a
// secret.
func TestCountsAreNoSecrets(t *testing.T) {
	for _, c := range []struct {
		name   string
		value  any
		hidden bool
	}{
		{"max_tokens", int64(4000), false}, {"budget_tokens", 4000.0, false}, {"maxTokens", 1, false}, {"tokens", true, false},
		{"max_tokens", "4000", false}, {"budget_tokens", "600", false}, {"max_tokens", "hunter2", true}, {"tokens", "471100", true}, {"tokens", []any{"a"}, true}, {"token", 4000, true}, {"api_token", 4000, true},
		{"otp_tokens", 123456, true}, {"token_count", 5, true},
	} {
		kept := sanitize.Redact(map[string]any{c.name: c.value}, nil, func(any) any { return nil })
		assert.Check(t, is.Equal(kept[c.name] == nil, c.hidden), "%s %v", c.name, c.value)
	}
	assert.Check(t, is.Equal(sanitize.Redact(map[string]any{"max_tokens": 5}, []string{"max_tokens"}, func(any) any { return sanitize.Redacted })["max_tokens"], sanitize.Redacted), "what its tool calls secret is not hidden")
}

// TestNamesOfLogins: the names of logins mark secrets, and names that only describe a login do not.
func TestNamesOfLogins(t *testing.T) {
	for name, secret := range map[string]bool{
		"auth": true, "proxyAuth": true, "connection_string": true, "DSN": true, "sentryDsn": true, "sessionid": true, "session-id": true, "pat": true, "github_pat": true,
		"auth_type": false, "author": false, "path": false, "pattern": false, "session": false,
	} {
		assert.Check(t, is.Equal(sanitize.IsSecretName(name), secret), "%s %v", name, !secret)
	}
}

// TestRedactPairs: a value beside a name that marks a secret is hidden, and so is an address's password.
func TestRedactPairs(t *testing.T) {
	args := map[string]any{
		"fields": []any{map[string]any{"name": "password", "value": "hunter2"}, map[string]any{"key": "API_TOKEN", "value": 7}, map[string]any{"name": "city", "value": "Rome"}},
		"url":    "postgres://ann:hunter2@db/a?b=c", "other": "https://example.org:8080/a@b",
	}
	kept := sanitize.Redact(args, nil, func(any) any { return sanitize.Redacted })
	want := "map[fields:[map[name:password value:[secret]] map[key:API_TOKEN value:[secret]] map[name:city value:Rome]] other:https://example.org:8080/a@b url:postgres://ann:[secret]@db/a?b=c]"
	assert.Check(t, is.Equal(fmt.Sprint(kept), want))
}

// TestRedactNested: a secret member of several objects is hidden in each, and nothing else.
func TestRedactNested(t *testing.T) {
	args := map[string]any{"value": "plain", "fields": []any{map[string]any{"query": "Name", "value": "Ann"}, map[string]any{"query": "Age", "value": 7}, "odd"}}
	kept := sanitize.Redact(args, []string{"fields.value"}, func(any) any { return sanitize.Redacted })
	got, want := fmt.Sprint(kept), "map[fields:[map[query:Name value:[secret]] map[query:Age value:[secret]] odd] value:plain]"
	assert.Check(t, is.Equal(got, want))
	assert.Check(t, is.Equal(fmt.Sprint(args["fields"]), "[map[query:Name value:Ann] map[query:Age value:7] odd]"), "the arguments were changed: %v", args)
}
