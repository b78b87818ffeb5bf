package aai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestNumber compares the numbers with the table of the AAI protocol, section 2.7. Our own codes
// share the number of the more general code.
func TestNumber(t *testing.T) {
	for code, want := range map[aai.Code]int{
		"AUTOMATION_FAILED":        -32001,
		"APP_NOT_FOUND":            -32002,
		"TOOL_NOT_FOUND":           -32003,
		"PERMISSION_DENIED":        -32004,
		"INVALID_PARAMS":           -32005,
		"AUTOMATION_NOT_SUPPORTED": -32006,
		"AAI_JSON_INVALID":         -32007,
		"TIMEOUT":                  -32008,
		"APP_NOT_RUNNING":          -32009,
		"SCRIPT_PARSE_ERROR":       -32010,
		"CONSENT_REQUIRED":         -32004,
		"AUTH_REQUIRED":            -32011,
		"AUTH_EXPIRED":             -32012,
		"API_REQUEST_FAILED":       -32013,
		"AUTH_INVALID":             -32014,
		"AUTH_DENIED":              -32004,
		"RATE_LIMITED":             -32000,
		"RECORD_FAILED":            -32603,
		"INTERNAL":                 -32603,
		"":                         -32603,
		"NOBODY_KNOWS":             -32603,
	} {
		assert.Check(t, is.Equal(code.Number(), want), code)
	}
}

// TestCodeNames ties the constants to the names that go over the wire.
func TestCodeNames(t *testing.T) {
	for code, want := range map[aai.Code]string{
		aai.AutomationFailed: "AUTOMATION_FAILED", aai.AppNotFound: "APP_NOT_FOUND", aai.ToolNotFound: "TOOL_NOT_FOUND",
		aai.PermissionDenied: "PERMISSION_DENIED", aai.ConsentRequired: "CONSENT_REQUIRED", aai.InvalidParams: "INVALID_PARAMS",
		aai.AutomationNotSupported: "AUTOMATION_NOT_SUPPORTED", aai.DescriptorInvalid: "AAI_JSON_INVALID", aai.Timeout: "TIMEOUT",
		aai.AppNotRunning: "APP_NOT_RUNNING", aai.StaleRef: "STALE_REF", aai.AmbiguousTarget: "AMBIGUOUS_TARGET",
		aai.ElementNotFound: "ELEMENT_NOT_FOUND", aai.RecordFailed: "RECORD_FAILED", aai.Internal: "INTERNAL",
		aai.AuthRequired: "AUTH_REQUIRED", aai.AuthExpired: "AUTH_EXPIRED", aai.AuthDenied: "AUTH_DENIED",
		aai.AuthInvalid: "AUTH_INVALID", aai.APIRequestFailed: "API_REQUEST_FAILED", aai.RateLimited: "RATE_LIMITED",
		aai.ScriptParseError: "SCRIPT_PARSE_ERROR",
	} {
		assert.Check(t, is.Equal(string(code), want), "%q", code)
	}
}

// TestAlias: the names of the protocol's page on errors, for those that know only them.
func TestAlias(t *testing.T) {
	for code, want := range map[aai.Code]string{
		aai.AppNotFound: "UNKNOWN_APP", aai.ToolNotFound: "UNKNOWN_TOOL", aai.InvalidParams: "INVALID_REQUEST",
		aai.AutomationNotSupported: "NOT_IMPLEMENTED", aai.AppNotRunning: "SERVICE_UNAVAILABLE", aai.AuthInvalid: "AUTH_CONFIG_INVALID",
		aai.DescriptorInvalid: "", aai.Timeout: "", aai.RateLimited: "",
	} {
		got := (&aai.Error{Code: code}).ProtocolCode()
		assert.Check(t, is.Equal(got, want), "%s is also called %q, want %q", code, got, want)
	}
	got := (&aai.Error{Code: aai.DescriptorInvalid, Alias: "INVALID_REQUEST"}).ProtocolCode()
	assert.Check(t, is.Equal(got, "INVALID_REQUEST"), "an error that says so is also called %q", got)
}

