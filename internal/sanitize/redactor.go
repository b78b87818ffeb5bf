package sanitize

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Redactor removes secrets from texts. Time and memory grow linearly with the secrets and the
// text. Few and short secrets are searched in all encodings and replaced. With many or long ones,
// a text that shares a fragment with them is omitted completely. Encodings are computed at the
// first use, so a Redactor is not safe for concurrent use.
type Redactor struct {
	exact     []string
	encodings []string // of exact; nil until needed
	long      []string
	omitWhole bool // compare fragments and omit whole texts
}

// The limits for exact replacement: the number of secrets, and their bytes in total.
const (
	maxExactSecrets = 32
	maxExactBytes   = 512
	// maxExactSymbols is the limit in bytes for a secret without a run of letters and digits;
	// every encoding lengthens such a secret.
	maxExactSymbols = 64
)

// Omitted replaces a text that contains a part of a long secret.
const Omitted = "[withheld: it repeats a part of a long secret]"

// NewRedactor returns a Redactor for the secrets. It keeps the slice and does not change it.
func NewRedactor(secrets []string) *Redactor {
	total := 0
	for _, secret := range secrets {
		if total += len(secret); len(secret) > maxExactSymbols && len(longestRun(secret)) < minSubstringSecret {
			total = maxExactBytes + 1
		}
	}
	if len(secrets) <= maxExactSecrets && total <= maxExactBytes {
		return &Redactor{exact: secrets}
	}
	return &Redactor{long: secrets, omitWhole: true}
}

// Redact returns the text with the secrets replaced by Redacted, or Omitted instead of the text.
func (v *Redactor) Redact(text string) string {
	switch {
	case v.omitWhole:
		if sharesFragment(text, v.long) {
			return Omitted
		}
		return text
	case !mayRepeat(text, v.exact):
		return text
	case v.encodings == nil:
		v.encodings = SecretEncodings(v.exact)
	}
	return redactAll(text, v.encodings)
}

// RedactValue returns a JSON value with Redact applied to all texts, names and numbers in it; see MapTexts.
func (v *Redactor) RedactValue(value any) any { return MapTexts(value, v.Redact) }

// MapTexts returns a JSON value with f applied to all texts, names and exact numbers in it. A number that
// f changes becomes a text. The result shares the parts with value in which f changes nothing, because a
// copy of a large value takes much memory.
func MapTexts(value any, f func(string) string) any {
	mapped, _ := mapTexts(value, f)
	return mapped
}

// mapTexts is MapTexts, and reports whether f changed something.
func mapTexts(value any, f func(string) string) (mapped any, changed bool) {
	switch of := value.(type) {
	case string:
		if text := f(of); text != of {
			return text, true
		}
	case json.Number:
		if text := f(of.String()); text != of.String() {
			return text, true
		}
	case map[string]any:
		return mapFields(of, f)
	case []any:
		kept, copied := of, false
		for i, item := range of {
			shown, other := mapTexts(item, f)
			if !other {
				continue
			}
			if !copied {
				kept, copied = slices.Clone(of), true
			}
			kept[i] = shown
		}
		if copied {
			return kept, true
		}
	}
	return value, false
}

// mapFields is mapTexts for an object.
func mapFields(object map[string]any, f func(string) string) (mapped any, changed bool) {
	type field struct {
		old, name string
		item      any
	}
	var others []field
	for name, item := range object {
		shown, other := mapTexts(item, f)
		if text := f(name); other || text != name {
			others = append(others, field{name, text, shown})
		}
	}
	if others == nil {
		return object, false
	}
	kept := maps.Clone(object)
	for _, field := range others {
		delete(kept, field.old)
	}
	for _, field := range others {
		kept[field.name] = field.item
	}
	return kept, true
}

// mayRepeat reports whether the text may contain one of the secrets in some encoding: all
// encodings except base64 and hexadecimal preserve runs of letters and digits.
func mayRepeat(text string, secrets []string) bool {
	if strings.Contains(text, TruncationMark) {
		return len(secrets) > 0
	}
	return slices.ContainsFunc(secrets, func(secret string) bool {
		return slices.ContainsFunc(secretSigns(secret), func(sign string) bool { return strings.Contains(text, sign) })
	})
}

