package gateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// The marks of a secret in a text: {{secret:NAME}}. The escaped opening mark stands for the mark itself.
const (
	secretOpen    = "{{secret:"
	secretClose   = "}}"
	escapedSecret = "{{{{secret:"
)

// A secretText is a text with secrets: literals and names in turn, beginning and ending with a literal.
type secretText struct{ literals, names []string }

// parseSecrets parses a text. Without secrets the result has one literal.
func parseSecrets(text string) (secretText, error) {
	var t secretText
	var literal strings.Builder
	for {
		at := strings.Index(text, secretOpen)
		if at < 0 {
			break
		}
		if strings.HasSuffix(text[:at], "{{") {
			literal.WriteString(text[:at-len("{{")] + secretOpen)
			text = text[at+len(secretOpen):]
			continue
		}
		name, rest, closed := strings.Cut(text[at+len(secretOpen):], secretClose)
		if !closed {
			return t, errors.New("{{secret: without }}; write {{{{secret: for the characters themselves")
		}
		literal.WriteString(text[:at])
		t.literals, t.names = append(t.literals, literal.String()), append(t.names, strings.TrimSpace(name))
		literal.Reset()
		text = rest
	}
	literal.WriteString(text)
	t.literals = append(t.literals, literal.String())
	return t, nil
}

// fill returns the text with each secret replaced by its value.
func (t secretText) fill(value func(name string) (string, error)) (string, error) {
	var b strings.Builder
	for i, name := range t.names {
		b.WriteString(t.literals[i])
		v, err := value(name)
		if err != nil {
			return "", err
		}
		b.WriteString(v)
	}
	b.WriteString(t.literals[len(t.names)])
	return b.String(), nil
}

// HasSecret reports whether a text of a call's arguments names a secret of the person.
func HasSecret(text string) bool {
	if !strings.Contains(text, secretOpen) {
		return false
	}
	t, err := parseSecrets(text)
	return err != nil || len(t.names) > 0
}

// isOneSecret reports whether a text is one placeholder of a secret and nothing else.
func isOneSecret(text string) bool {
	t, err := parseSecrets(text)
	return err == nil && len(t.names) == 1 && t.literals[0] == "" && t.literals[1] == "" && len(text) <= maxName
}

// EscapeSecrets returns a text in which {{secret:NAME}} stands for these characters. Texts of apps pass through it before
// they become arguments of a call, so that they name no secret.
func EscapeSecrets(text string) string { return strings.ReplaceAll(text, secretOpen, escapedSecret) }

// UnescapeSecrets returns a text without secrets as its characters: the escaped mark stands for the mark itself.
func UnescapeSecrets(text string) string {
	if !strings.Contains(text, escapedSecret) {
		return text
	}
	t, err := parseSecrets(text)
	if err != nil || len(t.names) > 0 {
		return text
	}
	return t.literals[0]
}

// A secretArgument is a text with secrets in the arguments of a call.
type secretArgument struct {
	path string // names of members joined by dots, without places in lists
	text secretText
}

// secretArguments returns the texts with secrets, or with their escaped mark, in the arguments.
func secretArguments(args map[string]any) (found []secretArgument, err error) {
	walkTexts(args, "", func(path, text string) {
		if !strings.Contains(text, secretOpen) {
			return
		}
		t, wrong := parseSecrets(text)
		if wrong != nil {
			err = fmt.Errorf("%s: %w", aai.CleanLabel(path, maxName), wrong)
		}
		found = append(found, secretArgument{path, t})
	})
	slices.SortStableFunc(found, func(a, b secretArgument) int { return strings.Compare(a.path, b.path) })
	return found, err
}

// nameOfMember ends the path of the name of a member.
const nameOfMember = " (name)"

// walkTexts calls f for each text in a JSON value, and for each name of a member.
func walkTexts(value any, path string, f func(path, text string)) {
	switch v := value.(type) {
	case string:
		f(path, v)
	case map[string]any:
		for name, member := range v {
			f(path+nameOfMember, name)
			walkTexts(member, strings.TrimPrefix(path+"."+name, "."), f)
		}
	case []any:
		for _, item := range v {
			walkTexts(item, path, f)
		}
	}
}

// misspelledSecret returns the path of a text with a secret that has blanks around the word, such as {{ secret:NAME }};
// "" for none. Typed as it is, it would look like the secret.
func misspelledSecret(args map[string]any) (found string) {
	walkTexts(args, "", func(path, text string) {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, "{{")
			if !ok {
				return
			}
			word, _, closed := strings.Cut(after, ":")
			if closed && word != "secret" && strings.EqualFold(strings.TrimSpace(word), "secret") {
				found = path
			}
			rest = after
		}
	})
	return found
}

// fillArguments returns the arguments with each text replaced by fill.
func fillArguments(value any, path string, fill func(path string, t secretText) (string, error)) (any, error) {
	switch v := value.(type) {
	case string:
		if !strings.Contains(v, secretOpen) {
			return v, nil
		}
		t, err := parseSecrets(v)
		if err != nil {
			return nil, err
		}
		return fill(path, t)
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			filled, err := fillArguments(member, strings.TrimPrefix(path+"."+name, "."), fill)
			if err != nil {
				return nil, err
			}
			object[name] = filled
		}
		return object, nil
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			filled, err := fillArguments(item, path, fill)
			if err != nil {
				return nil, err
			}
			list[i] = filled
		}
		return list, nil
	}
	return value, nil
}
