package dialog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

// testPresenters returns the kinds of presenters, by the space in their windows.
func testPresenters() map[string]presenter {
	return map[string]presenter{
		"pinentry": {maxButtons: 3, maxBytes: pinentryText}, "zenity": {maxButtons: 4, maxBytes: 4000, hasPublicLabels: true}, "list": {maxButtons: 12, isList: true, maxBytes: 4000},
		"kdialog": {maxButtons: 12, isList: true, maxBytes: 4000, hasPublicText: true, hasPublicLabels: true},
	}
}

// pinentryText is the smallest limit of a program.
const pinentryText = 900

func TestAPage(t *testing.T) {
	d := New(Config{})
	q := consent()
	q.Text = "Effect: may delete\n" + aai.QuoteMark + "Notes\n" + aai.QuoteMark + "of " + strings.Repeat("very ", 20) + "old\tage\n\nIn: " + strings.Repeat("x", 60)
	pages, err := d.layOut(q, testPresenters()["pinentry"])
	if err != nil {
		t.Fatal(err)
	}
	want := "AAI Gateway asks for your consent\nAllow mcp:claude-ai to use wipe of Notes?\n\nEffect: may delete\n" +
		"│ Notes\n│ of very very very very very very very very very\n│ ↳ very very very very very very very very very\n│ ↳ very very old age\n\n" +
		"In:\n↳ " + strings.Repeat("x", 50) + "\n↳ " + strings.Repeat("x", 10)
	if diff := cmp.Diff(want, strings.ReplaceAll(pages[0].text, blank, "")); diff != "" {
		t.Error(diff)
	}
}

// TestLongQuestions checks that a long text is spread over several pages, and that only a
// refusal is possible before the last.
func TestLongQuestions(t *testing.T) {
	d := New(Config{})
	q := consent()
	var want strings.Builder
	q.Text = "With:"
	for i := range 40 {
		line := fmt.Sprintf("\n%sline%d: \"%s\"", aai.QuoteMark, i, strings.Repeat("x", 20))
		q.Text += line
		want.WriteString(line)
	}
	for name, way := range testPresenters() {
		if way.hasPublicText {
			continue // it shows lengths
		}
		pages, err := d.layOut(q, way)
		if err != nil {
			t.Fatal(err)
		}
		shown, last := "", 0
		for i, p := range pages {
			if heading, text, _ := strings.Cut(p.text, "\n"); strings.Contains(heading, "page") {
				shown += strings.TrimRight("\n"+text, "\n"+blank)
				last = i
			}
		}
		if !strings.HasSuffix(shown, want.String()) || last == 0 {
			t.Errorf("%s shows on %d pages\n%s", name, last+1, shown)
		}
		for i, p := range pages {
			if chooses := strings.Contains(strings.Join(p.buttons, ","), "llow"); chooses != (i >= last) && i <= last {
				t.Errorf("%s: page %d of %d has %q", name, i+1, last+1, p.buttons)
			}
		}
	}
}

// TestTooLongQuestions checks that an unreadably long question is not shown.
func TestTooLongQuestions(t *testing.T) {
	q := consent()
	q.Text = strings.Repeat(aai.QuoteMark+strings.Repeat("语", 40)+"\n", 300)
	p := &person{presses: []string{"Allow once"}}
	_, err := newTestDialog(t, 3, p).Ask(t.Context(), q)
	if e, ok := errors.AsType[*aai.Error](err); !ok || e.Code != aai.ConsentRequired || e.Hint == "" || len(p.pages) != 0 {
		t.Errorf("%v, put %d times", err, len(p.pages))
	}
}

// kindOf returns the kind of a button.
func kindOf(q aai.Question, means int) string {
	switch {
	case means == nextPage:
		return "another page"
	case means == samePage:
		return "answer" // a placeholder without effect
	case means == 0 || q.Choices[means].IsRefusal:
		return "refusal"
	}
	return "answer"
}

// TestPageProperties checks that pages fit, are clean, begin with the gateway's own text,
// show the whole text, mark each quoted line, permit a yes only after all of it, and have
// the same kind of button in the same place.
func TestPageProperties(t *testing.T) {
	d := New(Config{})
	rapid.Check(t, func(t *rapid.T) {
		q := consent()
		q.Title = rapid.StringMatching(`.{0,300}`).Draw(t, "title")
		given := rapid.SliceOfN(rapid.StringMatching(`[^\n]{0,400}`), 0, 20).Draw(t, "lines")
		quoted := aai.CleanLabel(rapid.String().Draw(t, "quoted"), 60_000) + "END"
		q.Text = strings.Join(given, "\n") + "\n" + aai.QuoteMark + quoted
		q.Details = rapid.SampledFrom([]string{"", "From: here", strings.Repeat("From: here\n", 60)}).Draw(t, "details")
		q.Choices = q.Choices[:rapid.IntRange(2, len(q.Choices)).Draw(t, "choices")]
		name := rapid.SampledFrom([]string{"pinentry", "zenity", "list"}).Draw(t, "way")
		way := testPresenters()[name]
		pages, err := d.layOut(q, way)
		if errors.Is(err, errTooLong) {
			return
		}
		ended, whole := false, ""
		places := map[int]string{}
		for _, p := range pages {
			aPage(t, d, p, way)
			if !ended {
				_, text, _ := strings.Cut(p.text, "\n")
				whole += text + "\n"
			}
			for i, means := range p.choices {
				kind := kindOf(q, means)
				if kind == "answer" && means != samePage {
					ended = true
				}
				if way.isList && i > 1 {
					kind = "any" // these are on one page alone
				}
				if places[i] != "" && places[i] != kind {
					t.Fatalf("button %d is %s and %s", i, places[i], kind)
				}
				places[i] = kind
			}
		}
		if letters(whole) != letters(strings.ReplaceAll(q.Title+q.Text, aai.QuoteMark, "")) {
			t.Fatalf("shown is\n%s\nof\n%s", whole, q.Text)
		}
	})
}

