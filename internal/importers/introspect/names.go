package introspect

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
)

// split returns the words of a name such as "GetTTLValue" or "new-window", in lower-case ASCII.
// Other characters are dropped.
func split(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = nil
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case r >= 0x80 || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0:
			before, after := runes[i-1], rune('A')
			if i+1 < len(runes) {
				after = runes[i+1]
			}
			if unicode.IsLower(before) || unicode.IsDigit(before) || unicode.IsUpper(before) && unicode.IsLower(after) {
				flush()
			}
		}
		word = append(word, r)
	}
	flush()
	return words
}

// snake converts a name to snake_case.
func snake(name string) string { return strings.Join(split(name), "_") }

// phrase converts a name to readable words: "Get position".
func phrase(name string) string { return sentence(strings.Join(split(name), " ")) }

// maxToolName limits a tool's name.
const maxToolName = 64

// A nameAllocator gives each tool a unique name.
type nameAllocator struct{ taken map[string]bool }

// allocate returns the first name that is not taken. It adapts names that are too long or begin
// with a digit.
func (n *nameAllocator) allocate(wanted ...string) string {
	for _, w := range wanted {
		if w = fitName(w); w != "" && !n.taken[w] {
			n.taken[w] = true
			return w
		}
	}
	base := fitName(wanted[len(wanted)-1])
	if base == "" {
		base = "tool"
	}
	for i := 2; ; i++ {
		suffix := "_" + strconv.Itoa(i)
		w := strings.TrimRight(base[:min(len(base), maxToolName-len(suffix))], "_") + suffix
		if !n.taken[w] {
			n.taken[w] = true
			return w
		}
	}
}

func fitName(name string) string {
	name = strings.Trim(name, "_")
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		name = "n" + name
	}
	return strings.TrimRight(name[:min(len(name), maxToolName)], "_")
}

// maxDescription limits a description for agents.
const maxDescription = 290

// padDescription returns a tool description of sufficient length.
func padDescription(words ...string) string {
	var b strings.Builder
	for _, w := range words {
		w = strings.TrimSpace(w)
		if w == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(sentence(w))
		if !strings.HasSuffix(w, ".") && !strings.HasSuffix(w, "!") && !strings.HasSuffix(w, "?") &&
			!strings.HasSuffix(w, "。") {
			b.WriteByte('.')
		}
	}
	return aai.CleanLabel(b.String(), maxDescription)
}
