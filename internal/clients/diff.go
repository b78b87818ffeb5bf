package clients

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/gybob/aai-gateway/internal/clients/splice"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// redactedMark replaces redacted text. The person's configuration may contain an API key
// anywhere.
const redactedMark = "…"

// maxDiffLine limits a displayed line, in bytes.
const maxDiffLine = 240

// diffOf returns the changes of a plan as a unified diff. Of other entries it shows keys and
// punctuation, and only those values that are in shown.
func diffOf(p *Plan, shown []string) string {
	from, to := "/dev/null", "/dev/null"
	if p.existed {
		from = p.Client.File
	}
	if p.remains {
		to = p.Client.File
	}
	text := diff.Diff(from, withUnixLineEnds(p.old), to, withUnixLineEnds(p.next))
	_, text, _ = bytes.Cut(text, []byte("\n")) // "diff a b"
	spot := p.at.splicePlace()
	names := splice.Keys(p.old, spot)
	maps.Copy(names, splice.Keys(p.next, spot))
	v := redactor{format: spot.Format, shown: shown, names: names}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	inOld, inNew := insideComments(p.old, spot.Format), insideComments(p.next, spot.Format)
	before, after := 0, 0 // the next line numbers of both texts
	for i, line := range lines {
		if n, _ := fmt.Sscanf(line, "@@ -%d", &before); n > 0 {
			_, now, _ := strings.Cut(line, "+")
			_, _ = fmt.Sscanf(now, "%d", &after) // the diff has this format
			continue
		}
		if line == "" || i < 2 || strings.HasPrefix(line, "\\") {
			continue
		}
		inside := inNew[after]
		if line[0] == '-' {
			inside = inOld[before]
		}
		if line[0] != '+' {
			before++
		}
		if line[0] != '-' {
			after++
		}
		lines[i] = line[:1] + v.line(line[1:], inside)
	}
	return strings.Join(shortened(lines), "\n") + "\n"
}

// withEntry returns the diff with the new entry, even if redaction hides the lines that contain
// it.
func withEntry(diff string, entry []splice.Field) string {
	var fields []string
	seen := map[string]bool{EntryName: false}
	for _, f := range entry {
		value := splice.FormatValue(f.Value)
		fields = append(fields, splice.FormatValue(f.Name)+": "+value)
		if f.Name == "command" || f.Name == "cmd" {
			seen[value] = false
		}
	}
	for line := range strings.Lines(diff) {
		for text := range seen {
			seen[text] = seen[text] || strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++ ") &&
				strings.Contains(line, text)
		}
	}
	for _, found := range seen {
		if !found {
			return diff + "+" + redactedMark + " " + splice.FormatValue(EntryName) + ": {" + strings.Join(fields, ", ") + "} " +
				redactedMark + "\n"
		}
	}
	return diff
}

// insideComments returns the lines, from 1, that begin within a multi-line comment.
func insideComments(text []byte, format splice.Format) map[int]bool {
	inside := make(map[int]bool)
	if format != splice.JSON {
		return inside
	}
	v := redactor{format: format}
	n, open := 0, false
	for line := range strings.Lines(string(text)) {
		n++
		if open {
			inside[n] = true
			_, rest, closed := strings.Cut(line, "*/")
			if !closed {
				continue
			}
			line, open = rest, false
		}
		for line != "" && !open {
			token, _ := v.token(line)
			open = strings.HasPrefix(token, "/*") && (len(token) < 4 || !strings.HasSuffix(token, "*/"))
			line = line[len(token):]
		}
	}
	return inside
}

// withUnixLineEnds converts line ends to "\n", so that the diff does not show them.
func withUnixLineEnds(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}

// shortened cuts long lines. Of a replaced line it keeps the part that differs.
func shortened(lines []string) []string {
	const around = 60
	for i := range lines {
		if len(lines[i]) <= maxDiffLine {
			continue
		}
		next := i + 1
		for next < len(lines) && strings.HasPrefix(lines[next], "\\") {
			next++
		}
		if next < len(lines) && lines[i][0] == '-' && strings.HasPrefix(lines[next], "+") {
			a, b := lines[i][1:], lines[next][1:]
			head, tail := 0, 0
			for head < min(len(a), len(b)) && a[head] == b[head] {
				head++
			}
			for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
				tail++
			}
			head, tail = max(head-around, 0), max(tail-around, 0)
			lines[i], lines[next] = "-"+window(a, head, tail), "+"+window(b, head, tail)
		}
	}
	for i, line := range lines {
		if len(line) > 4*maxDiffLine {
			lines[i] = strings.ToValidUTF8(line[:4*maxDiffLine], "") + redactedMark
		}
	}
	return lines
}

// window returns a line without head bytes at its start and tail bytes at its end.
func window(line string, head, tail int) string {
	cut := strings.ToValidUTF8(line[head:len(line)-tail], "")
	if head > 0 {
		cut = redactedMark + cut
	}
	if tail > 0 {
		cut += redactedMark
	}
	return cut
}

// texts returns the strings of an entry.
func texts(entry []splice.Field) []string {
	var all []string
	for _, f := range entry {
		switch v := f.Value.(type) {
		case string:
			all = append(all, v)
		case []string:
			all = append(all, v...)
		}
	}
	return append(all, EntryName)
}

