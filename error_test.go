package aai_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

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

func TestNearest(t *testing.T) {
	tools := []string{"send_email", "list_emails", "search", "delete_email", "Évènement"}
	for _, c := range []struct {
		name string
		n    int
		want []string
	}{
		{"send_emial", 1, []string{"send_email"}},
		{"SEND_EMAIL", 1, []string{"send_email"}},
		{"send\x1b_email", 1, []string{"send_email"}},
		{"email", 5, []string{"send_email", "list_emails", "delete_email"}},
		{"search_everything", 1, []string{"search"}},
		{"évènement", 1, []string{"Évènement"}},
		{"zzzzzzzz", 5, nil},
		{"", 5, nil},
		{"search", 0, nil},
	} {
		got := aai.Nearest(c.name, tools, c.n)
		assert.Check(t, slices.Equal(got, c.want), "Nearest(%q, %d) = %q, want %q", c.name, c.n, got, c.want)
	}
	for name, want := range map[string]int{"nope": 0, "mdoe": 1, "mope": 1, "node": 1} {
		got := aai.Nearest(name, []string{"mode"}, 1)
		assert.Check(t, is.Len(got, want), "Nearest(%q) of mode: %q", name, got)
	}
	got := aai.Nearest("a", nil, 3)
	assert.Check(t, got == nil, "among none: %q", got)
}

// TestNearestFindsOneSlip: for a name with one wrong letter, the right name is first.
func TestNearestFindsOneSlip(t *testing.T) {
	names := []string{"org.gnome.Calculator", "org.xfce.mousepad", "io.mpv.Mpv", "org.gtk.vfs.Daemon", "org.xfce.Thunar"}
	rapid.Check(t, func(t *rapid.T) {
		right := rapid.SampledFrom(names).Draw(t, "name")
		at := rapid.IntRange(0, len(right)-1).Draw(t, "at")
		slip := right[:at] + rapid.SampledFrom([]string{"", "x", right[at:at+1] + "q"}).Draw(t, "slip") + right[at+1:]
		got := aai.Nearest(slip, names, 3)
		assert.Assert(t, len(got) != 0, "Nearest(%q) = %q, want %q first", slip, got, right)
		assert.Equal(t, got[0], right, "%q %q", slip, got)
	})
}

// A caller may ask for an app by any of its names and by nothing else.
func TestAppNamed(t *testing.T) {
	app := &aai.App{ID: "org.example.Mail_1", Name: "Mail|邮件", Aliases: []string{"post"}}
	for name, want := range map[string]bool{
		"org.example.Mail_1": true, "ORG.example.mail_1": true, "app:org.example.Mail_1": true, app.WireName(): true,
		"mail": true, "邮件": true, "Post": true,
		"": false, "Mail|邮件": false, "org.example.Mail": false, "app:mail": false, "app_org_example_Mail_1": false,
	} {
		assert.Check(t, is.Equal(app.HasName(name), want), "%q %v", name, !want)
	}
	assert.Check(t, !new(aai.App).HasName(""), "nothing is a name")
}

// The golden hashes are from sha256sum(1).
func TestWireNameGolden(t *testing.T) {
	for _, c := range []struct{ id, want string }{
		{"app:com.apple.reminders", "app_com_apple_reminders"},
		{"app:org.gnome.Calculator", "app_org_gnome_Calculator"},
		{"web:discover", "web_discover"},
		{"aai:exec", "aai_exec"},
		{"a-b.c", "a-b_c"},
		{"a..b", "a__b"},
		{"app:org.freedesktop.impl.portal.desktop.gnome1", "app_org_freedesktop_impl_portal_desktop_gnome1"},
		{"app:org.freedesktop.impl.portal.desktop.gnomes1", "app_org_freedesktop_impl_portal_desktop_6fcbfe"},
		{"app:org.example." + strings.Repeat("x", 60), "app_org_example_" + strings.Repeat("x", 23) + "_f2b953"},
		{"my_" + strings.Repeat("x", 37), "my_" + strings.Repeat("x", 36) + "_4efa65"}, // 40, of which 39 fit
		{"my_app:do_it", "my_app_do_it_dd3f61"},
		{"shop.example/org.example.Shop", "shop_example_org_example_Shop_336a5d"},
		{"a b", "a_b_c8687a"},
		{"9lives", "x9lives_bc8673"},
		{"", "x_e3b0c4"},
		{":", "x_e7ac07"},
		{"_", "x_d2e2ad"},
		{"日历", "x_a00f29"},
		{"\x00\xff", "x_06eb7d"},
	} {
		assert.Check(t, is.Equal(aai.WireName(c.id), c.want), "%q", c.id)
	}
}

// TestWireNamesCanMeet checks the documented fact that two ids can have the same name, so that no
// code relies on the contrary.
func TestWireNamesCanMeet(t *testing.T) {
	for _, pair := range [][2]string{
		{"app:a.b", "app.a:b"},
		{"1", "x1.6b86b2"}, // made on purpose: the hash of the first, spelled out
	} {
		if a, b := aai.WireName(pair[0]), aai.WireName(pair[1]); a != b {
			t.Errorf("%q is %q and %q is %q", pair[0], a, pair[1], b)
		}
	}
}

func FuzzWireName(f *testing.F) {
	for _, id := range []string{
		"app:com.apple.reminders", "aai:exec", "", "_", "a_", "a__b", "日历", "9", "-", ":", ".",
		"a\x00b", "\xff", strings.Repeat("a", 46), strings.Repeat("a", 47), strings.Repeat("a.", 30),
		"app:" + strings.Repeat("日", 40), strings.Repeat("_", 100),
	} {
		f.Add(id)
	}
	allowed := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,45}$`)
	f.Fuzz(func(t *testing.T, id string) {
		name := aai.WireName(id)
		assert.Check(t, allowed.MatchString(name), "WireName(%q) = %q, want at most 46 of letters, digits, \"_\" and \"-\", a letter first", id, name)
		again := aai.WireName(strings.Clone(id))
		assert.Check(t, is.Equal(again, name), "WireName(%q) = %q, then %q", id, name, again)
		suffix := fmt.Sprintf("_%x", sha256.Sum256([]byte(id)))[:7]
		body, hashed := strings.CutSuffix(name, suffix)
		assert.Check(t, !hashed || !strings.HasSuffix(body, "_"), "WireName(%q) = %q has two \"_\" before its hash", id, name)
		assert.Check(t, hashed || name == strings.NewReplacer(":", "_", ".", "_").Replace(id), "WireName(%q) = %q has no hash, but is not the id", id, name)
	})
}

// TestWireNameInjective: ids of this form, which is that of app ids, never meet.
func TestWireNameInjective(t *testing.T) {
	ids := rapid.StringMatching(`[a-z][a-z0-9.-]{0,45}`)
	near := rapid.Custom(func(t *rapid.T) [2]string {
		a := ids.Draw(t, "id")
		at := rapid.IntRange(0, len(a)-1).Draw(t, "at")
		c := rapid.SampledFrom([]string{"", ".", "-", "a", "0", "_"}).Draw(t, "instead")
		return [2]string{a, a[:at] + c + a[at+1:]}
	})
	rapid.Check(t, func(t *rapid.T) {
		pair := [2]string{ids.Draw(t, "a"), ids.Draw(t, "b")}
		if rapid.Bool().Draw(t, "near") {
			pair = near.Draw(t, "pair")
		}
		a, b := aai.WireName(pair[0]), aai.WireName(pair[1])
		assert.Equal(t, (a == b), (pair[0] == pair[1]), "%q %q %q %q", pair[0], a, pair[1], b)
	})
}
