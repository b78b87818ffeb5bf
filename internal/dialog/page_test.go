package dialog

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"aai"
)

func TestBody(t *testing.T) {
	d := New(Config{})
	q := consent()
	q.Text = "Effect: may delete\n" + aai.QuoteMark + "Notes\n" + aai.QuoteMark + "of " + strings.Repeat("very ", 20) + "old\tage\n\n"
	got := d.body(q, 4000)
	want := "AAI Gateway asks for your consent\nAllow mcp:claude-ai to use wipe of Notes?\n\nEffect: may delete\n" +
		"│ Notes\n│ of very very very very very very very very very\n│ very very very very very very very very very very\n│ very old age\n"
	if got != want {
		t.Errorf("%s\nexpected\n%s", got, want)
	}
}

// Short lines, which are ours, stay whole when a stranger's are cut.
func TestBodyCutsTheLongestLines(t *testing.T) {
	d := New(Config{})
	q := consent()
	q.Text = "Effect: may delete\n" + aai.QuoteMark + strings.Repeat("x", 100_000) + "\n" + aai.QuoteMark + strings.Repeat("语", 30_000) + "\nHost: example.com"
	got := d.body(q, pinentryText)
	for _, line := range []string{"AAI Gateway asks for your consent", "Allow mcp:claude-ai to use wipe of Notes?", "Effect: may delete", "Host: example.com"} {
		if !strings.Contains("\n"+got+"\n", "\n"+line+"\n") {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
	if strings.Count(got, "…") != 2 {
		t.Errorf("two lines are cut in\n%s", got)
	}
}

// pinentryText is the smallest room that a program has.
const pinentryText = 900

// escaped is the text as pinentry's protocol has it.
func escaped(text string) string {
	return strings.NewReplacer("%", "%25", "\n", "%0A").Replace(text)
}

// Whatever comes, the text fits, is clean, begins with our own words, and marks
// what is quoted on every line.
func TestBodyProperties(t *testing.T) {
	d := New(Config{})
	rapid.Check(t, func(t *rapid.T) {
		q := consent()
		q.Title = rapid.String().Draw(t, "title")
		lines := rapid.SliceOfN(rapid.StringMatching(`[^\n]{0,400}`), 0, 60).Draw(t, "lines")
		quoted := aai.CleanLabel(rapid.String().Draw(t, "quoted"), 60_000) + "END"
		q.Text = strings.Join(lines, "\n") + "\n" + aai.QuoteMark + quoted
		room := rapid.SampledFrom([]int{pinentryText, 2000, 4000}).Draw(t, "room")
		got := d.body(q, room)
		if len(escaped(got)) > room || !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\r\t\u202e") {
			t.Fatalf("%d bytes in %d: %q", len(got), room, got)
		}
		if !strings.HasPrefix(got, d.words().heading+"\n") {
			t.Fatalf("it begins with %q", got)
		}
		shown := strings.Split(got, "\n")
		if len(shown) > maxLines+1 {
			t.Fatalf("%d lines", len(shown))
		}
		for _, line := range shown {
			width := 0
			for _, r := range line {
				width += cells(r)
			}
			if width > columns+2 { // a cut adds its mark
				t.Fatalf("%d columns: %q", width, line)
			}
			if strings.HasSuffix(line, "END") && !strings.HasPrefix(line, aai.QuoteMark) {
				t.Fatalf("a stranger's words without a mark: %q", line)
			}
		}
	})
}

func FuzzBody(f *testing.F) {
	f.Add("title", "text")
	f.Add("\u202e", "│ \n│ │ \n"+strings.Repeat("│ x", 900))
	f.Add(strings.Repeat("<b>", 9000), strings.Repeat("\n", 9000))
	d := New(Config{})
	f.Fuzz(func(t *testing.T, title, text string) {
		q := consent()
		q.Title, q.Text = title, text
		if got := d.body(q, pinentryText); len(escaped(got)) > pinentryText || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	})
}
