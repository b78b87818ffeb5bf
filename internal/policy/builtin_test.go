package policy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func ownRequest(door, tool string, effect aai.Effect) *aai.Request {
	app := &aai.App{ID: aai.BuiltinApp, Tools: []*aai.Tool{{Name: tool, Effect: effect}}}
	return &aai.Request{
		Call: &aai.Call{Caller: aai.Caller{Door: door, Name: "x"}, App: app.ID, Tool: tool, Target: app},
		App:  app, Tool: app.Tools[0],
	}
}

func TestBuiltinGate(t *testing.T) {
	at := func(way aai.Channel) *BuiltinGate {
		return NewBuiltinGate(BuiltinConfig{
			AgentTools: []string{"apps", "guide", "consent_grant"}, PersonDoors: []string{aai.DoorCLI}, PassphraseTool: "consent_passphrase",
			IsNarrowing: func(r *aai.Request) bool { return r.Tool.Name == "auth_logout" }, Authenticator: &somebody{way: way},
		})
	}
	gate, none := at(aai.DesktopDialog), at("")
	for _, c := range []struct {
		name   string
		gate   *BuiltinGate
		door   string
		tool   string
		effect aai.Effect
		want   string
	}{
		{"an agent reads what is open", gate, aai.DoorMCP, "guide", aai.Reads, "admits"},
		{"an agent reads what is not open", gate, aai.DoorMCP, "history", aai.Reads, "PERMISSION_DENIED"},
		{"open, but it changes something", gate, aai.DoorMCP, "consent_grant", aai.Changes, "asks"},
		{"open, but nobody said what it does", gate, aai.DoorMCP, "guide", aai.Destroys, "asks"},
		{"almost the name of an open tool", gate, aai.DoorMCP, "guide2", aai.Reads, "PERMISSION_DENIED"},
		{"a person reads what is not open", gate, aai.DoorCLI, "history", aai.Reads, "admits"},
		{"a person changes consent", gate, aai.DoorCLI, "consent_revoke", aai.Destroys, "asks"},
		{"a door that nobody knows", gate, "cli2", "consent_revoke", aai.Changes, "asks"},
		{"no door at all", gate, "", "consent_revoke", aai.Changes, "asks"},
		{"what narrows", none, aai.DoorCLI, "auth_logout", aai.Changes, "admits"},
		{"what narrows, by an agent", gate, aai.DoorMCP, "auth_logout", aai.Changes, "asks"},
		{"nothing to prove it by", none, aai.DoorCLI, "mode_set", aai.Changes, "PERMISSION_DENIED"},
		{"nothing to prove it by, an agent", none, aai.DoorMCP, "mode_set", aai.Changes, "PERMISSION_DENIED"},
		{"the first passphrase", none, aai.DoorCLI, "consent_passphrase", aai.Changes, "asks"},
		{"the first passphrase, by an agent", none, aai.DoorMCP, "consent_passphrase", aai.Changes, "PERMISSION_DENIED"},
		{"a passphrase", at(aai.Passphrase), aai.DoorCLI, "mode_set", aai.Changes, "asks"},
		{"the zero gate, an agent", &BuiltinGate{}, aai.DoorMCP, "guide", aai.Reads, "PERMISSION_DENIED"},
		{"the zero gate, a person", &BuiltinGate{}, aai.DoorCLI, "guide", aai.Reads, "PERMISSION_DENIED"},
		{"the zero gate, nobody", &BuiltinGate{}, "", "", aai.Reads, "PERMISSION_DENIED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ownRequest(c.door, c.tool, c.effect)
			assert.Check(t, is.Equal(check(c.gate, r), c.want))
			assert.Check(t, is.Equal(r.Consent != "", (c.want == "admits")), "consent on record is %q", r.Consent)
		})
	}
}

