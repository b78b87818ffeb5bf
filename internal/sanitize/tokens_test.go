package sanitize

import (
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/testkit/tokencount"

	"pgregory.net/rapid"
)

// TestEstimateOfPlainText: without the frame of an outline, which is exact,
// the estimate may be some more off.
func TestEstimateOfPlainText(t *testing.T) {
	for language, words := range tokencount.SampleTexts() {
		text := strings.ReplaceAll(words, "|", "\n")
		estimate, real := EstimateTokens(text), tokencount.Count(t, text)
		t.Logf("%-20s %5d of %5d: %+.1f %%", language, estimate, real, 100*float64(estimate-real)/float64(real))
		assert.Check(t, !(float64(estimate) < 0.95*float64(real)), "%s: estimated %d, it is %d tokens", language, estimate, real)
		assert.Check(t, !(float64(estimate) > 1.25*float64(real)), "%s: estimated %d, it is %d tokens", language, estimate, real)
	}
}

// TestPiecesAreTheEncodings: a text is as many tokens as its pieces are together,
// so no token spans two of them.
func TestPiecesAreTheEncodings(t *testing.T) {
	texts := []string{"don't they'll  x  \n\n  HTMLElement camelCase 12345 [e12]\n  button \"Save\"…\t\t日本 a\u0301 ½ x/\n/y"}
	for _, words := range tokencount.SampleTexts() {
		texts = append(texts, strings.ReplaceAll(words, "|", "  \n"))
	}
	for _, text := range texts {
		sum := 0
		for rest := text; rest != ""; {
			_, size := firstPiece(rest)
			sum += tokencount.Count(t, rest[:size])
			rest = rest[size:]
		}
		whole := tokencount.Count(t, text)
		assert.Check(t, is.Equal(sum, whole), "%d tokens in pieces, %d in one: %q", sum, whole, text)
	}
}

// TestPieces: no piece is longer than the encoding's either.
func TestPieces(t *testing.T) {
	const cut = "|"
	for _, text := range []string{
		"camel|Case|Word", " camel|Case", "HTMLElement", "don't|'x", "123|45", "[e|12|]\n", "x|  | y", "x| \n\n", "\"Save|\"…\n/", "日本| 語",
	} {
		var pieces []string
		for rest := strings.ReplaceAll(text, cut, ""); rest != ""; {
			_, size := firstPiece(rest)
			pieces, rest = append(pieces, rest[:size]), rest[size:]
		}
		assert.Check(t, is.Equal(strings.Join(pieces, cut), text))
	}
}

func TestEstimateOfLinesAddsUp(t *testing.T) {
	odd := []string{"", " ", "Open...", "保存文件", "📁 Files", "\u202egpj.exe", "\ue000", "[e2] File, [e3] Edit", "👩‍💻🧵🪄🦾🧿🪬🫧🪸🪹🪺🫃🫄🫅🧌🪖🪗", "\x1b[31mred", "k=0–3: button [e1+2k]", "7"}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom(odd))).Draw(t, "lines")
		sum := 0
		for _, line := range lines {
			sum += EstimateMilliTokens("  x" + line + "\n")
		}
		whole := ""
		for _, line := range lines {
			whole += "  x" + line + "\n"
		}
		assert.Assert(t, EstimateMilliTokens(whole) <= sum, "%d, but %d by lines", EstimateMilliTokens(whole), sum)
	})
}

func FuzzEstimate(f *testing.F) {
	for _, s := range []string{"", " ", "\n", "Save", "\xff", "日本語", "a\u0301", "'s", "  \n /", "１２３", "👩‍💻"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := EstimateTokens(s)
		assert.Check(t, is.Equal((n == 0), (s == "")), "%d %q", n, s)
		assert.Check(t, n <= 4*len(s), "%d tokens: %q", n, s)
		for rest := s; rest != ""; {
			_, size := firstPiece(rest)
			assert.Assert(t, size >= 1, "a piece of %d bytes: %q", size, rest)
			assert.Assert(t, size <= len(rest), "a piece of %d bytes: %q", size, rest)
			assert.Assert(t, !utf8.ValidString(rest) || utf8.ValidString(rest[:size]), "a piece of %d bytes: %q", size, rest)
			rest = rest[size:]
		}
	})
}
