package aai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

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
		if got := code.Number(); got != want {
			t.Errorf("%s: %d, want %d", code, got, want)
		}
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
		if string(code) != want {
			t.Errorf("%q, want %q", code, want)
		}
	}
}

// TestAlias: the names of the protocol's page on errors, for those that know only them.
func TestAlias(t *testing.T) {
	for code, want := range map[aai.Code]string{
		aai.AppNotFound: "UNKNOWN_APP", aai.ToolNotFound: "UNKNOWN_TOOL", aai.InvalidParams: "INVALID_REQUEST",
		aai.AutomationNotSupported: "NOT_IMPLEMENTED", aai.AppNotRunning: "SERVICE_UNAVAILABLE", aai.AuthInvalid: "AUTH_CONFIG_INVALID",
		aai.DescriptorInvalid: "", aai.Timeout: "", aai.RateLimited: "",
	} {
		if got := (&aai.Error{Code: code}).ProtocolCode(); got != want {
			t.Errorf("%s is also called %q, want %q", code, got, want)
		}
	}
	if got := (&aai.Error{Code: aai.DescriptorInvalid, Alias: "INVALID_REQUEST"}).ProtocolCode(); got != "INVALID_REQUEST" {
		t.Errorf("an error that says so is also called %q", got)
	}
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
			if e == nil || e.Code != c.code || e.Delivery != c.delivery || e.Message != c.message {
				t.Fatalf("got %+v", e)
			}
			if errors.As(c.err, new(*aai.Error)) {
				return
			}
			if !errors.Is(e, c.err) {
				t.Error("the cause is lost")
			}
		})
	}
	if e := aai.AsError(nil); e != nil {
		t.Errorf("AsError(nil) = %v", e)
	}
	if e := aai.AsError(own); e != own {
		t.Error("an *Error was copied")
	}
}

func TestErrorf(t *testing.T) {
	e := aai.Errorf(aai.DescriptorInvalid, "tools[%d].name: %w", 3, io.ErrUnexpectedEOF)
	if e.Code != aai.DescriptorInvalid || e.Message != "tools[3].name: unexpected EOF" {
		t.Errorf("%+v", e)
	}
	if !errors.Is(e, io.ErrUnexpectedEOF) || errors.Unwrap(e) != io.ErrUnexpectedEOF { //nolint:errorlint // the cause itself is meant
		t.Errorf("the cause is %v", e.Err)
	}
	if got, want := e.Error(), "AAI_JSON_INVALID: tools[3].name: unexpected EOF"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	inner := aai.Errorf(aai.Timeout, "slow")
	if outer := aai.Errorf(aai.Internal, "step 2: %w", inner); aai.AsError(outer.Err) != inner || aai.AsError(outer) != outer {
		t.Errorf("an *Error within an *Error: %+v", outer)
	}
	if e := aai.Errorf(aai.Internal, "said %v", io.EOF); e.Err != nil || errors.Is(e, io.EOF) {
		t.Errorf("%%v made a cause: %v", e.Err)
	}
	if e := aai.Errorf(aai.Internal, "100%%"); e.Message != "100%" || e.Hint != "" || e.Delivery != "" {
		t.Errorf("%+v", e)
	}
}

func TestRetrySafe(t *testing.T) {
	for delivery, want := range map[aai.Delivery]bool{
		"": true, aai.NotDelivered: true, aai.Delivered: false, aai.DeliveryUnknown: false, "made up": false,
	} {
		if got := (&aai.Error{Delivery: delivery}).RetrySafe(); got != want {
			t.Errorf("%q: %v", delivery, got)
		}
	}
}

func TestEffects(t *testing.T) {
	if aai.Destroys >= aai.Changes || aai.Changes >= aai.Reads {
		t.Error("the effects are not ordered by danger")
	}
	var forgotten aai.Effect
	if forgotten != aai.Destroys {
		t.Error("an effect that was forgotten is not the most dangerous one")
	}
	for effect, want := range map[aai.Effect]string{
		aai.Destroys: "destroys", aai.Changes: "changes", aai.Reads: "reads", 99: "destroys", -1: "destroys",
	} {
		if got := effect.String(); got != want {
			t.Errorf("%d is %q, want %q", effect, got, want)
		}
	}
}

func TestCallerString(t *testing.T) {
	for want, c := range map[string]aai.Caller{
		"mcp:claude-ai": {Door: aai.DoorMCP, Name: "claude-ai"},
		"cli:":          {Door: aai.DoorCLI},
		"mcp:a b":       {Door: aai.DoorMCP, Name: " a\n\x1b b\u202e "},
	} {
		if got := c.String(); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
}