// TestNoFirstProofWhereAScreenIsHidden checks that the first passphrase cannot be set at a
// terminal if a screen may be hidden, and that this is checked only without other methods.
func TestNoFirstProofWhereAScreenIsHidden(t *testing.T) {
	for way, want := range map[aai.Channel]string{"": "PERMISSION_DENIED", aai.DesktopDialog: "asks", aai.Passphrase: "asks"} {
		gate := NewBuiltinGate(BuiltinConfig{
			PersonDoors: []string{aai.DoorCLI}, PassphraseTool: "consent_passphrase", Authenticator: &somebody{way: way},
			FirstReauthBlocked: func(context.Context) error { return errors.New("it is in a box") },
		})
		assert.Check(t, is.Equal(check(gate, ownRequest(aai.DoorCLI, "consent_passphrase", aai.Changes)), want), "%q", way)
	}
}

// TestWhyNobodyCanProveIt checks that the error gives a person the reason why no
// passphrase can be set, but reveals nothing about the computer to an agent.
func TestWhyNobodyCanProveIt(t *testing.T) {
	kept := aai.Errorf(aai.AutomationNotSupported, "a passphrase cannot be kept here")
	kept.Hint = "Unlock the keychain."
	for _, c := range []struct {
		door       string
		why        error
		says, hint string
		not        string
	}{
		{aai.DoorCLI, nil, "neither a screen nor a passphrase", "consent passphrase", ";"},
		{aai.DoorCLI, errors.New("it is in a box"), "; a first passphrase cannot be set here: it is in a box", "where you are asked in a window", "consent passphrase"},
		{aai.DoorCLI, kept, "; a passphrase cannot be kept here", "Unlock the keychain. For unattended runs root", "consent passphrase"},
		{aai.DoorMCP, kept, "neither a screen nor a passphrase", "consent passphrase", "kept"},
	} {
		gate := NewBuiltinGate(BuiltinConfig{
			PersonDoors: []string{aai.DoorCLI}, PassphraseTool: "consent_passphrase", Authenticator: &somebody{},
			FirstReauthBlocked: func(context.Context) error { return c.why },
		})
		_, err := gate.Check(t.Context(), ownRequest(c.door, "consent_grant", aai.Changes))
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s %v %v", c.door, c.why, err)
		assert.Equal(t, e.Code, aai.PermissionDenied, "%s %v %v", c.door, c.why, err)
		assert.Assert(t, is.Contains(e.Message, c.says), "%s %v %v", c.door, c.why, err)
		assert.Assert(t, is.Contains(e.Hint, c.hint), "%s %v %v", c.door, c.why, err)
		assert.Assert(t, is.Contains(e.Hint, RootPolicyPath), "%s %v %v", c.door, c.why, err)
		assert.Assert(t, !strings.Contains(e.Message+e.Hint, c.not), "%s %v %v %q", c.door, c.why, err, e.Hint)
	}
}

// TestBuiltinGateDoesNotBelieveNames checks that only the door counts, not the caller's name.
func TestBuiltinGateDoesNotBelieveNames(t *testing.T) {
	r := ownRequest(aai.DoorMCP, "consent_grant", aai.Changes)
	r.Call.Caller.Name, r.Call.Caller.Principal = "cli:terminal", "cli"
	assert.Check(t, is.Equal(check(NewBuiltinGate(BuiltinConfig{PersonDoors: []string{aai.DoorCLI}}), r), "PERMISSION_DENIED"))
}

func TestBuiltinGateLeavesOtherAppsAlone(t *testing.T) {
	for _, gate := range []*BuiltinGate{{}, NewBuiltinGate(BuiltinConfig{AgentTools: []string{"add"}, PersonDoors: []string{aai.DoorMCP}})} {
		r := asking(notesApp("d1"), "add")
		got := check(gate, r)
		assert.Check(t, is.Equal(got, "admits"))
		assert.Check(t, is.Equal(r.Consent, ""))
	}
}

func TestConsentLeavesOwnAppToOwn(t *testing.T) {
	r := ownRequest(aai.DoorMCP, "consent_grant", aai.Destroys)
	d := newDesk()
	got := check(d, r)
	assert.Check(t, is.Equal(got, "admits"))
	assert.Check(t, is.Equal(r.Consent, ""))
}

