package gateway

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// repeats returns the forms in which apps, sites and drivers may repeat a secret. Each wraps the
// output of the previous one.
func repeats(t *testing.T) map[string]func(string) string {
	asJSON := func(text string) string {
		b, err := json.Marshal(map[string]string{"password": text})
		assert.NilError(t, err)
		return string(b)
	}
	return map[string]func(string) string{
		"as it is":            func(s string) string { return "refused: " + s + "." },
		"quoted":              func(s string) string { return "got " + strconv.Quote(s) },
		"quoted in ASCII":     func(s string) string { return "got " + strconv.QuoteToASCII(s) },
		"in JSON":             asJSON,
		"JSON in JSON":        func(s string) string { return asJSON(asJSON(s)) },
		"JSON, quoted twice":  func(s string) string { return strconv.Quote(strconv.Quote(asJSON(s))) },
		"JSON in a URL":       func(s string) string { return "?q=" + url.QueryEscape(asJSON(s)) },
		"in a query":          func(s string) string { return "?q=" + url.QueryEscape(s) },
		"in a path":           func(s string) string { return "/a/" + url.PathEscape(s) + "/b" },
		"cleaned":             func(s string) string { return aai.CleanLabel("refused: "+s, 1<<20) },
		"cleaned, of lines":   func(s string) string { return aai.CleanText("refused: "+s, 1<<20) },
		"cleaned and quoted":  func(s string) string { return strconv.Quote(aai.CleanLabel("refused: "+s, 1<<20)) },
		"in base64":           func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) },
		"in base64 for URLs":  func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
		"in hexadecimal":      func(s string) string { return hex.EncodeToString([]byte(s)) },
		"in big hexadecimal":  func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
		"cut":                 func(s string) string { return aai.CleanLabel("no: "+s, len("no: …")+max(leastCut, len(s)/2)) },
		"cut and then quoted": func(s string) string { return strconv.Quote(aai.CleanLabel(s, len("…")+max(leastCut, len(s)/2))) },
	}
}

// leastCut is how much of a secret is left of it at least that is taken out.
const leastCut = 4

// said returns the recorded message of an error with the text.
func said(r *aai.Request, text string) string {
	on, _ := (&invocation{request: r}).redactError(&aai.Error{Code: aai.AutomationFailed, Message: text})
	return on
}

// TestSecretsInEveryWriting: a secret is removed in every encoding. Neither its core, which all
// encodings except base64 and hexadecimal preserve, nor an encoding of the whole remains.
func TestSecretsInEveryWriting(t *testing.T) {
	const core = "SeCrEt4711"
	for name, repeat := range repeats(t) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				secret := core + rapid.StringOfN(rapid.RuneFrom([]rune("aß\"\\/+ \n\t\u200b<&%'\x1b…=")), 0, 20, -1).Draw(t, "rest")
				r := &aai.Request{Call: &aai.Call{Args: map[string]any{"password": secret}}}
				text := repeat(secret)
				got := said(r, text)
				assert.Assert(t, !strings.Contains(got, core[:leastCut+1]), "%q became %q", text, got)
				assert.Assert(t, is.Contains(got, sanitize.Redacted), "%q", text)
			})
		})
	}
}

// TestLongSecretsInEveryWriting: for long secrets a shared fragment, and for many any of them,
// withholds the whole text. Other texts stay unchanged.
func TestLongSecretsInEveryWriting(t *testing.T) {
	for name, repeat := range repeats(t) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				signs := rapid.StringOfN(rapid.RuneFrom([]rune("abcdefgh0123ß\"\\/+ \n\t<&%'=")), 20, 60, -1)
				secrets := rapid.SliceOfN(signs, 30, 60).Draw(t, "secrets")
				args := map[string]any{"password": strings.Join(secrets, "SeCrEt4711")}
				if rapid.Bool().Draw(t, "many") {
					args["password"] = toAny(append(secrets, args["password"].(string)))
				}
				r := &aai.Request{Call: &aai.Call{Args: args}}
				secret := strings.Join(secrets, "SeCrEt4711")
				assert.Check(t, is.Equal(said(r, repeat(secret)), sanitize.Omitted), "%.200q", repeat(secret))
				got := said(r, "nothing of it; no, not at all")
				assert.Check(t, is.Equal(got, "nothing of it; no, not at all"), "it became %q", got)
			})
		})
	}
}

