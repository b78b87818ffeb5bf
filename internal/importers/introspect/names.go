package introspect

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
)

// split takes a name such as "GetTTLValue" or "new-window" apart into its words, in small
// letters of ASCII. What is of another script is left out.
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

// snake is a name as those of tools are written.
func snake(name string) string { return strings.Join(split(name), "_") }

// phrase is a name as people read it: "Get position".
func phrase(name string) string { return sentence(strings.Join(split(name), " ")) }

// maxToolName is the longest name of a tool.
const maxToolName = 64

// A naming gives each tool a name of its own.
type nameAllocator struct{ taken map[string]bool }

// allocate is the first of the names that nobody has. One that is too long, or begins with a
// digit, is made to fit.
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

// maxDescription is how much of a description is shown to agents.
const maxDescription = 290

// padDescription is a description of a tool that is long enough to say something.
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
		if !strings.HasSuffix(w, ".") && !strings.HasSuffix(w, "!") && !strings.HasSuffix(w, "?") && !strings.HasSuffix(w, "。") {
			b.WriteByte('.')
		}
	}
	return aai.CleanLabel(b.String(), maxDescription)
}
