package sanitize_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

func TestQuote(t *testing.T) {
	for words, want := range map[string]string{
		"":                                `""`,
		"Sends mail.":                     `"Sends mail."`,
		`Say "yes" or “no”.`:              `"Say 'yes' or 'no'."`,
		"a\n\n# b\n```\nc":                `"a # b ''' c"`,
		"<IMPORTANT>x</IMPORTANT>":        `"‹IMPORTANT›x‹/IMPORTANT›"`,
		"![a](https://e.example/?d=)":     `"![a] (https://e.example/?d=)"`,
		"a]\u200b(b)":                     `"a] (b)"`,
		"a】(b)":                           `"a] (b)"`,
		`C:\`:                             `"C:\ "`,
		`C:\x`:                            `"C:\x"`,
		"【a】":                             `"[a]"`,
		strings.Repeat("<", 40):           `"` + strings.Repeat("‹", 19) + `…"`,
		"a\u2800\u2800b":                  `"a b"`,
		"\ufdd0e" + marks(40) + "\uffffx": `"e` + marks(8) + `x"`,
	} {
		assert.Check(t, is.Equal(sanitize.Quote(words, 60), want), "%q", words)
	}
}

func marks(n int) string { return strings.Repeat("\u0301", n) }

// TestQuoteProperties: no text ends its quotation or its line, and neutralized text stays
// unchanged.
func TestQuoteProperties(t *testing.T) {
	nasty := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\"\\`<>【】](\n\u200b\u2800\u0301 “")),
		rapid.RuneFrom(nil, unicode.Cf, unicode.Mn, unicode.White_Space)))
	rapid.Check(t, func(t *rapid.T) {
		s, max := nasty.Draw(t, "words"), rapid.IntRange(3, 80).Draw(t, "max")
		words := sanitize.NeutralizeMarkup(s, max)
		wrong := unclean(words, max, false)
		assert.Equal(t, wrong, "", "%q", s)
		assert.Equal(t, sanitize.NeutralizeMarkup(words, max), words, "%q", s)
		quoted := sanitize.Quote(s, max)
		inside := strings.TrimSuffix(strings.TrimPrefix(quoted, `"`), `"`)
		assert.Assert(t, !strings.ContainsAny(inside, "\"`<>“”【】"), "Quote(%q) = %s", s, quoted)
		assert.Assert(t, !strings.Contains(inside, "]("), "Quote(%q) = %s", s, quoted)
		assert.Assert(t, !strings.HasSuffix(inside, `\`), "Quote(%q) = %s", s, quoted)
	})
}

// A JSON text keeps its value, and shows all of it.
func TestQuoteJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.String(), rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("`<>](\u202e\U000e0041\u2800"))))).Draw(t, "value")
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		assert.NilError(t, e.Encode(want))
		text := sanitize.QuoteJSON(b.String())
		var got map[string]string
		err := json.Unmarshal([]byte(text), &got)
		assert.NilError(t, err, text)
		assert.Assert(t, cmp.Equal(got, want), text)
		assert.Assert(t, !strings.ContainsAny(text, "`<>"), "shown: %q", text)
		assert.Assert(t, !strings.Contains(text, "]("), "shown: %q", text)
		assert.Assert(t, seen(text), "shown: %q", text)
		text = sanitize.EscapeInvisible(b.String())
		assert.NilError(t, json.Unmarshal([]byte(text), &got), "%q", text)
		assert.Assert(t, cmp.Equal(got, want), "shown: %q", text)
		assert.Assert(t, seen(text), "shown: %q", text)
	})
}

// seen reports whether a text has no character that does not show.
func seen(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Variation_Selector, unicode.Zl, unicode.Zp) || r == '\u2800')
	})
}

func TestConfusableReason(t *testing.T) {
	for name, want := range map[string]string{
		"Mail": "", "Mail 2": "", "Почта": "", "邮件|Mail": "", "メールMail": "", "Ελλάδα": "", "البريد": "", "Müller & Søn": "", "Հայերեն": "",
		"Mail Почта": "", "": "", "№ 7": "", "ВСЕ": "", "한국어App": "", "Ångström": "", "日本語": "",
		"РayРal":     "mixes Cyrillic and Latin letters in one word",
		"Gооgle":     "mixes Latin and Cyrillic letters in one word",
		"Αpple Mail": "mixes Greek and Latin letters in one word",
		"сасе":       "is not in Latin letters, though it looks so",
		"НОТЕ":       "is not in Latin letters, though it looks so",
		"𝗠ail":       "has letters in an unusual shape, such as 𝗠",
		"Ｍail":       "has letters in an unusual shape, such as Ｍ",
		"Ⓜail":       "has letters in an unusual shape, such as Ⓜ",
	} {
		assert.Check(t, is.Equal(sanitize.ConfusableReason(name), want), "%q", name)
	}
}
