package sanitize

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// TestPartsOfCredentials checks that a part that is a credential itself is removed when it comes alone,
// and that other parts stay.
func TestPartsOfCredentials(t *testing.T) {
	for name, c := range map[string]struct{ secret, text, hidden, shown string }{
		"address":           {"postgres://bob:Sup3rS3cr3t@db.example/x", "the password is Sup3rS3cr3t of bob at db.example", "Sup3rS3cr3t", "db.example"},
		"encoded password":  {"postgres://bob:Sup3r%2FS3cr3t@db.example/x", "Sup3r/S3cr3t or Sup3r%2FS3cr3t", "S3cr3t", ""},
		"another scheme":    {"postgres://bob:Sup3rS3cr3t@db.example/x", "postgresql://bob:Sup3rS3cr3t@db.example/x", "Sup3rS3cr3t", "db.example"},
		"scheme and token":  {"Bearer abcDEF0123456789", "got abcDEF0123456789", "abcDEF", "got"},
		"user and password": {"robert:Sup3rS3cr3t", "robert has Sup3rS3cr3t", "Sup3rS3cr3t", "robert"},
		"JSON":              {`{"type": "service_account", "private_key": "-----BEGIN KEY-----\nMIIEvQIBADANBgkqh\n-----END KEY-----\n"}`, "a service_account: MIIEvQIBADANBgkqh", "MIIEvQ", "service_account"},
		"an address alone":  {"https://api.example.com/v1", "see api.example.com", "", "api.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			var set SecretSet
			set.Add(c.secret)
			got := set.Redact(c.text)
			assert.Check(t, c.hidden == "" || !strings.Contains(got, c.hidden), "%q shows %q", got, c.hidden)
			assert.Check(t, is.Contains(got, c.shown))
		})
	}
}

func TestParts(t *testing.T) {
	var set SecretSet
	set.Add("s3cr3t-Zebra!42")
	for text, want := range map[string]bool{
		"S3CR3T-ZEBRA!42": true, "s 3 c r 3 t - Z e b r a": true, "it ends with 3t-zebra!42": true, "s3cr3t": false, "zebra": false, "": false,
	} {
		assert.Check(t, is.Equal(set.HasPart(text, 6, 60), want), "%q", text)
	}
	assert.Check(t, set.HasPart("s3cr3t-", 4, 40), "a copied part is not found")
}

// TestShortSecrets: a short secret is only removed as a separate word; within words, the rest
// would reveal it.
func TestShortSecrets(t *testing.T) {
	for _, c := range []struct{ text, secret, want string }{
		{`nothing matches "role:textbox"`, "x", `nothing matches "role:textbox"`},
		{`the text "x" was refused: x`, "x", `the text "[secret]" was refused: [secret]`},
		{"x", "x", "[secret]"},
		{"xx x2 x", "x", "xx x2 [secret]"},
		{"the pin is a1234b", "1234", "the pin is a[secret]b"},
		{"äxä ä", "ä", "äxä [secret]"},
	} {
		assert.Check(t, is.Equal(redactOne(c.text, c.secret), c.want), "%q %q", c.text, c.secret)
	}
}

// A hidden value does not show, however it is written.
func TestHiddenDoesNotShow(t *testing.T) {
	h := Hide("hunter2")
	b, err := json.Marshal(map[string]any{"a": h})
	assert.NilError(t, err)
	for _, text := range []string{string(b), fmt.Sprint(h), fmt.Sprintf("%v %+v %#v %s %q", h, h, h, h, h)} {
		assert.Assert(t, !strings.Contains(text, "hunter2"), text)
		assert.Assert(t, is.Contains(text, Redacted))
	}
	for value, want := range map[any]string{"a": "a", 1.5: "1.5", true: "true", nil: "null"} {
		assert.Check(t, is.Equal(string(Hide(value).Bytes()), want), value)
	}
	b = Hide(func() {}).Bytes()
	assert.Check(t, b == nil, b)
}

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