// secretSigns returns texts one of which is in each text that repeats the secret: its longest run of
// letters and digits, or "" if that is too short, and its forms in base64 and hexadecimal.
func secretSigns(secret string) []string {
	run := longestRun(secret)
	if len(run) < minSubstringSecret {
		return []string{""}
	}
	low := hex.EncodeToString([]byte(secret))
	return append(base64Forms(secret), run, low, strings.ToUpper(low))
}

// longestRun returns the longest run of ASCII letters and digits in s.
func longestRun(s string) string {
	best, begin := "", 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && isPlain(s[i]) {
			continue
		}
		if i-begin > len(best) {
			best = s[begin:i]
		}
		begin = i + 1
	}
	return best
}

func isPlain(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// fragmentSize is the number of bytes of a long secret that would reveal it.
const fragmentSize = 12

// sharesFragment reports whether the text contains a fragment of one of the secrets, or a whole
// shorter one, in a usual encoding. Where possible it decodes the text instead of encoding the
// secrets, since the text is shorter.
func sharesFragment(text string, secrets []string) bool {
	known := &fragmentSet{fragments: make(map[string]struct{})}
	for _, reading := range decodings(text) {
		known.add(reading)
	}
	for _, secret := range secrets {
		switch {
		case len(secret) >= fragmentSize:
			b := []byte(secret)
			if known.containsFragmentOf(secret) || known.containsFragmentOf(base64.RawStdEncoding.EncodeToString(b)) ||
				known.containsFragmentOf(hex.EncodeToString(b)) {
				return true
			}
		case len(secret) >= minSubstringSecret && known.contains(secret):
			return true
		}
	}
	return false
}

// decodings returns the possible texts before quoting, escaping or encoding.
func decodings(text string) []string {
	all := []string{text}
	for range maxQuoteDepth {
		if plain := unquoted(all[len(all)-1]); plain != all[len(all)-1] {
			all = append(all, plain)
		}
	}
	if plain, err := url.QueryUnescape(text); err == nil && plain != text {
		all = append(all, plain)
	}
	return append(all, strings.ToLower(text), strings.NewReplacer("-", "+", "_", "/").Replace(text))
}

// unquoted decodes the escapes of JSON and Go in a text.
func unquoted(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for text != "" {
		r, multibyte, rest, err := strconv.UnquoteChar(text, 0)
		switch {
		case err != nil: // such as \/ or \"
			if text[0] != '\\' {
				b.WriteByte(text[0])
			}
			text = text[1:]
			continue
		case multibyte || r < utf8.RuneSelf:
			b.WriteRune(r)
		default:
			b.WriteByte(byte(r))
		}
		text = rest
	}
	return b.String()
}

// fragmentSet is the set of fragments of texts, with a bloom filter that excludes most others
// quickly.
type fragmentSet struct {
	texts     []string
	bloom     [1 << 10]uint64
	fragments map[string]struct{}
}

func (p *fragmentSet) add(text string) {
	p.texts = append(p.texts, text)
	for i := range len(text) - fragmentSize + 1 {
		at := fragmentHash(text[i:])
		p.bloom[at>>6] |= 1 << (at & 63)
		p.fragments[text[i:i+fragmentSize]] = struct{}{}
	}
}

// contains reports whether one of the texts contains a short secret.
func (p *fragmentSet) contains(secret string) bool {
	return slices.ContainsFunc(p.texts, func(text string) bool { return strings.Contains(text, secret) })
}

// containsFragmentOf reports whether a fragment of text is in p.
func (p *fragmentSet) containsFragmentOf(text string) bool {
	for i := range len(text) - fragmentSize + 1 {
		if at := fragmentHash(text[i:]); p.bloom[at>>6]&(1<<(at&63)) == 0 {
			continue
		}
		if _, known := p.fragments[text[i:i+fragmentSize]]; known {
			return true
		}
	}
	return false
}

// fragmentHash returns a 16-bit hash of the first eight bytes of text.
func fragmentHash(text string) uint64 {
	const odd = 0x9e3779b97f4a7c15
	var first uint64
	for i := range 8 {
		first = first<<8 | uint64(text[i])
	}
	return first * odd >> 48
}