// letters returns a text without the additions of a page.
func letters(text string) string {
	text = strings.NewReplacer(strings.TrimSpace(aai.QuoteMark), "", strings.TrimSpace(continuationMark), "").Replace(aai.CleanText(text, 1<<20))
	return strings.Join(strings.Fields(text), "")
}

// aPage checks one page.
func aPage(t *rapid.T, d *Dialog, p page, way presenter) {
	if len(escaped(p.text)) > way.maxBytes || !utf8.ValidString(p.text) || strings.ContainsAny(p.text, "\x1b\r\t\u202e") {
		t.Fatalf("%d bytes in %d: %q", len(p.text), way.maxBytes, p.text)
	}
	shown := strings.Split(p.text, "\n")
	if !strings.HasPrefix(p.text, "AAI Gateway") || len(shown) > maxLines || len(p.buttons) > way.maxButtons || len(p.buttons) != len(p.choices) {
		t.Fatalf("%d lines, %q: %q", len(shown), p.buttons, p.text)
	}
	if p.choices[0] == nextPage || p.choices[0] == samePage {
		t.Fatalf("the first button is %q", p.buttons[0])
	}
	for _, line := range shown {
		if line = strings.TrimRight(line, blank); width(line) > maxColumns+8 { // the marks
			t.Fatalf("%d columns: %q", width(line), line)
		}
		if strings.HasSuffix(line, "END") && !strings.HasPrefix(line, aai.QuoteMark) {
			t.Fatalf("a stranger's words without a mark: %q", line)
		}
	}
}

// escaped returns the text in the form of pinentry's protocol.
func escaped(text string) string {
	return strings.NewReplacer("%", "%25", "\n", "%0A").Replace(text)
}

// TestPublicPages checks that pages for a public text have no value of any kind of question, and no third
// party's label, but the names of the caller, the tool and the app.
func TestPublicPages(t *testing.T) {
	d := New(Config{})
	rapid.Check(t, func(t *rapid.T) {
		q := consent()
		value := rapid.StringMatching(`[a-z0-9 "\\:.│-]{1,40}`).Draw(t, "value") + "cAnArY"
		q.Text = "It would: only read\nFor the word " + `"` + strings.ReplaceAll(value, `"`, "'") + `"` + "\n" + aai.QuoteMark + "text: " + strconv.Quote(value) + "\n" + aai.QuoteMark + value
		q.Details = aai.QuoteMark + value
		q.Title, q.PublicTitle = value, "Allow claude to use wipe of Notes?"
		q.Choices[2].Label, q.Choices[2].IsForeign = value, true
		pages, err := d.layOut(q, testPresenters()["kdialog"])
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pages {
			if all := p.title + p.text + strings.Join(p.buttons, "\n"); strings.Contains(all, "cAnArY") || !strings.Contains(all, "wipe of Notes") || !strings.Contains(all, "aai-gateway web") {
				t.Fatal(all)
			}
		}
		pages, err = d.layOut(q, testPresenters()["zenity"])
		if err != nil || strings.Contains(strings.Join(pages[0].buttons, ""), "cAnArY") || !strings.Contains(pages[0].text, aai.QuoteMark+"2: ") {
			t.Fatal(pages, err)
		}
	})
}

func FuzzPages(f *testing.F) {
	f.Add("title", "text")
	f.Add("\u202e", "│ \n│ │ \n"+strings.Repeat("│ x", 900))
	f.Add(strings.Repeat("<b>", 9000), strings.Repeat("\n", 9000))
	d := New(Config{})
	f.Fuzz(func(t *testing.T, title, text string) {
		q := consent()
		q.Title, q.Text = title, text
		pages, err := d.layOut(q, testPresenters()["pinentry"])
		if err != nil && !errors.Is(err, errTooLong) {
			t.Fatal(err)
		}
		for _, p := range pages {
			if len(escaped(p.text)) > pinentryText || !utf8.ValidString(p.text) {
				t.Errorf("%d bytes: %q", len(p.text), p.text)
			}
		}
	})
}
