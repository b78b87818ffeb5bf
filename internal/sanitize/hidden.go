package sanitize

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Redacted stands in the place of a value that must be neither kept nor shown.
const Redacted = "[secret]"

// A Hidden is in the place of a secret value, such as among the arguments of a
// call on record. However it is written down, it is "[secret]".
type Hidden struct{ value any }

// Hide hides a value: a JSON value, as arguments have it.
func Hide(value any) Hidden { return Hidden{value} }

// Bytes returns the value itself, as text or else as JSON, for a journal that
// tells by a keyed hash whether two are the same. It is not to be kept.
func (h Hidden) Bytes() []byte {
	if text, ok := h.value.(string); ok {
		return []byte(text)
	}
	b, err := json.Marshal(h.value)
	if err != nil {
		return nil
	}
	return b
}

// MarshalJSON implements json.Marshaler.
func (Hidden) MarshalJSON() ([]byte, error) { return []byte(`"` + Redacted + `"`), nil }

// String implements fmt.Stringer.
func (Hidden) String() string { return Redacted }

// GoString implements fmt.GoStringer, so that %#v does not show it.
func (Hidden) GoString() string { return Redacted }

// maxDepth is how deep values are looked through for secrets. What lies deeper, such
// as in a value that holds itself, is hidden whole.
const maxDepth = 100

// Redact returns the arguments with what stand makes of them in the place of those
// that have one of the names, and at any depth of those whose own name says that
// they are secret. A name such as "fields.value" is that of every value in what fields
// holds. It does not change the arguments, and copies only what it must.
func Redact(args map[string]any, secret []string, stand func(any) any) map[string]any {
	kept, _ := redactFields(args, secret, stand, 0)
	return kept
}

func redactFields(args map[string]any, secret []string, stand func(any) any, depth int) (map[string]any, bool) {
	kept, copied := args, false
	for name, value := range args {
		shown, hidden := any(nil), true
		if slices.Contains(secret, name) || IsSecretName(name) && !IsCountValue(name, value) {
			shown = stand(value)
		} else {
			shown, hidden = redactNested(value, nestedNames(secret, name), stand, depth+1)
		}
		if !hidden {
			continue
		}
		if !copied {
			kept, copied = maps.Clone(args), true
		}
		kept[name] = shown
	}
	return kept, copied
}

// RedactValue is Conceal for a value of any kind.
func RedactValue(value any, stand func(any) any) any {
	kept, _ := redactNested(value, nil, stand, 0)
	return kept
}

// nestedNames are those of the names that are of what is in the one called so.
func nestedNames(names []string, outer string) (inner []string) {
	for _, name := range names {
		if of, rest, nested := strings.Cut(name, "."); nested && of == outer {
			inner = append(inner, rest)
		}
	}
	return inner
}

// redactNested reports whether anything was hidden.
func redactNested(value any, secret []string, stand func(any) any, depth int) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		if depth > maxDepth {
			return stand(value), true
		}
		return redactFields(v, secret, stand, depth)
	case []any:
		if depth > maxDepth {
			return stand(value), true
		}
		kept, copied := v, false
		for i, item := range v {
			shown, hidden := redactNested(item, secret, stand, depth+1)
			if !hidden {
				continue
			}
			if !copied {
				kept, copied = slices.Clone(v), true
			}
			kept[i] = shown
		}
		return kept, copied
	}
	return value, false
}

// redactAll takes secrets out of a text, also what a cut has left of them.
func redactAll(text string, secrets []string) string {
	// The longest first, so that none leaves a part of another behind.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range secrets {
		text = redactOne(text, secret)
	}
	return redactTruncated(text, secrets)
}

// minSubstringSecret is how many bytes a secret has that is found only where it stands by
// itself: taken out of the midst of words it would be told by what is left of them.
const minSubstringSecret = 4

func redactOne(text, secret string) string {
	if len(secret) >= minSubstringSecret {
		return strings.ReplaceAll(text, secret, Redacted)
	}
	wordy := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, secret)
		if !found {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(before)
		last, _ := utf8.DecodeLastRuneInString(b.String())
		next, _ := utf8.DecodeRuneInString(after)
		if wordy(last) || wordy(next) {
			b.WriteString(secret)
		} else {
			b.WriteString(Redacted)
		}
		text = after
	}
}

// AppendTexts adds the texts and numbers within a JSON value, as a message may hold
// them.
func AppendTexts(texts []string, value any) []string { return appendTexts(texts, value, 0) }

func appendTexts(texts []string, value any, depth int) []string {
	if depth > maxDepth {
		return texts
	}
	switch v := value.(type) {
	case nil, bool:
	case string:
		if v != "" {
			texts = append(texts, v)
		}
	case map[string]any:
		for _, item := range v {
			texts = appendTexts(texts, item, depth+1)
		}
	case []any:
		for _, item := range v {
			texts = appendTexts(texts, item, depth+1)
		}
	case float64:
		texts = append(texts, strconv.FormatFloat(v, 'f', -1, 64), fmt.Sprint(v)) // as people write it, and as Go does
	default:
		if text := fmt.Sprint(v); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}
