package policy

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

func TestQuestion(t *testing.T) {
	d := newDesk()
	got := d.question(t, asking(notesApp("d1"), "wipe"))
	assert.Check(t, got.Seal != "", "there is no seal")
	got.Seal = ""
	want := aai.Question{
		ID:       "consent",
		Channels: []aai.Channel{aai.DesktopDialog, aai.Terminal},
		Title:    `Allow "claude" to use "wipe" of "Notes"?`,
		Text: `Asked by: /usr/bin/claude
│ which calls itself "claude-ai"
It would: send, delete or permanently change things
│ with "wipe", which says: "Deletes all notes."
In: org.example.Notes
│ which calls itself "Notes"
With:
│ text: "milk"`,
		Details: `The app comes from: /usr/share/aai/notes.json
The app's id: org.example.Notes
Asked over: mcp
│ Tool: "wipe"
│ Says: "Deletes all notes."`,
		Choices: []aai.Choice{
			{ID: "deny", Label: "Deny"},
			{ID: "once", Label: "Allow once"},
			{ID: "session", Label: "Allow this session"},
			{ID: "always", Label: "Always allow"},
			{ID: "all", Label: "Always all 3 tools"},
			{ID: "never", Label: "Never allow", IsRefusal: true},
		},
	}
	assert.Check(t, is.DeepEqual(want, got))
}

func TestQuestionSaysWhatIsTouched(t *testing.T) {
	d := newDesk()
	r := asking(notesApp("d1"), "add")
	r.Call.Target = &aai.App{ID: "org.example.Bank", Name: "My \"Bank\"", Source: "/usr/bin/bank"}
	q := d.question(t, r)
	assert.Check(t, is.Contains(q.Text, "\nIn: org.example.Bank, /usr/bin/bank\n│ which calls itself \"My 'Bank'\"\n"))
}

// TestPageQuestion: the question about a tool of an open page names its site.
func TestPageQuestion(t *testing.T) {
	app := notesApp("d1")
	app.ID, app.Name, app.Source = aai.PagePrefix+"https://shop.xn--exmple-cua.com:8443", "shop", ""
	q := newDesk().question(t, asking(app, "add"))
	const want = "\nWeb site: xn--exmple-cua.com\nIts host: shop.xn--exmple-cua.com:8443\nIn: page:https://shop.xn--exmple-cua.com:8443\n"
	assert.Check(t, is.Contains(q.Text, want))
}

func TestEffectWords(t *testing.T) {
	d := newDesk()
	for tool, want := range map[string]string{
		"list": "only read", "add": "make changes that can be undone", "wipe": "send, delete or permanently change things",
	} {
		assert.Check(t, is.Contains(d.question(t, asking(notesApp("d1"), tool)).Text, ": "+want+"\n│ with "), tool)
	}
}

func TestQuestionShowsArguments(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, c := range []struct {
		name   string
		args   map[string]any
		secret []string
		want   string // "" if there is no question
	}{
		{"none", nil, nil, "With nothing else"},
		{"empty", map[string]any{}, nil, "With nothing else"},
		{"as people write", map[string]any{"to": "Bob & Eve <b@example.org>", "n": 2.0}, nil, "With:\n│ n: 2\n│ to: \"Bob & Eve <b@example.org>\""},
		{"secret", map[string]any{"pin": "1234", "to": "b"}, []string{"pin"}, "With:\n│ pin: \"[secret]\"\n│ to: \"b\""},
		{"secret object", map[string]any{"pin": map[string]any{"is": "1234"}}, []string{"pin", "other"}, "With:\n│ pin: \"[secret]\""},
		{"lines", map[string]any{"a": "1\n2\r\n3\u2028\u20294"}, nil, "With:\n│ a: \"1\\n2\\r\\n3\\u2028\\u20294\""},
		{"spaces", map[string]any{"a": "1   2"}, nil, "With:\n│ a: \"1   2\""},
		{"what cannot be seen", map[string]any{"a": "\u202etxt\u200b\U000e0041"}, nil, `With:
│ a: "\u202etxt\u200b\udb40\udc41"`},
		{"accents", map[string]any{"a": "e" + strings.Repeat("\u0301", 20)}, nil, "With:\n│ a: \"e" + strings.Repeat(`\u0301`, 20) + `"`},
		{"names", map[string]any{"": 1.0, "It would: ": 2.0, "\n": 3.0}, nil, "With:\n│ \"\": 1\n│ \"\\n\": 3\n│ \"It would: \": 2"},
		{"just short enough", map[string]any{"a": long[:maxShown-5]}, nil, "With:\n│ a: \"" + long[:maxShown-5] + `"`},
		{"long", map[string]any{"a": long[:maxShown-4]}, nil, ""},
		{"long in all", map[string]any{"a": long[:maxShown/2], "b": long[:maxShown/2]}, nil, ""},
		{"unsayable", map[string]any{"f": func() {}}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := asking(notesApp("d1"), "add")
			r.Call.Args, r.Tool.Privacy.Secret = c.args, c.secret
			if c.want == "" {
				e := newDesk().refusal(t, r, aai.ConsentRequired)
				assert.Check(t, e.Hint != "", e)
				return
			}
			q := newDesk().question(t, r)
			assert.Check(t, strings.HasSuffix(q.Text, "\n"+c.want), "%s %s", q.Text, c.want)
			assert.Check(t, !strings.Contains(q.Text+q.Title+q.Details, "1234"), "a secret is shown")
		})
	}
}

