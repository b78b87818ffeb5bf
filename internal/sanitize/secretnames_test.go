package sanitize_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// TestPIN: a PIN is a secret, and "pin" as a verb is none.
func TestPIN(t *testing.T) {
	for name, secret := range map[string]bool{
		"pin": true, "PIN": true, "userPin": true, "pin2": true, "pin_code": true, "new-pin-confirm": true,
		"pin_to_taskbar": false, "pinTab": false, "Pin this window": false, "pins": false, "spin": false,
	} {
		assert.Check(t, is.Equal(sanitize.IsSecretName(name), secret), "%s %v", name, !secret)
	}
}

// TestCountsAreNoSecrets: a number of tokens is a count; a value that could be a token is a
// secret.
func TestCountsAreNoSecrets(t *testing.T) {
	for _, c := range []struct {
		name   string
		value  any
		hidden bool
	}{
		{"max_tokens", int64(4000), false}, {"budget_tokens", 4000.0, false}, {"maxTokens", 1, false}, {"tokens", true, false},
		{"max_tokens", "4000", false}, {"budget_tokens", "600", false}, {"max_tokens", "hunter2", true}, {"tokens", "471100", true}, {"tokens", []any{"a"}, true}, {"token", 4000, true}, {"api_token", 4000, true},
		{"otp_tokens", 123456, true}, {"token_count", 5, true},
	} {
		kept := sanitize.Redact(map[string]any{c.name: c.value}, nil, func(any) any { return nil })
		assert.Check(t, is.Equal(kept[c.name] == nil, c.hidden), "%s %v", c.name, c.value)
	}
	assert.Check(t, is.Equal(sanitize.Redact(map[string]any{"max_tokens": 5}, []string{"max_tokens"}, func(any) any { return sanitize.Redacted })["max_tokens"], sanitize.Redacted), "what its tool calls secret is not hidden")
}

// TestNamesOfLogins: the names of logins mark secrets, and names that only describe a login do not.
func TestNamesOfLogins(t *testing.T) {
	for name, secret := range map[string]bool{
		"auth": true, "proxyAuth": true, "connection_string": true, "DSN": true, "sentryDsn": true, "sessionid": true, "session-id": true, "pat": true, "github_pat": true,
		"auth_type": false, "author": false, "path": false, "pattern": false, "session": false,
	} {
		assert.Check(t, is.Equal(sanitize.IsSecretName(name), secret), "%s %v", name, !secret)
	}
}

// TestRedactPairs: a value beside a name that marks a secret is hidden, and so is an address's password.
func TestRedactPairs(t *testing.T) {
	args := map[string]any{
		"fields": []any{map[string]any{"name": "password", "value": "hunter2"}, map[string]any{"key": "API_TOKEN", "value": 7}, map[string]any{"name": "city", "value": "Rome"}},
		"url":    "postgres://ann:hunter2@db/a?b=c", "other": "https://example.org:8080/a@b",
	}
	kept := sanitize.Redact(args, nil, func(any) any { return sanitize.Redacted })
	want := "map[fields:[map[name:password value:[secret]] map[key:API_TOKEN value:[secret]] map[name:city value:Rome]] other:https://example.org:8080/a@b url:postgres://ann:[secret]@db/a?b=c]"
	assert.Check(t, is.Equal(fmt.Sprint(kept), want))
}

// TestRedactNested: a secret member of several objects is hidden in each, and nothing else.
func TestRedactNested(t *testing.T) {
	args := map[string]any{"value": "plain", "fields": []any{map[string]any{"query": "Name", "value": "Ann"}, map[string]any{"query": "Age", "value": 7}, "odd"}}
	kept := sanitize.Redact(args, []string{"fields.value"}, func(any) any { return sanitize.Redacted })
	got, want := fmt.Sprint(kept), "map[fields:[map[query:Name value:[secret]] map[query:Age value:[secret]] odd] value:plain]"
	assert.Check(t, is.Equal(got, want))
	assert.Check(t, is.Equal(fmt.Sprint(args["fields"]), "[map[query:Name value:Ann] map[query:Age value:7] odd]"), "the arguments were changed: %v", args)
}

// copyOfTexts is MapTexts as a complete copy.
func copyOfTexts(value any, f func(string) string) any {
	switch of := value.(type) {
	case string:
		return f(of)
	case map[string]any:
		kept := map[string]any{}
		for name, item := range of {
			kept[f(name)] = copyOfTexts(item, f)
		}
		return kept
	case []any:
		kept := make([]any, len(of))
		for i, item := range of {
			kept[i] = copyOfTexts(item, f)
		}
		return kept
	}
	return value
}