func TestAsError(t *testing.T) {
	own := &aai.Error{Code: aai.AppNotRunning, Message: "not running", Hint: "start it"}
	plain := errors.New("it broke")
	for name, c := range map[string]struct {
		err      error
		code     aai.Code
		delivery aai.Delivery
		message  string
	}{
		"its own":          {own, aai.AppNotRunning, "", "not running"},
		"its own within":   {fmt.Errorf("call: %w", own), aai.AppNotRunning, "", "not running"},
		"its own joined":   {errors.Join(plain, own), aai.AppNotRunning, "", "not running"},
		"plain":            {plain, aai.AutomationFailed, aai.DeliveryUnknown, "it broke"},
		"deadline":         {fmt.Errorf("read: %w", context.DeadlineExceeded), aai.Timeout, aai.DeliveryUnknown, "the deadline passed before the app answered"},
		"cancelled":        {fmt.Errorf("read: %w", context.Canceled), aai.AutomationFailed, aai.DeliveryUnknown, "the caller cancelled the call"},
		"its own deadline": {&aai.Error{Code: aai.Internal, Message: "m", Err: context.DeadlineExceeded}, aai.Internal, "", "m"},
	} {
		t.Run(name, func(t *testing.T) {
			e := aai.AsError(c.err)
			assert.Assert(t, e != nil, "%+v", e)
			assert.Equal(t, e.Code, c.code, "%+v", e)
			assert.Equal(t, e.Delivery, c.delivery, "%+v", e)
			assert.Equal(t, e.Message, c.message, "%+v", e)
			if errors.As(c.err, new(*aai.Error)) {
				return
			}
			assert.Check(t, is.ErrorIs(e, c.err), "the cause is lost")
		})
	}
	e := aai.AsError(nil)
	assert.Check(t, e == nil, "AsError(nil) = %v", e)
	assert.Check(t, is.Equal(aai.AsError(own), own))
}

func TestErrorf(t *testing.T) {
	e := aai.Errorf(aai.DescriptorInvalid, "tools[%d].name: %w", 3, io.ErrUnexpectedEOF)
	assert.Check(t, is.Equal(e.Code, aai.DescriptorInvalid), "%+v", e)
	assert.Check(t, is.Equal(e.Message, "tools[3].name: unexpected EOF"), "%+v", e)
	if !errors.Is(e, io.ErrUnexpectedEOF) || errors.Unwrap(e) != io.ErrUnexpectedEOF { //nolint:errorlint // the cause itself is meant
		t.Errorf("the cause is %v", e.Err)
	}
	got, want := e.Error(), "AAI_JSON_INVALID: tools[3].name: unexpected EOF"
	assert.Check(t, is.Equal(got, want))
	inner := aai.Errorf(aai.Timeout, "slow")
	outer := aai.Errorf(aai.Internal, "step 2: %w", inner)
	assert.Check(t, is.Equal(aai.AsError(outer.Err), inner))
	assert.Check(t, is.Equal(aai.AsError(outer), outer))
	if e := aai.Errorf(aai.Internal, "said %v", io.EOF); e.Err != nil || errors.Is(e, io.EOF) {
		t.Errorf("%%v made a cause: %v", e.Err)
	}
	e = aai.Errorf(aai.Internal, "100%%")
	assert.Check(t, is.Equal(e.Message, "100%"), "%+v", e)
	assert.Check(t, is.Equal(e.Hint, ""), "%+v", e)
	assert.Check(t, e.Delivery == "", "%+v", e)
}

func TestRetrySafe(t *testing.T) {
	for delivery, want := range map[aai.Delivery]bool{
		"": true, aai.NotDelivered: true, aai.Delivered: false, aai.DeliveryUnknown: false, "made up": false,
	} {
		assert.Check(t, is.Equal((&aai.Error{Delivery: delivery}).RetrySafe(), want), "%q", delivery)
	}
}

func TestEffects(t *testing.T) {
	assert.Check(t, aai.Destroys < aai.Changes, "the effects are not ordered by danger")
	assert.Check(t, aai.Changes < aai.Reads, "the effects are not ordered by danger")
	var forgotten aai.Effect
	assert.Check(t, is.Equal(forgotten, aai.Destroys), "an effect that was forgotten is not the most dangerous one")
	for effect, want := range map[aai.Effect]string{
		aai.Destroys: "destroys", aai.Changes: "changes", aai.Reads: "reads", 99: "destroys", -1: "destroys",
	} {
		assert.Check(t, is.Equal(effect.String(), want), "%d", effect)
	}
}

func TestCallerString(t *testing.T) {
	for want, c := range map[string]aai.Caller{
		"mcp:claude-ai": {Door: aai.DoorMCP, Name: "claude-ai"},
		"cli:":          {Door: aai.DoorCLI},
		"mcp:a b":       {Door: aai.DoorMCP, Name: " a\n\x1b b\u202e "},
	} {
		assert.Check(t, is.Equal(c.String(), want), "%+v", c)
	}
}