func toAny(texts []string) (all []any) {
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}

// A text that no secret is in stays as it is, and of a short secret nothing but
// itself is looked for.
func TestWithoutSecretsLeavesTheRest(t *testing.T) {
	r := &aai.Request{Call: &aai.Call{Args: map[string]any{"password": "hunter2", "otp": 12}}}
	for _, text := range []string{"", "…", "hun…", "h…unter", "refused…", "a hunt for 120 %20 hunters", "[secret]"} {
		assert.Check(t, is.Equal(said(r, text), text))
	}
	got := sanitize.SecretEncodings([]string{"äx"})
	assert.Check(t, slices.Equal(got, []string{"äx"}), "%q", got)
}

// failing is a catalog of one app, a gate that admits and a journal that forgets.
type failing struct{ app *aai.App }

func (f failing) Apps() []*aai.App                                            { return []*aai.App{f.app} }
func (f failing) Find(context.Context, string) (*aai.App, error)              { return f.app, nil }
func (f failing) OnChange(func()) func()                                      { return func() {} }
func (f failing) Check(context.Context, *aai.Request) ([]aai.Question, error) { return nil, nil }
func (f failing) Record(context.Context, *aai.Entry) error                    { return nil }

// TestCallersAreNotToldTheirSecrets: errors do not repeat the call's secrets to the caller,
// except values set in a window that are too short to be secret.
func TestCallersAreNotToldTheirSecrets(t *testing.T) {
	kept := &aai.Error{Code: aai.AutomationFailed, Message: `no: "p\"w4711"`, Hint: "look", Delivery: aai.Delivered}
	anything := aai.Schema{Check: func(value any) (any, error) { return value, nil }}
	run := func(context.Context, *aai.Call) (*aai.Result, error) { return nil, kept }
	parts := failing{&aai.App{ID: "app", Tools: []*aai.Tool{{Name: "tool", Params: anything, Run: run}}}}
	g := &Gateway{Catalog: parts, Gates: []aai.Gate{parts}, Journal: parts}
	_, err := g.Do(t.Context(), &aai.Call{App: "app", Tool: "tool", Args: map[string]any{"password": `p"w4711`}})
	e := aai.AsError(err)
	assert.Check(t, is.Equal(e.Message, `no: "[secret]"`), "%+v", e)
	assert.Check(t, is.Equal(e.Code, aai.AutomationFailed), "%+v", e)
	assert.Check(t, is.Equal(e.Hint, "look"), "%+v", e)
	assert.Check(t, is.Equal(e.Delivery, aai.Delivered), "%+v", e)
	assert.Check(t, is.Equal(kept.Message, `no: "p\"w4711"`), "the driver's error became %+v", kept)
	parts.app.Operator = fakeoperator.Operator{Find: func(context.Context, *aai.Call, string) (*aai.App, error) { return parts.app, nil }}
	for value, want := range map[string]string{"3": `it is 5 and not 3`, "hunter2": `it is 5 and not [secret]`} {
		kept.Message = "it is 5 and not " + value
		_, err := g.Do(t.Context(), &aai.Call{App: "app", Tool: "tool", Args: map[string]any{"password": value}})
		assert.Check(t, is.Equal(aai.AsError(err).Message, want), err)
	}
}

