package policy

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// digest returns a function that returns the digest.
func digest(of string) func() string { return func() string { return of } }

// described returns the notes app with a digest for each tool.
func described(change func(*aai.App)) *aai.App {
	app := notesApp("whole")
	for _, t := range app.Tools {
		t.Implementation.Digest, t.Implementation.Summary = digest("digest of "+t.Name), "D-Bus org.example.Notes "+t.Name
		t.Params.Source = json.RawMessage(`{"properties": {"text": {}}}`)
	}
	if change != nil {
		change(app)
	}
	return app
}

// TestTheQuestionSaysWhatChanged checks that the question shows changes since the grant,
// with the old texts.
func TestTheQuestionSaysWhatChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*aai.App)
		want   []string
	}{
		"description": {func(a *aai.App) { a.Tools[1].Description = "Adds a note, and a copy to example.org." },
			[]string{`│ Says was: "Adds a note.", now: "Adds a note, and a copy to example.org."`}},
		"what runs": {func(a *aai.App) { a.Tools[1].Implementation.Summary = "D-Bus org.example.Other add" },
			[]string{`│ Runs was: "D-Bus org.example.Notes add", now: "D-Bus org.example.Other add"`}},
		"parameters": {func(a *aai.App) { a.Tools[1].Params.Source = json.RawMessage(`{}`) },
			[]string{`│ Parameters was: "{'properties':{'text':{}}}", now: "{}"`}},
		"effect": {func(a *aai.App) { a.Tools[1].Effect = aai.Destroys }, []string{`│ Effect was: "changes", now: "destroys"`}},
		"name":   {func(a *aai.App) { a.Name = "Bank" }, []string{`│ App was: "Notes", now: "Bank"`}},
		"two things": {func(a *aai.App) { a.Tools[1].Effect, a.Tools[1].Description = aai.Reads, "x" },
			[]string{`│ Says was: "Adds a note.", now: "x"`, `│ Effect was: "changes", now: "reads"`}},
		"something else": {func(*aai.App) {}, []string{"│ in a part that is not shown"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk()
			d.admits(t, d.choose(t, described(nil), "add", choiceAlways))
			d.admits(t, asking(described(nil), "add"))
			later := described(c.change)
			later.Tools[1].Implementation.Digest = digest("another")
			q := d.question(t, asking(later, "add"))
			_, after, found := strings.Cut(q.Text, "\nYou allowed this on 2026-05-04. Since then it has changed:\n")
			said, _, _ := strings.Cut(after, "\nIn: ")
			assert.Assert(t, found, "it says\n%s\nin\n%s", said, q.Text)
			assert.Equal(t, said, strings.Join(c.want, "\n"), q.Text)
			d.admits(t, answered(asking(later, "add"), q, choiceAlways))
			d.admits(t, asking(later, "add"))
		})
	}
}

// TestAllIsTheSetThatWasShown checks that a change to one tool affects no others, and that
// "all" does not cover tools added later.
func TestAllIsTheSetThatWasShown(t *testing.T) {
	d := newDesk()
	d.admits(t, d.choose(t, described(nil), "list", choiceAll))
	later := described(func(a *aai.App) {
		a.Digest, a.Tools[2].Implementation.Digest = "another whole", digest("another wipe")
		a.Tools = append(a.Tools, &aai.Tool{Name: "share", Implementation: aai.Implementation{Digest: digest("digest of share")}})
	})
	d.admits(t, asking(later, "list"))
	d.admits(t, asking(later, "add"))
	d.question(t, asking(later, "wipe"))
	d.question(t, asking(later, "share"))
}

func TestAnotherProgramOfThatName(t *testing.T) {
	d := newDesk()
	editor := program("editor", "e1")
	editor.Source = "/usr/bin/editor"
	q := d.question(t, operating(editor, "look"))
	d.admits(t, answered(operating(editor, "look"), q, choiceAlways))
	other := program("editor", "e2")
	other.Source = "/tmp/editor"
	q = d.question(t, operating(other, "look"))
	for _, want := range []string{"but for another program of that name.\n│ Program was: \"/usr/bin/editor\", now: \"/tmp/editor\"\n", "\nIn: desktop/editor, /tmp/editor\n"} {
		assert.Check(t, is.Contains(q.Text, want))
	}
}