// somebody is an Authenticator with the given method and passphrase.
type somebody struct {
	way    aai.Channel
	phrase string
	tries  int
}

func (s *somebody) Method(context.Context) aai.Channel { return s.way }

func (s *somebody) CheckPassphrase(_ context.Context, typed string) error {
	s.tries++
	if typed != s.phrase {
		return aai.Errorf(aai.PermissionDenied, "that is not the passphrase")
	}
	return nil
}

// TestBuiltinGateAnswers checks that an answer counts only if it is a yes, came through
// the one channel, belongs to this call, and has the right passphrase if needed.
func TestBuiltinGateAnswers(t *testing.T) {
	const phrase = "correct horse"
	for name, c := range map[string]struct {
		way    aai.Channel
		answer aai.Answer
		want   string
		word   string // on record
	}{
		"yes in a window":            {aai.DesktopDialog, aai.Answer{Choice: choiceYes, Channel: aai.DesktopDialog}, "admits", "confirmed (native)"},
		"no in a window":             {aai.DesktopDialog, aai.Answer{Choice: choiceNo, Channel: aai.DesktopDialog}, "PERMISSION_DENIED", ""},
		"a closed window":            {aai.DesktopDialog, aai.Answer{Channel: aai.DesktopDialog}, "PERMISSION_DENIED", ""},
		"typed, though there is one": {aai.DesktopDialog, aai.Answer{Choice: choiceYes, Channel: aai.Terminal}, "CONSENT_REQUIRED", ""},
		"passphrase instead":         {aai.DesktopDialog, aai.Answer{Choice: choiceYes, Channel: aai.Passphrase, Secret: phrase}, "CONSENT_REQUIRED", ""},
		"the passphrase":             {aai.Passphrase, aai.Answer{Choice: choiceYes, Channel: aai.Passphrase, Secret: phrase}, "admits", "confirmed (passphrase)"},
		"another passphrase":         {aai.Passphrase, aai.Answer{Choice: choiceYes, Channel: aai.Passphrase, Secret: "wrong"}, "PERMISSION_DENIED", ""},
		"no passphrase":              {aai.Passphrase, aai.Answer{Choice: choiceYes, Channel: aai.Passphrase}, "PERMISSION_DENIED", ""},
		"a client's word":            {aai.Passphrase, aai.Answer{Choice: choiceYes, Channel: aai.Client}, "CONSENT_REQUIRED", ""},
		"typed without passphrase":   {aai.Passphrase, aai.Answer{Choice: choiceYes, Channel: aai.Terminal}, "CONSENT_REQUIRED", ""},
	} {
		t.Run(name, func(t *testing.T) {
			gate := NewBuiltinGate(BuiltinConfig{PersonDoors: []string{aai.DoorCLI}, Authenticator: &somebody{way: c.way, phrase: phrase}})
			questions, err := gate.Check(t.Context(), ownRequest(aai.DoorCLI, "mode_set", aai.Changes))
			assert.NilError(t, err)
			assert.Assert(t, is.Len(questions, 1))
			assert.Assert(t, slices.Equal(questions[0].Channels, []aai.Channel{c.way}), "%+v", questions)
			for _, other := range []bool{true, false} {
				r := ownRequest(aai.DoorCLI, "mode_set", aai.Changes)
				c.answer.Seal = questions[0].Seal
				want := c.want
				if other { // a seal of another call
					r.Call.Args, want = map[string]any{"mode": "normal"}, "CONSENT_REQUIRED"
				}
				r.Call.Answers = map[string]aai.Answer{questions[0].ID: c.answer}
				if got := check(gate, r); got != want || !other && r.Consent != c.word {
					t.Errorf("%s, expected %s; on record %q", got, want, r.Consent)
				}
			}
		})
	}
}

