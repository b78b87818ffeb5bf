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

// redactedMark stands for what a person's configuration says that is none of ours: a key of an
// API may be anywhere.
const redactedMark = "…"

// maxDiffLine is how much of a line is shown, in bytes.
const maxDiffLine = 240

// diffOf is what a plan changes, as a unified diff. Of others' lines keys and marks are
// shown, and no value but those texts.
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
	names := splice.AllNames(p.old, spot)
	maps.Copy(names, splice.AllNames(p.next, spot))
	v := redactor{format: spot.Format, shown: shown, names: names}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	inOld, inNew := insideComments(p.old, spot.Format), insideComments(p.next, spot.Format)
	before, after := 0, 0 // the lines of both texts that come next
	for i, line := range lines {
		if n, _ := fmt.Sscanf(line, "@@ -%d", &before); n > 0 {
			_, now, _ := strings.Cut(line, "+")
			_, _ = fmt.Sscanf(now, "%d", &after) // the diff wrote it
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

// withEntry is a diff in which the entry that comes in is to be seen, even if the lines
// that have it hide it.
func withEntry(diff string, entry []splice.Field) string {
	var fields []string
	seen := map[string]bool{EntryName: false}
	for _, f := range entry {
		value := splice.Quote(f.Value)
		fields = append(fields, splice.Quote(f.Name)+": "+value)
		if f.Name == "command" || f.Name == "cmd" {
			seen[value] = false
		}
	}
	for line := range strings.Lines(diff) {
		for text := range seen {
			seen[text] = seen[text] || strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++ ") && strings.Contains(line, text)
		}
	}
	for _, found := range seen {
		if !found {
			return diff + "+" + redactedMark + " " + splice.Quote(EntryName) + ": {" + strings.Join(fields, ", ") + "} " + redactedMark + "\n"
		}
	}
	return diff
}

// insideComments are the lines, from 1, that begin within a comment of several lines.
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

// withUnixLineEnds is a text with the line ends of Unix, which a diff does not show.
func withUnixLineEnds(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}

// shortened are the lines with what is too long cut: of a line that takes the place of
// another, where they differ stays.
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

// window is a line without so many bytes at its ends.
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

// texts are those of an entry.
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

// showableTexts are those texts of an entry that may be shown though others wrote it: its
// command, and words that are no values of secrets.
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

// A veil takes the values out of lines of configurations.
type redactor struct {
	format splice.Format
	shown  []string
	names  map[string]bool // what is a key; in a text of several lines anything may look like one
}

// line is one line without the values in it. It is read as it stands: what cannot be told
// to be a key, a mark or a number is veiled. It may begin inside a comment.
func (v redactor) line(text string, inside bool) string {
	if inside {
		_, rest, closed := strings.Cut(text, "*/")
		if !closed {
			return redactedMark
		}
		return redactedMark + "*/" + v.marks(rest)
	}
	if v.format == splice.YAML {
		return v.yaml(text)
	}
	return v.marks(text)
}

// yaml is a line of YAML, whose keys and values need no quotation marks.
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
		value = v.marks(value)
	default:
		value = redactedMark
	}
	return head + key + colon + value
}

// isPlainValue reports whether a value without quotation marks is a number or a word of the
// format.
func isPlainValue(word string) bool {
	return regexp.MustCompile(`^(true|false|null|~|[|>][+-]?|-?[0-9]{1,7}(\.[0-9]{1,4})?)$`).MatchString(word)
}

// marks is a text of JSON, TOML or YAML between brackets.
func (v redactor) marks(text string) string {
	var b strings.Builder
	key := ""
	for text != "" {
		token, kind := v.token(text)
		rest := text[len(token):]
		after := strings.TrimLeft(rest, " \t")
		isKey := strings.HasPrefix(after, ":") || strings.HasPrefix(after, "=")
		switch {
		case kind == 0: // marks and white space
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

// header reports whether a word is part of the name of a table of TOML.
func (v redactor) header(text, before string) bool {
	return v.format == splice.TOML && strings.HasPrefix(strings.TrimSpace(before), "[") && !strings.ContainsAny(before, "]=") && strings.Contains(text, "]")
}

// name is a key, which is shown if it is one.
func (v redactor) name(token, key string) string {
	for part := range strings.SplitSeq(key, ".") {
		if !v.names[key] && !v.names[strings.Trim(part, `"'`)] {
			return redactedMark
		}
	}
	return token
}

// token is what a text begins with, and its kind: 0 for marks, '"' for what is quoted, '#'
// for a comment and 'w' for a word.
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

// unquote is what a quoted text says, as far as the formats agree.
func unquote(token string) string {
	if len(token) < 2 || token[0] != '"' {
		return strings.Trim(token, `'`)
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(token[1 : len(token)-1])
}
