package dialog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
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
	assert.NilError(t, err)
	want := "AAI Gateway asks for your consent\nAllow mcp:claude-ai to use wipe of Notes?\n\nEffect: may delete\n" +
		"│ Notes\n│ of very very very very very very very very very\n│ ↳ very very very very very very very very very\n│ ↳ very very old age\n\n" +
		"In:\n↳ " + strings.Repeat("x", 50) + "\n↳ " + strings.Repeat("x", 10)
	assert.Check(t, is.DeepEqual(want, strings.ReplaceAll(pages[0].text, blank, "")))
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
		assert.NilError(t, err)
		shown, last := "", 0
		for i, p := range pages {
			if heading, text, _ := strings.Cut(p.text, "\n"); strings.Contains(heading, "page") {
				shown += strings.TrimRight("\n"+text, "\n"+blank)
				last = i
			}
		}
		assert.Assert(t, strings.HasSuffix(shown, want.String()), "%s shows on %d pages\n%s", name, last+1, shown)
		assert.Assert(t, last != 0, "%s shows on %d pages\n%s", name, last+1, shown)
		for i, p := range pages {
			assert.Check(t, strings.Contains(strings.Join(p.buttons, ","), "llow") == (i >= last) || i > last, "%s: page %d of %d has %q", name, i+1, last+1, p.buttons)
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
				assert.Assert(t, places[i] == "" || places[i] == kind, "button %d is %s and %s", i, places[i], kind)
				places[i] = kind
			}
		}
		assert.Equal(t, letters(whole), letters(strings.ReplaceAll(q.Title+q.Text, aai.QuoteMark, "")), "%s %s", whole, q.Text)
	})
}

// letters returns a text without the additions of a page.
func letters(text string) string {
	text = strings.NewReplacer(strings.TrimSpace(aai.QuoteMark), "", strings.TrimSpace(continuationMark), "").Replace(aai.CleanText(text, 1<<20))
	return strings.Join(strings.Fields(text), "")
}

// aPage checks one page.
func aPage(t *rapid.T, d *Dialog, p page, way presenter) {
	assert.Assert(t, len(escaped(p.text)) <= way.maxBytes, "%d bytes in %d: %q", len(p.text), way.maxBytes, p.text)
	assert.Assert(t, utf8.ValidString(p.text), "%d bytes in %d: %q", len(p.text), way.maxBytes, p.text)
	assert.Assert(t, !strings.ContainsAny(p.text, "\x1b\r\t\u202e"), "%d bytes in %d: %q", len(p.text), way.maxBytes, p.text)
	shown := strings.Split(p.text, "\n")
	assert.Assert(t, strings.HasPrefix(p.text, "AAI Gateway"), "%d lines, %q: %q", len(shown), p.buttons, p.text)
	assert.Assert(t, len(shown) <= maxLines, "%d lines, %q: %q", len(shown), p.buttons, p.text)
	assert.Assert(t, len(p.buttons) <= way.maxButtons, "%d lines, %q: %q", len(shown), p.buttons, p.text)
	assert.Assert(t, is.Len(p.buttons, len(p.choices)), "%d %q", len(shown), p.text)
	if p.choices[0] == nextPage || p.choices[0] == samePage {
		t.Fatalf("the first button is %q", p.buttons[0])
	}
	for _, line := range shown {
		if line = strings.TrimRight(line, blank); width(line) > maxColumns+8 { // the marks
			t.Fatalf("%d columns: %q", width(line), line)
		}
		assert.Assert(t, !strings.HasSuffix(line, "END") || strings.HasPrefix(line, aai.QuoteMark), "a stranger's words without a mark: %q", line)
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
		assert.NilError(t, err)
		for _, p := range pages {
			all := p.title + p.text + strings.Join(p.buttons, "\n")
			assert.Assert(t, !strings.Contains(all, "cAnArY"), all)
			assert.Assert(t, is.Contains(all, "wipe of Notes"))
			assert.Assert(t, is.Contains(all, "aai-gateway web"))
		}
		pages, err = d.layOut(q, testPresenters()["zenity"])
		assert.NilError(t, err, pages)
		assert.Assert(t, !strings.Contains(strings.Join(pages[0].buttons, ""), "cAnArY"), pages)
		assert.Assert(t, is.Contains(pages[0].text, aai.QuoteMark+"2: "), pages)
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
		assert.Assert(t, err == nil || errors.Is(err, errTooLong), err)
		for _, p := range pages {
			assert.Assert(t, len(escaped(p.text)) <= pinentryText, "%d bytes: %q", len(p.text), p.text)
			assert.Assert(t, utf8.ValidString(p.text), "%d bytes: %q", len(p.text), p.text)
		}
	})
}