// TestOwnShowsAllOrNothing checks that a question shows all arguments, or is not asked.
func TestOwnShowsAllOrNothing(t *testing.T) {
	gate := NewBuiltinGate(BuiltinConfig{Authenticator: &somebody{way: aai.DesktopDialog}})
	r := ownRequest(aai.DoorCLI, "consent_grant", aai.Changes)
	r.Call.Args = map[string]any{"app": "org.example.App", "caller": "mcp:\u202eevil", "tool": strings.Repeat("x", 300)}
	questions, err := gate.Check(t.Context(), r)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(questions, 1))
	for _, want := range []string{`app: "org.example.App"`, `caller: "mcp:\u202eevil"`, strings.Repeat("x", 300)} {
		assert.Check(t, is.Contains(questions[0].Text, want))
	}
	list := ownRequest(aai.DoorCLI, "consent_confirm", aai.Changes)
	list.Call.Args = map[string]any{"settings": []any{map[string]any{"key": "dev", "value": true}, map[string]any{"key": "consent.dialog", "value": "off"}}}
	questions, err = gate.Check(t.Context(), list)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(questions, 1))
	want := aai.QuoteMark + `settings 1, key: "dev"` + "\n" + aai.QuoteMark + "settings 1, value: true\n" +
		aai.QuoteMark + `settings 2, key: "consent.dialog"` + "\n" + aai.QuoteMark + `settings 2, value: "off"`
	assert.Check(t, is.Contains(questions[0].Text, want), "a list is not told line by line:\n%s", questions[0].Text)
	r.Call.Args["tool"] = strings.Repeat("x", maxArguments)
	assert.Check(t, is.Equal(check(gate, r), "INVALID_PARAMS"))
}

// TestOwnInPlainWords checks that the question describes the action in plain words instead
// of a tool's name, and leaves out default arguments.
func TestOwnInPlainWords(t *testing.T) {
	for language, want := range map[string]string{"": `Do you want to switch the gateway to the mode "normal"?`, "zh": `您要将网关切换到 "normal" 模式吗？`} {
		gate := NewBuiltinGate(BuiltinConfig{Authenticator: &somebody{way: aai.DesktopDialog}, Language: func() string { return language }})
		r := ownRequest(aai.DoorMCP, "mode_set", aai.Changes)
		r.Tool.Params.Source = []byte(`{"properties": {"for": {"type": "integer", "default": 0}, "mode": {"type": "string", "default": "safe"}}}`)
		r.Call.Args = map[string]any{"mode": "normal", "for": json.Number("0")}
		questions, err := gate.Check(t.Context(), r)
		assert.NilError(t, err)
		assert.Assert(t, is.Len(questions, 1))
		q := questions[0]
		assert.Equal(t, q.Title, want)
		assert.Assert(t, !strings.Contains(q.Text, "mode_set"), q.Text)
		assert.Assert(t, !strings.Contains(q.Text, "for: "), q.Text)
		assert.Assert(t, is.Contains(q.Text, `mode: "normal"`))
		for name := range builtinActions("") {
			_, known := builtinActions(language)[name]
			assert.Check(t, known, "%s has no words in %q", name, language)
		}
	}
}

// TestOwnSaysWhatItStarts checks that the question names a program that would be started.
func TestOwnSaysWhatItStarts(t *testing.T) {
	for _, one := range []struct {
		language, tool string
		start          any
		want           string
	}{
		{"", "generate_probe", nil, `Do you want to try a tool of the program "org.example.App", once?`},
		{"", "generate_probe", true, `Do you want to start the program "org.example.App" if it does not run, and try a tool of it, once?`},
		{"", "generate_save", true, `Do you want to start the program "org.example.App" if it does not run, and save the descriptor generated from it?`},
		{"zh", "generate_save", true, `您要启动程序 "org.example.App"（若未运行），并保存由它生成的描述文件吗？`},
		{"zh", "generate_save", false, `您要保存由程序 "org.example.App" 生成的描述文件吗？`},
	} {
		gate := NewBuiltinGate(BuiltinConfig{Authenticator: &somebody{way: aai.DesktopDialog}, Language: func() string { return one.language }})
		r := ownRequest(aai.DoorMCP, one.tool, aai.Changes)
		r.Call.Args = map[string]any{"app": "org.example.App"}
		if one.start != nil {
			r.Call.Args["start"] = one.start
		}
		questions, err := gate.Check(t.Context(), r)
		assert.NilError(t, err)
		assert.Assert(t, is.Len(questions, 1))
		assert.Equal(t, questions[0].Title, one.want)
	}
}