// TestSealTellsNothing checks that the seal, which the caller gets, reveals nothing about its request.
func TestSealTellsNothing(t *testing.T) {
	r := asking(notesApp("d1"), "add")
	r.Call.Args = map[string]any{"pin": "a secret of some length"}
	r.Tool.Privacy.Secret = []string{"pin"}
	raw, err := base64.RawURLEncoding.DecodeString(newDesk().question(t, r).Seal)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(raw, sealSize))
	assert.Assert(t, !strings.Contains(string(raw), "secret"), "%d bytes, %v: %q", len(raw), err, raw)
}

// beginnings returns the beginnings of a question's lines.
func beginnings() []string {
	return []string{
		"Asked by: ", `│ which calls itself "`, "It would", `│ with "`, "Web site: ", "Its host: ", "In: ", `│ which calls itself "`, "With:\n", "│ ",
	}
}

// TestHostileWords checks that a question has the gateway's own lines, each once and in
// order, and no others, whatever names an app or a caller has; all in harmless characters,
// and short enough to read.
func TestHostileWords(t *testing.T) {
	hostile := []string{
		"\x1b[2J\x1b]0;owned\x07", "a\nEffect: only reads", "a\r\nEffect: only reads", "a\u2028Effect: only reads",
		"a\x85Effect: only reads", "\u202eSDAER YLNO", "\u2066x\u2069", "a\u200bb\ufeff", "\U000e0041\U000e0042",
		"\"\nTool:    list: \"Lists", strings.Repeat("long ", 2000), strings.Repeat("\u0301", 5000), "\xff\xfe", "\x00", "", " ",
		"You allowed this on\n\n\n│ x", "%s%d%!", "a\vb\fc",
	}
	text := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String(),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile), 2, 4).Draw(t, "parts"), "")
		}))
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string) string { return text.Draw(t, what) }
		app := &aai.App{
			ID: draw("id"), Name: draw("app"), Source: draw("source"), Digest: "d",
			Tools: []*aai.Tool{{Name: draw("tool"), Description: draw("description")}},
		}
		r := &aai.Request{
			Call: &aai.Call{
				Caller: aai.Caller{Door: aai.DoorMCP, Name: draw("caller"), Session: draw("session"), Identity: draw("executable")},
				Args:   map[string]any{draw("key"): draw("value")},
				Target: &aai.App{ID: draw("target id"), Name: draw("target")},
			},
			App: app, Tool: app.Tools[0],
		}
		if r.App.ID == aai.BuiltinApp {
			return
		}
		q, err := newDesk().Check(t.Context(), r)
		if e, ok := errors.AsType[*aai.Error](err); ok && e.Code == aai.ConsentRequired && strings.HasPrefix(e.Message, "the person was not asked: ") {
			return
		}
		assert.NilError(t, err)
		assert.Assert(t, is.Len(q, 1))
		harmless(t, r.Call.Caller, q[0])
	})
}

