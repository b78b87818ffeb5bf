package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// quoteTruncated returns foreign text on one line, quoted, and truncated in the middle to size bytes.
func quoteTruncated(text string, size int) string {
	const most = 100_000 // a text has to be cleaned before truncation
	return sanitize.Quote(truncateMiddle(aai.CleanLabel(text, most), size), size)
}

// plainOrQuoted returns a path, an ID or an address unchanged if it has only the usual characters of
// such names. Otherwise it quotes the text, so that it cannot read like a sentence.
func plainOrQuoted(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@:~", r)
	}) {
		return quoteTruncated(text, maxPath)
	}
	return truncateMiddle(text, maxPath)
}

// truncateMiddle removes the middle of a text longer than size bytes: the end of a path or
// a host is as informative as its beginning.
func truncateMiddle(text string, size int) string {
	const cut = "…"
	if len(text) <= size {
		return text
	}
	head := (size - len(cut)) / 2
	tail := len(text) - (size - len(cut) - head)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + cut + text[tail:]
}

// ascii returns a host without lookalike letters, and quoted if it contains a character
// that no host has.
func ascii(host string) string {
	text := strconv.QuoteToASCII(host)
	if strings.ContainsFunc(host, func(r rune) bool {
		return r > '~' && !unicode.IsLetter(r) || r <= '~' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-_:[]", r)
	}) {
		return text
	}
	return strings.Trim(text, `"`)
}

// asker describes the caller by its verified identity.
func (w words) asker(c aai.Caller) string {
	switch {
	case c.Principal != "":
		return fmt.Sprintf(w.holder, quoteTruncated(c.Principal, maxPath))
	case c.Identity != "":
		program, script, scripted := strings.Cut(c.Identity, " /")
		if scripted {
			return plainOrQuoted(program) + " " + plainOrQuoted("/"+script)
		}
		return plainOrQuoted(program)
	}
	return w.unknown
}

// shortAsker describes the caller for the title.
func (w words) shortAsker(c aai.Caller) string {
	switch {
	case c.Principal != "":
		return quoteTruncated(c.Principal, maxName)
	case c.Identity != "":
		return quoteTruncated(shortIdentity(c.Identity), maxName)
	}
	return w.somebody
}

// shortIdentity returns a program's name, or a script's name with its folder, because many
// scripts have the same name.
func shortIdentity(identity string) string {
	program, script, scripted := strings.Cut(identity, " /")
	if !scripted {
		return filepath.Base(program)
	}
	return filepath.Join(filepath.Base(filepath.Dir("/"+script)), filepath.Base(script))
}

// args returns all arguments except defaults, one per line, or an error if they are too long.
func (w words) args(r *aai.Request) (lines, error) {
	text, size := lines{w.with}, 0
	args := r.RedactedArgs()
	if r.Tool.Privacy.ShowSecrets {
		args = sanitize.Redact(r.Call.Args, nil, func(any) any { return sanitize.Redacted })
	}
	shown := maps.Clone(withoutDefaults(r.Tool, args))
	if r.Assessment().SendsKeys { // the question is about the typed text
		for _, name := range r.Tool.Privacy.Secret {
			name, _, _ = strings.Cut(name, ".")
			if value, given := r.Call.Args[name]; given {
				shown[name] = value
			}
		}
	}
	if len(shown) == 0 {
		return lines{w.noParams}, nil
	}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		value, err := visibleJSON(shown[name])
		if err != nil {
			return nil, cannotBeShown(r, "the arguments cannot be shown to the person")
		}
		line := key(name) + ": " + value
		if size += len(line); size > maxShown {
			return nil, cannotBeShown(r, fmt.Sprintf("the arguments have more than the %d bytes that a person can be asked about", maxShown))
		}
		text.addQuoted("%s", line)
	}
	return text, nil
}

// withoutDefaults returns the arguments without those that equal their defaults in the
// schema.
func withoutDefaults(tool *aai.Tool, args map[string]any) map[string]any {
	var schema struct {
		Properties map[string]struct{ Default json.RawMessage }
	}
	if len(tool.Params.Source) == 0 || json.Unmarshal(tool.Params.Source, &schema) != nil {
		return args
	}
	kept := maps.Clone(args)
	maps.DeleteFunc(kept, func(name string, value any) bool {
		usual := compact(schema.Properties[name].Default)
		is, err := json.Marshal(value)
		return usual != "" && err == nil && string(is) == usual
	})
	return kept
}

// key returns a parameter's name, quoted if it is not a simple word.
func key(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r > '~' || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.'
	}) {
		if text, err := visibleJSON(name); err == nil {
			return text
		}
	}
	return name
}

// visibleJSON returns the value as JSON without invisible characters.
func visibleJSON(value any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read it
	if err := e.Encode(value); err != nil {
		return "", err
	}
	text := sanitize.EscapeInvisible(strings.TrimSpace(b.String()))
	if aai.CleanText(text, len(text)) != text { // such as many combining accents
		text = asciiJSON(text)
	}
	return text, nil
}

// asciiJSON returns the JSON text in ASCII.
func asciiJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}

// cannotBeShown returns the error for a call without a question, because the question
// would be incomplete.
func cannotBeShown(r *aai.Request, why string) error {
	e := aai.Errorf(aai.ConsentRequired, "the person was not asked: %s", why)
	e.Hint = fmt.Sprintf("Call %s with less first: permission for the session or always covers longer calls too. If each call needs a question, split the call.",
		aai.CleanLabel(r.Tool.Name, 64))
	return e
}

func noHostError(host string) error {
	e := aai.Errorf(aai.ConsentRequired, "the person was not asked: %s is longer than any host's name", truncateMiddle(ascii(host), maxPath))
	e.Hint = "Correct the host in the app's descriptor."
	return e
}