// TestBuiltinGateSaysWhoAsks checks that a caller's name cannot imitate a program or the terminal.
func TestBuiltinGateSaysWhoAsks(t *testing.T) {
	const program = "/opt/evil/agent"
	for _, language := range []string{"", "zh"} {
		gate := NewBuiltinGate(BuiltinConfig{Authenticator: &somebody{way: aai.DesktopDialog}, Language: func() string { return language }})
		r := ownRequest(aai.DoorMCP, "consent_grant", aai.Changes)
		r.Call.Caller = aai.Caller{Door: aai.DoorMCP, Name: "x, /usr/bin/claude. You typed this", Identity: program}
		questions, err := gate.Check(t.Context(), r)
		assert.NilError(t, err)
		assert.Assert(t, is.Len(questions, 1))
		said := false
		for line := range strings.Lines(questions[0].Text) {
			said = said || strings.Contains(line, program)
			if strings.Contains(line, "/usr/bin/claude") && (!said || !strings.HasPrefix(line, aai.QuoteMark) || !strings.Contains(line, `"x, /usr/bin/claude`)) {
				t.Errorf("%q in\n%s", line, questions[0].Text)
			}
		}
		if !said {
			t.Errorf("the program is not in\n%s", questions[0].Text)
		}
	}
}

// TestConsentIsProved checks that consent needs reauthentication if it is available, and
// that otherwise an answer at a terminal is valid for one call.
func TestConsentIsProved(t *testing.T) {
	for way, c := range map[aai.Channel]struct {
		channels []aai.Channel
		always   bool
	}{
		aai.DesktopDialog: {[]aai.Channel{aai.DesktopDialog}, true},
		aai.Passphrase:    {[]aai.Channel{aai.Passphrase}, true},
		"":                {[]aai.Channel{aai.Terminal}, false},
	} {
		d, who := newDesk(), &somebody{way: way, phrase: "correct horse"}
		d.authenticator = who
		ask := func() *aai.Request {
			r := asking(notesApp("d1"), "add")
			r.Call.Caller = aai.Caller{Door: aai.DoorCLI, Name: "terminal", Session: "s", Identity: aai.IdentityTerminal}
			return r
		}
		q := d.question(t, ask())
		always := slices.ContainsFunc(q.Choices, func(c aai.Choice) bool { return c.ID == choiceAlways })
		assert.Assert(t, slices.Equal(q.Channels, c.channels), "%q: by %q, always %v", way, q.Channels, always)
		assert.Equal(t, always, c.always, "%q %q", way, q.Channels)
		answer := func(choice, secret string, ch aai.Channel) *aai.Request {
			r := ask()
			r.Call.Answers = map[string]aai.Answer{questionID: {Choice: choice, Seal: d.question(t, ask()).Seal, Channel: ch, Secret: secret}}
			return r
		}
		if way != "" {
			d.refuses(t, answer(choiceAlways, "", aai.Terminal), aai.ConsentRequired)
		} else {
			d.refuses(t, answer(choiceAlways, "", aai.Terminal), aai.PermissionDenied)
			d.admits(t, answer(choiceOnce, "", aai.Terminal))
		}
		if way == aai.Passphrase {
			d.refuses(t, answer(choiceAlways, "wrong", way), aai.PermissionDenied)
			d.refuses(t, answer(choiceNever, "wrong", way), aai.PermissionDenied)
		}
		assert.Assert(t, is.Len(d.kept.grants, 0), "%q", way)
		if way != "" {
			r := answer(choiceAlways, who.phrase, way)
			d.admits(t, r)
			assert.Assert(t, is.Len(d.kept.grants, 1))
			assert.Equal(t, d.kept.grants[0].Channel, way)
			assert.Equal(t, r.Consent, "always ("+string(way)+")")
		}
	}
}