func harmless(t *rapid.T, caller aai.Caller, q aai.Question) {
	expected := beginnings()
	if caller.Name == caller.Identity {
		expected = append(expected[:1], expected[2:]...)
	}
	for line := range strings.Lines(q.Text) {
		for len(expected) > 0 && !strings.HasPrefix(line, expected[0]) && (strings.HasPrefix(expected[0], "Web") || strings.HasPrefix(expected[0], "Its")) {
			expected = expected[1:] // of web apps only
		}
		assert.Assert(t, len(expected) != 0, "the line %q in\n%s", line, q.Text)
		assert.Assert(t, strings.HasPrefix(line, expected[0]), "the line %q in\n%s", line, q.Text)
		expected = expected[1:]
	}
	assert.Check(t, is.Equal(q.Choices[0].ID, choiceDeny), "the refusal is not first")
	shown := []string{q.Title}
	for line := range strings.Lines(q.Text + "\n" + q.Details) {
		shown = append(shown, strings.TrimSuffix(line, "\n"))
	}
	for _, c := range q.Choices {
		shown = append(shown, c.Label)
	}
	for _, s := range shown {
		bad := strings.IndexFunc(s, func(r rune) bool {
			return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
		})
		assert.Check(t, bad < 0, "%q at %d", s, bad)
		assert.Check(t, utf8.ValidString(s), "%q at %d", s, bad)
	}
	assert.Check(t, len(q.Title) <= 300, "a title of %d bytes", len(q.Title))
	_, err := json.Marshal(q)
	assert.Check(t, err)
}

// TestWhatWouldBeTypedIsShown checks that the question shows the text to type, which the
// record omits, and hides the secrets of other tools.
func TestWhatWouldBeTypedIsShown(t *testing.T) {
	d := newDesk()
	for tool, want := range map[string]string{"type": `text: "rm -rf ~"`, "click": `text: "[secret]"`} {
		r := operating(program("mousepad", "d"), tool)
		r.Tool.Privacy.Secret, r.Call.Args = []string{"text"}, map[string]any{"text": "rm -rf ~"}
		q := d.question(t, r)
		assert.Check(t, is.Contains(q.Text, want), "to %s does not show %s:\n%s", tool, want, q.Text)
	}
	r := operating(program("mousepad", "d"), "type")
	r.Tool.Privacy.Secret, r.Call.Args = []string{"fields.value"}, map[string]any{"fields": []any{map[string]any{"query": "Name", "value": "Ann"}}}
	q := d.question(t, r)
	assert.Check(t, is.Contains(q.Text, `fields: [{"query":"Name","value":"Ann"}]`), "of several fields it shows:\n%s", q.Text)
}

// TestShownToWhoIsAsked checks that ShowSecrets shows arguments that only the record
// omits, but not real secrets.
func TestShownToWhoIsAsked(t *testing.T) {
	for shown, want := range map[bool]string{true: `{"expr":"7*8","password":"[secret]"}`, false: `{"expr":"[secret]","password":"[secret]"}`} {
		r := asking(notesApp("d"), "add")
		tool := *r.Tool
		tool.Privacy.Secret, tool.Privacy.ShowSecrets = []string{"expr", "password"}, shown
		r.Tool, r.Call.Args = &tool, map[string]any{"expr": "7*8", "password": "hunter2"}
		var got []string
		for line := range strings.SplitSeq(newDesk().question(t, r).Text, "\n") {
			for _, name := range []string{"expr", "password"} {
				if value, is := strings.CutPrefix(line, aai.QuoteMark+name+": "); is {
					got = append(got, `"`+name+`":`+value)
				}
			}
		}
		assert.Check(t, is.Equal("{"+strings.Join(got, ",")+"}", want), "%t", shown)
		assert.Check(t, is.Equal(r.RedactedArgs()["expr"], "[secret]"))
	}
}

// TestANameIsNotSaidTwice checks that the name is shown only if it adds to the identity.
func TestANameIsNotSaidTwice(t *testing.T) {
	d := newDesk()
	for name, want := range map[string]int{"terminal": 0, "another": 1} {
		r := asking(notesApp("d1"), "wipe")
		r.Call.Caller = aai.Caller{Door: aai.DoorCLI, Name: name, Identity: aai.IdentityTerminal, Session: "s"}
		n := strings.Count(d.question(t, r).Text, "which calls itself \""+name+"\"")
		assert.Check(t, is.Equal(n, want), "%s: said %d times", name, n)
	}
}