// TestMapTexts checks that sharing unchanged parts gives what a complete copy gives, and that the
// original stays as it is.
func TestMapTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		var draw func(depth int) any
		draw = func(depth int) any {
			switch rapid.IntRange(0, 3+depth).Draw(t, "kind") {
			case 0:
				object := map[string]any{}
				for range rapid.IntRange(0, 4).Draw(t, "members") {
					object[text.Draw(t, "name")] = draw(depth + 1)
				}
				return object
			case 1:
				list := []any{}
				for range rapid.IntRange(0, 4).Draw(t, "elements") {
					list = append(list, draw(depth+1))
				}
				return list
			case 2:
				return true
			}
			return text.Draw(t, "text")
		}
		value := draw(0)
		before, err := json.Marshal(value)
		assert.NilError(t, err)
		// Each text becomes at most one other, so that no two names become one.
		swap := strings.NewReplacer("a", "b", "b", "a", "c", "x").Replace
		got, want := sanitize.MapTexts(value, swap), copyOfTexts(value, swap)
		assert.Assert(t, reflect.DeepEqual(got, want), "%s %v %v", before, got, want)
		after, err := json.Marshal(value)
		assert.NilError(t, err, "%s %s", before, after)
		assert.Equal(t, string(after), string(before), "%s %s", before, after)
	})
}

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

// TestSecretSetIsBounded: added secrets and the last of requests stay, and old proofs are dropped.
func TestSecretSetIsBounded(t *testing.T) {
	var s sanitize.SecretSet
	for i := range 100 {
		s.Add(fmt.Sprintf("line-of-a-key-%04d", i))
	}
	for i := range 1000 {
		request := &http.Request{URL: new(url.URL), Header: http.Header{"Authorization": {"Bearer the-token-of-the-app"}, "Dpop": {fmt.Sprintf("proof-number-%04d", i)}}}
		s.AddRequest(nil, "", request)
	}
	got := s.Redact("line-of-a-key-0000 the-token-of-the-app proof-number-0999 proof-number-0001 other")
	assert.Check(t, is.Equal(got, "[secret] [secret] [secret] proof-number-0001 other"))
}

// TestSecretSetOmitsFragments: a text with a part of a long key is omitted.
func TestSecretSetOmitsFragments(t *testing.T) {
	var s sanitize.SecretSet
	key := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 20)
	s.Add(key)
	assert.Check(t, is.Equal(s.Redact("it begins with "+key[5:40]), sanitize.Omitted))
}

// TestSecretSetLines: each long line of a key is a secret too, and short values are none.
func TestSecretSetLines(t *testing.T) {
	var s sanitize.SecretSet
	s.Add("-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n", "on", "12345")
	for text, want := range map[string]string{
		"a MIIEvQIBADANBgkq b": "a [secret] b", "it is on, 12345": "it is on, 12345", "cut: MIIEvQIB…": "cut: [secret]…",
	} {
		assert.Check(t, is.Equal(s.Redact(text), want), "%q", text)
	}
	assert.Assert(t, s.IsIn([]byte("\x00h\x00k\x00i\x00G\x009\x00w\x000\x00B\x00A\x00Q\x00E\x00F\x00A\x00A\x00S\x00C")), "UTF-16 is not searched")
	assert.Assert(t, !s.IsIn([]byte("nothing")), "UTF-16 is not searched")
	got := fmt.Sprint(s.RedactValue(map[string]any{"a": []any{"hkiG9w0BAQEFAASC", 7}}))
	assert.Check(t, !strings.Contains(got, "hki"), got)
}

// TestShellWords: quoted words pass a shell unchanged.
func TestShellWords(t *testing.T) {
	for word, want := range map[string]string{"/a/b-c": "/a/b-c", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "Grüße": "'Grüße'",
		"a\x1b[2Jb'\\": `$'a\033[2Jb\047\134'`, "\u202e1": `$'\342\200\2561'`, "\xff": `$'\377'`} {
		assert.Check(t, is.Equal(sanitize.ShellJoin(word), want), "%q", word)
	}
}

func TestSecretName(t *testing.T) {
	for _, name := range []string{"password", "PASSWD", "userpass", "pass1", "db_pass", "passphrase", "clientSecret", "accessToken",
		"api-key", "apiKey", "API_KEY", "Authorization", "set-cookie", "otp", "otpCode", "TOTP", "cvv", "credentials",
		"access_key", "accessKey", "AWS_ACCESS_KEY_ID", "bearer", "bearerAuth", "iban", "IBAN", "senderIban", "jwt", "idJWT", "jwt_assertion", "pin", "PIN", "userPin", "new_pin",
		"pin_code", "pinNumber", "pin2", "cvc", "cardCVC", "cvc2", "ssn", "social_security_number", "otp_seed", "totpSeed", "recovery_code", "recoveryCodes", "backup-codes",
		"mnemonic", "seed_phrase", "seedPhrase", "seed-words", "recovery phrase", "private_key", "privateKey", "privKey", "ssh_key", "signingKey", "pwd", "userPwd", "psk", "puk",
		"credit_card", "cardNumber", "mfaCode", "2fa", "Kennwort", "密码", "пароль"} {
		assert.Check(t, sanitize.IsSecretName(name), "%s may be shown", name)
	}
	for _, name := range []string{"", "to", "subject", "passengers", "passage", "hotplate", "footprint", "capitals", "api", "key",
		"pinned", "shipping", "spin", "pin_message", "pinToTop", "pinterest", "opinion", "seed", "random_seed", "urban", "cuban", "libanon", "ibanez", "access", "accessLevel",
		"recovery", "code", "codes", "bear", "forbearance", "private", "publicKey", "keyboard", "monkey", "card", "number", "session", "sshHost", "assnames", "cvcs_list"} {
		assert.Check(t, !sanitize.IsSecretName(name), "%s may not be shown", name)
	}
}
