package sanitize

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Redacted replaces a value that must be neither stored nor shown.
const Redacted = "[secret]"

// A Hidden replaces a secret value, such as one among the arguments of a recorded call. Every
// text form of it is "[secret]".
type Hidden struct{ value any }

// Hide returns a Hidden for a JSON value, as in arguments.
func Hide(value any) Hidden { return Hidden{value} }

// Bytes returns the secret value, a string unchanged and any other value as JSON, for a journal that
// compares secrets by a keyed hash. The caller must not store the result.
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

// maxDepth is the depth of the search for secrets in values. Deeper values, such as those of a
// value that contains itself, are hidden completely.
const maxDepth = 100

// Redact returns the arguments with secret values replaced by the result of stand: those with one
// of the given names, and at any depth those with a name that marks a secret, also in the form
// {"name": "password", "value": …}, and the password of an address. A name such as "fields.value" means the member
// "value" of every object in "fields". Redact does not change args, and copies only the changed parts.
func Redact(args map[string]any, secret []string, stand func(any) any) map[string]any {
	kept, _ := redactFields(args, secret, stand, 0)
	return kept
}

func redactFields(args map[string]any, secret []string, stand func(any) any, depth int) (map[string]any, bool) {
	kept, copied := args, false
	named := namesSecret(args)
	for name, value := range args {
		shown, hidden := any(nil), true
		if slices.Contains(secret, name) || IsSecretName(name) && !IsCountValue(name, value) || named && name == "value" {
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

// namesSecret reports whether an object has a member "name" or "key" that marks its "value" as a secret.
func namesSecret(object map[string]any) bool {
	value, has := object["value"]
	if !has {
		return false
	}
	for _, member := range []string{"name", "key"} {
		if name, is := object[member].(string); is && len(name) <= maxNameLength && IsSecretName(name) &&
			!IsCountValue(name, value) {
			return true
		}
	}
	return false
}

// maxNameLength is the length in bytes of a text that can be the name of a value.
const maxNameLength = 100

// addressPassword is the user and the password in an address.
var addressPassword = regexp.MustCompile(`(://[^/?#\s:@]*:)([^/?#\s@]+)@`)

// RedactValue is Redact for a value of any kind.
func RedactValue(value any, stand func(any) any) any {
	kept, _ := redactNested(value, nil, stand, 0)
	return kept
}

// nestedNames returns the rest of the names that begin with outer and a dot.
func nestedNames(names []string, outer string) (inner []string) {
	for _, name := range names {
		if of, rest, nested := strings.Cut(name, "."); nested && of == outer {
			inner = append(inner, rest)
		}
	}
	return inner
}

// redactNested returns the value with secrets replaced, and reports whether there were any.
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
	case string:
		if strings.Contains(v, "://") && addressPassword.MatchString(v) {
			return addressPassword.ReplaceAllStringFunc(v, func(found string) string {
				parts := addressPassword.FindStringSubmatch(found)
				if shown, is := stand(parts[2]).(string); is {
					return parts[1] + shown + "@"
				}
				return parts[1] + Redacted + "@"
			}), true
		}
	}
	return value, false
}

// redactAll removes secrets from a text, including those cut by a truncation.
func redactAll(text string, secrets []string) string {
	// The longest first, so that no part of a longer secret remains.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range secrets {
		text = redactOne(text, secret)
	}
	return redactTruncated(text, secrets)
}

// minSubstringSecret is the length in bytes from which a secret is removed within words too. For
// a shorter one the rest of the word would reveal it.
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

// AppendTexts appends the texts and numbers within a JSON value, in the forms that messages
// contain.
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
		texts = append(texts, strconv.FormatFloat(v, 'f', -1, 64), fmt.Sprint(v)) // in decimal and in Go's format
	default:
		if text := fmt.Sprint(v); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}