// TestTheProgramBehindTheCaller checks that the question shows the verified program unquoted.
func TestTheProgramBehindTheCaller(t *testing.T) {
	for executable, want := range map[string]string{
		"/usr/bin/claude":             "Asked by: /usr/bin/claude\n",
		"":                            "Asked by: a program that the system does not know\n",
		"/tmp/x\nIt would: only read": "Asked by: \"/tmp/x It would: only read\"\n",
	} {
		r := asking(described(nil), "add")
		r.Call.Caller.Identity = executable
		q := newDesk().question(t, r)
		assert.Check(t, strings.HasPrefix(q.Text, want), "%q %s", executable, q.Text)
	}
}

// TestTheSite checks that the registrable domain is complete, on a separate line, and
// without lookalike letters. A host is cut in the middle.
func TestTheSite(t *testing.T) {
	label := strings.Repeat("x", 60)
	for host, want := range map[string]string{
		"example.com":          "\nWeb site: example.com\n│ ",
		"api.example.co.uk":    "\nWeb site: example.co.uk\nIts host: api.example.co.uk\n│ ",
		"ex\u0430mple.com":     "\nWeb site: ex\\u0430mple.com\n│ ",
		"localhost:8080":       "\nWeb site: localhost:8080\n│ ",
		"127.0.0.1":            "\nWeb site: 127.0.0.1\n│ ",
		"x.com It would: read": "\nWeb site: \"x.com It would\"\nIts host: \"x.com It would: read\"\n│ ",
		label + ".com":         "\nWeb site: " + label + ".com\n│ ",
		"bank.com." + label + "." + label + "." + label + ".evil.example": "\nWeb site: evil.example\nIts host: bank.com." + label[:49] + "…" + label[:46] + ".evil.example\n│ ",
		strings.Repeat("x", 5000) + ".com":                                "",
	} {
		app := described(func(a *aai.App) { a.ID = host + "/org.example.Notes" })
		if want == "" {
			newDesk().refuses(t, asking(app, "add"), aai.ConsentRequired)
			continue
		}
		assert.Check(t, is.Contains(newDesk().question(t, asking(app, "add")).Text, want), host)
	}
	app := described(func(a *aai.App) { a.ID = "example.com/org.example.Notes" })
	app.Site.Hosts = []string{"api.other.example", "login.other.example", "third.example:8443"}
	q := newDesk().question(t, asking(app, "add"))
	assert.Assert(t, is.Contains(q.Text, "\nSends data to: other.example\nSends data to: third.example\n│ whose app \"org.example.Notes\" calls itself \"Notes\"\n"))
	assert.Assert(t, is.Contains(q.Details, "\nSends data to: api.other.example\nSends data to: login.other.example\nSends data to: third.example:8443\n"))
	app.Site.Hosts = []string{strings.Repeat("x", 5000) + ".com"}
	newDesk().refuses(t, asking(app, "add"), aai.ConsentRequired)
}

func TestChineseQuestions(t *testing.T) {
	d := newDesk()
	d.words = func() words { return wordsIn("zh") }
	q := d.question(t, asking(described(nil), "wipe"))
	assert.Check(t, is.Equal(q.Title, `允许 "claude" 使用 "Notes" 的 "wipe" 吗？`))
	var labels []string
	for _, c := range q.Choices {
		labels = append(labels, c.Label)
	}
	assert.Check(t, slices.Equal(labels, []string{"拒绝", "仅授权一次", "本次会话授权", "授权此操作", "授权全部（3 个）", "永远拒绝"}), "%q", labels)
	assert.Check(t, is.Contains(q.Text, "它将：发送、删除或永久更改内容"))
	q = d.question(t, operating(program("editor", "e1"), "click"))
	assert.Check(t, is.Equal(q.Title, `允许 "claude" 在 "editor" 的窗口中点击和输入吗？`))
	assert.Check(t, !strings.Contains(q.Title+q.Text, "%!"), "%s %s", q.Title, q.Text)
}

// TestRevocationReachesSessions checks that a revocation ends session grants at once, also
// in running gateways.
func TestRevocationReachesSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "aai", "revoked")
	running := newDesk()
	running.sessions.revocations = NewRevocations(path)
	app := described(nil)
	for range 3 {
		running.admits(t, running.choose(t, app, "add", choiceSession))
		running.admits(t, asking(app, "add"))
		if err := NewRevocations(path).Revoke(); err != nil { // as another process does
			t.Fatal(err)
		}
	}
	running.question(t, asking(app, "add"))
	running.admits(t, running.choose(t, app, "add", choiceSession))
	// If the revocations are unreadable, there may have been one.
	running.sessions.revocations = NewRevocations(t.TempDir())
	running.question(t, asking(app, "add"))
}
