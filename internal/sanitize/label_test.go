package sanitize_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

func TestLabel(t *testing.T) {
	for name, c := range map[string]struct{ in, label, text string }{
		"empty":            {"", "", ""},
		"plain":            {"Mail", "Mail", "Mail"},
		"space after":      {"Mail ", "Mail", "Mail "},
		"space before":     {" Mail", "Mail", " Mail"},
		"spaces within":    {"My  Mail", "My Mail", "My  Mail"},
		"white space":      {"  a \t b\r\nc\v\fd  ", "a b c d", "  a \t b \nc  d  "},
		"separators":       {"a\u2028b\u2029c\u0085d\u00a0e\u3000f", "a b c d e f", "a b c d e f"},
		"ansi":             {"\x1b[31mred\x1b[0m\x1b]0;title\x07", "[31mred[0m]0;title", "[31mred[0m]0;title"},
		"c1 controls":      {"a\u009b31mb\u0080", "a31mb", "a31mb"},
		"delete":           {"a\x7f\x08b\x00", "ab", "ab"},
		"bidi":             {"a\u202egpj.exe\u202c\u2066b\u2069\u200f\u061c", "agpj.exeb", "agpj.exeb"},
		"zero width":       {"a\u200b\u200c\u200d\u2060\ufeff\u00ad\u180eb", "ab", "ab"},
		"tags":             {"a\U000e0001\U000e0041\U000e0042\U000e007fb", "ab", "ab"},
		"variations":       {"a\ufe0f\U000e0100b", "ab", "ab"},
		"private use":      {"a\ue000\U000f0000\U0010fffdb", "ab", "ab"},
		"invalid utf-8":    {"a\xff\xc3b\xed\xa0\x80c", "abc", "abc"},
		"replacement kept": {"a\ufffdb", "a\ufffdb", "a\ufffdb"},
		"chinese":          {"日历 提醒", "日历 提醒", "日历 提醒"},
		"arabic":           {"بريد", "بريد", "بريد"},
		"combining":        {"e\u0301", "e\u0301", "e\u0301"},
		"emoji":            {"📅 🇫🇮 👍🏽", "📅 🇫🇮 👍🏽", "📅 🇫🇮 👍🏽"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Check(t, is.Equal(sanitize.Label(c.in, 1000), c.label), "%q", c.in)
			assert.Check(t, is.Equal(sanitize.Text(c.in, 1000), c.text), "%q", c.in)
		})
	}
}

func TestLabelCuts(t *testing.T) {
	for _, max := range []int{10, 60} {
		if got := sanitize.Label(strings.Repeat("x", max), max); got != strings.Repeat("x", max) {
			t.Errorf("what fits was cut: %q", got)
		}
		got := sanitize.Label(strings.Repeat("x", max+1), max)
		body, cut := strings.CutSuffix(got, "…")
		assert.Assert(t, cut, "cut to %d: %q", max, got)
		assert.Equal(t, strings.Trim(body, "x"), "", "%d %q", max, got)
	}
}

// unclean describes the faults of a text that was cleaned to max bytes.
func unclean(s string, max int, lines bool) string {
	switch {
	case !utf8.ValidString(s):
		return "invalid UTF-8"
	case len(s) > lengthBound(max):
		return "too long"
	case !lines && strings.Join(strings.Fields(s), " ") != s:
		return "white space is left"
	}
	for _, r := range s {
		if lines && (r == '\n' || r == '\t') {
			continue
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co, unicode.Zl, unicode.Zp) {
			return fmt.Sprintf("%U is left", r)
		}
	}
	return ""
}

// lengthBound is the longest that text cut to max bytes may be.
func lengthBound(limit int) int { return max(limit, len("…")) }

func checkCleaned(t interface {
	Errorf(format string, args ...any)
}, s string, max int,
) {
	label, text := sanitize.Label(s, max), sanitize.Text(s, max)
	if wrong := unclean(label, max, false); wrong != "" {
		t.Errorf("CleanLabel(%q, %d) = %q: %s", s, max, label, wrong)
	}
	if wrong := unclean(text, max, true); wrong != "" {
		t.Errorf("CleanText(%q, %d) = %q: %s", s, max, text, wrong)
	}
	if again := sanitize.Label(label, lengthBound(max)); again != label {
		t.Errorf("CleanLabel(%q) is %q, cleaned again %q", s, label, again)
	}
	if again := sanitize.Text(text, lengthBound(max)); again != text {
		t.Errorf("CleanText(%q) is %q, cleaned again %q", s, text, again)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"", "Mail", "a\x1b[31mb", "a\u202eb", "\U000e0041", "日历 📅", "a\xffb\ufffd", "e\u0301\u200d", " \n\t\r\u2028 ", strings.Repeat("日 ", 20),
	} {
		f.Add(s, uint8(10))
		f.Add(s, uint8(0))
	}
	f.Fuzz(func(t *testing.T, s string, max uint8) { checkCleaned(t, s, int(max)) })
}

func TestCleanProperties(t *testing.T) {
	nasty := rapid.StringOf(rapid.OneOf(
		rapid.Rune(),
		rapid.RuneFrom(nil, unicode.Cf, unicode.Cc, unicode.Co, unicode.White_Space, unicode.Variation_Selector),
		rapid.RuneFrom([]rune("abc 日…📅\ufffd")),
	))
	rapid.Check(t, func(t *rapid.T) {
		s := nasty.Draw(t, "text")
		if rapid.Bool().Draw(t, "broken") && s != "" {
			s = s[:rapid.IntRange(0, len(s)-1).Draw(t, "cut")] + "\xf0\x9f" + s
		}
		checkCleaned(t, s, rapid.IntRange(0, 80).Draw(t, "max"))
	})
}
