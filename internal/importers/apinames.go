package importers

import (
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

const (
	maxName = 60
	maxText = 300
	maxTool = 64
)

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// nameOf converts a text to a name of letters, digits, "_" and "-".
func nameOf(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range text {
		if !isNameRune(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('_')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// toolName returns an unused tool name for the operation: its operationId, or else its method and
// path.
func (m *apiConverter) toolName(op *operation) string {
	name := nameOf(op.OperationID)
	if name == "" {
		name = nameOf(strings.ToLower(op.method) + " " + op.path)
	}
	if c := name[0]; c == '-' || c >= '0' && c <= '9' {
		name = "op_" + name
	}
	if len(name) > maxTool {
		name = name[:maxTool]
	}
	whole := name
	for n := 2; m.names[name]; n++ {
		tail := "_" + strconv.Itoa(n)
		name = whole[:min(len(whole), maxTool-len(tail))] + tail
	}
	m.names[name] = true
	return name
}

// firstWords returns the first paragraph of a Markdown text, cleaned and cut.
func firstWords(text string, most int) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	text, _, _ = strings.Cut(text, "\n\n")
	text = withoutTags(text)
	text = strings.NewReplacer("`", "", "**", "").Replace(text)
	return aai.CleanLabel(strings.Join(strings.Fields(text), " "), most)
}

// withoutTags removes HTML tags from a text.
func withoutTags(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		tag, after, closed := strings.Cut(rest, ">")
		if !closed || tag == "" || tag[0] != '/' && (tag[0]|0x20 < 'a' || tag[0]|0x20 > 'z') {
			b.WriteByte('<')
			text = rest
			continue
		}
		b.WriteByte(' ')
		text = after
	}
}