// TestWhatIsNoSecretIsTold: parameters that the Action or the tool marks as not secret are
// reported and recorded unchanged.
func TestWhatIsNoSecretIsTold(t *testing.T) {
	anything := aai.Schema{Check: func(value any) (any, error) { return value, nil }}
	reveal := false
	tool := &aai.Tool{Name: "tool", Params: anything, Privacy: aai.Privacy{Secret: []string{"value", "key"}, NonSecret: func(args map[string]any) []string {
		if args["modifiers"] != nil {
			return []string{"key"}
		}
		return nil
	}}, Run: func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		if reveal {
			MarkNotSecret(ctx, "value")
		}
		return nil, &aai.Error{Code: aai.ElementNotFound, Message: `no option "Purple"; ctrl+save`}
	}}
	parts := failing{&aai.App{ID: "app", Tools: []*aai.Tool{tool}}}
	g := &Gateway{Catalog: parts, Gates: []aai.Gate{parts}, Journal: parts}
	for _, c := range []struct {
		reveal bool
		with   any
		want   string
	}{
		{false, nil, `no option "[secret]"; ctrl+[secret]`},
		{true, nil, `no option "Purple"; ctrl+[secret]`},
		{false, "ctrl", `no option "[secret]"; ctrl+save`},
		{true, "ctrl", `no option "Purple"; ctrl+save`},
	} {
		reveal = c.reveal
		args := map[string]any{"value": "Purple", "key": "save"}
		if c.with != nil {
			args["modifiers"] = c.with
		}
		_, err := g.Do(t.Context(), &aai.Call{App: "app", Tool: "tool", Args: args})
		assert.Check(t, is.Equal(aai.AsError(err).Message, c.want), "%+v %v", c, err)
	}
}

// passing returns a context that ends when the function is called, as by a deadline.
func passing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	return passed{ctx}, cancel
}

type passed struct{ context.Context }

func (p passed) Err() error {
	if p.Context.Err() == nil {
		return nil
	}
	return context.DeadlineExceeded
}

// A call that only reads has done nothing, however it ended; one that acts may have.
func TestACancelledReadDidNotAct(t *testing.T) {
	const claimed = aai.Effect(100)
	anything := aai.Schema{Check: func(value any) (any, error) { return value, nil }}
	for effect, want := range map[aai.Effect]aai.Delivery{aai.Reads: aai.NotDelivered, aai.Changes: aai.DeliveryUnknown, aai.Destroys: aai.DeliveryUnknown, claimed: aai.DeliveryUnknown} {
		for name, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
			"cancelled": context.WithCancel,
			"obeys":     context.WithCancel,
			"late":      passing,
		} {
			ctx, cancel := end(t.Context())
			never := make(chan struct{})
			tool := &aai.Tool{Name: "tool", Params: anything, Effect: effect, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Run: func(context.Context, *aai.Call) (*aai.Result, error) {
				cancel()
				if name == "obeys" {
					return nil, ctx.Err()
				}
				<-never
				return nil, nil
			}}
			if effect == claimed { // as a descriptor declares
				tool.Effect, tool.Assess = aai.Reads, nil
			}
			parts := failing{&aai.App{ID: "app", Tools: []*aai.Tool{tool}}}
			g := &Gateway{Catalog: parts, Gates: []aai.Gate{parts}, Journal: parts}
			_, err := g.Do(ctx, &aai.Call{App: "app", Tool: "tool"})
			e := aai.AsError(err)
			assert.Assert(t, e != nil, "effect %v, %s: %+v, want %s", effect, name, e, want)
			assert.Equal(t, e.Delivery, want, "%v %s %+v", effect, name, e)
			close(never)
			cancel()
		}
	}
}

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

// TestProgressBesideManySecrets checks that a message is redacted, and omitted beside more secrets than can
// be compared often.
func TestProgressBesideManySecrets(t *testing.T) {
	for secret, want := range map[string]string{
		"hunter22": "at [redacted]",
		strings.Repeat("x", maxProgressSecrets+1): "",
	} {
		p := newInvocation(t.Context(), &Gateway{}, &aai.Call{Args: map[string]any{"s": secret}}, make(chan struct{}, 1))
		p.clock.alarm.Stop()
		p.request.Tool = &aai.Tool{Privacy: aai.Privacy{Secret: []string{"s"}}}
		p.setProgress(1, 2, "at hunter22")
		got := p.lastProgress
		assert.Assert(t, got.done == 1, "%.20s %+v", secret, got)
		assert.Assert(t, !strings.Contains(got.message, "hunter22"), "%.20s %+v", secret, got)
		assert.Equal(t, (want == ""), (got.message == ""), "%.20s %+v", secret, got)
	}
}