// showableTexts returns the texts of another writer's entry that are safe to show: its command,
// and words that are not values of secrets.
func showableTexts(command string, args []string) []string {
	word := regexp.MustCompile(`^-{0,2}[a-z]{1,16}(-[a-z]{1,16})*$`)
	shown := []string{EntryName, command, "stdio", "local", "*"}
	for i, a := range args {
		if word.MatchString(a) && (i == 0 || !sanitize.IsSecretName(args[i-1])) {
			shown = append(shown, a)
		}
	}
	return shown
}

// A redactor removes values from lines of configurations.
type redactor struct {
	format splice.Format
	shown  []string
	names  map[string]bool // known keys; in a multi-line string, any text may look like a key
}

// line redacts one line, read on its own: it redacts everything except known keys, punctuation
// and numbers. inside means that the line begins within a comment.
func (v redactor) line(text string, inside bool) string {
	if inside {
		_, rest, closed := strings.Cut(text, "*/")
		if !closed {
			return redactedMark
		}
		return redactedMark + "*/" + v.redactTokens(rest)
	}
	if v.format == splice.YAML {
		return v.yaml(text)
	}
	return v.redactTokens(text)
}

// yaml redacts a line of YAML, where keys and values need no quotation marks.
func (v redactor) yaml(text string) string {
	parts := regexp.MustCompile(`^(\s*(?:- +)*)(?:([A-Za-z_][\w.-]*)(: +|:$))?(.*)$`).FindStringSubmatch(text)
	if parts == nil {
		return redactedMark
	}
	head, key, colon, value := parts[1], parts[2], parts[3], strings.TrimRight(parts[4], " ")
	if key != "" && !v.names[key] {
		return head + redactedMark
	}
	if sanitize.IsSecretName(key) && value != "" {
		return head + key + colon + redactedMark
	}
	switch {
	case value == "", value == "-", value == "---", value == "...", slices.Contains(v.shown, value):
	case strings.ContainsAny(value[:1], `"'[]{}#`) || isPlainValue(value):
		value = v.redactTokens(value)
	default:
		value = redactedMark
	}
	return head + key + colon + value
}

// isPlainValue reports whether an unquoted value is a number or a keyword of the format.
func isPlainValue(word string) bool {
	return regexp.MustCompile(`^(true|false|null|~|[|>][+-]?|-?[0-9]{1,7}(\.[0-9]{1,4})?)$`).MatchString(word)
}

// redactTokens redacts a text in JSON, TOML or YAML token by token. It keeps punctuation, known keys,
// and values that are safe to show.
func (v redactor) redactTokens(text string) string {
	var b strings.Builder
	key := ""
	for text != "" {
		token, kind := v.token(text)
		rest := text[len(token):]
		after := strings.TrimLeft(rest, " \t")
		isKey := strings.HasPrefix(after, ":") || strings.HasPrefix(after, "=")
		switch {
		case kind == 0: // punctuation and white space
			b.WriteString(token)
			if strings.ContainsAny(token, ",{}[]") {
				key = ""
			}
		case kind == '#':
			b.WriteString(token[:min(2, len(token))] + redactedMark)
			if len(token) >= 4 && strings.HasPrefix(token, "/*") && strings.HasSuffix(token, "*/") {
				b.WriteString("*/")
			}
		case isKey || v.header(text, b.String()):
			key = strings.Trim(token, `"'`)
			b.WriteString(v.name(token, key))
		case !sanitize.IsSecretName(key) && (slices.Contains(v.shown, unquote(token)) || kind == 'w' && isPlainValue(token)):
			b.WriteString(token)
		case kind == 'w':
			b.WriteString(redactedMark)
		default:
			b.WriteString(token[:1] + redactedMark + token[:1])
		}
		text = rest
	}
	return b.String()
}

// header reports whether a word is part of the name of a TOML table.
func (v redactor) header(text, before string) bool {
	return v.format == splice.TOML && strings.HasPrefix(strings.TrimSpace(before), "[") &&
		!strings.ContainsAny(before, "]=") && strings.Contains(text, "]")
}

// name returns the token if key is a known key.
func (v redactor) name(token, key string) string {
	for part := range strings.SplitSeq(key, ".") {
		if !v.names[key] && !v.names[strings.Trim(part, `"'`)] {
			return redactedMark
		}
	}
	return token
}

// token returns the first token of a text and its kind: 0 for punctuation, '"' for a quoted text,
// '#' for a comment and 'w' for a word.
func (v redactor) token(text string) (string, byte) {
	comment := "//"
	if v.format != splice.JSON {
		comment = "#"
	}
	if v.format == splice.JSON && strings.HasPrefix(text, "/*") {
		if i := strings.Index(text[2:], "*/"); i >= 0 {
			return text[:i+4], '#'
		}
		return text, '#'
	}
	if strings.HasPrefix(text, comment) {
		return text, '#'
	}
	if c := text[0]; c == '"' || c == '\'' {
		for i := 1; i < len(text); i++ {
			if text[i] == '\\' && c == '"' {
				i++
			} else if text[i] == c {
				return text[:i+1], '"'
			}
		}
		return text, '"'
	}
	const marks = " \t,:={}[]"
	if n := len(text) - len(strings.TrimLeft(text, marks)); n > 0 {
		return text[:n], 0
	}
	if n := strings.IndexAny(text, marks+`"'#`); n > 0 {
		return text[:n], 'w'
	}
	return text, 'w'
}

// unquote returns the contents of a quoted text, with the escapes common to the formats.
func unquote(token string) string {
	if len(token) < 2 || token[0] != '"' {
		return strings.Trim(token, `'`)
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(token[1 : len(token)-1])
}
