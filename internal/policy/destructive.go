package policy

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// DestructiveGate is the gate that takes an act on a window for one that cannot be undone
// where the element or the call speaks of that, such as a click on "Delete", or where it
// closes or deletes whatever it hits, as some keys do. It admits everything; consent then
// asks for aai.PermissionDestroy instead of aai.PermissionAct. It is one signal among
// others: a button may be called anything. The zero value takes nothing for it.
type DestructiveGate struct {
	words []string // as they are compared
}

// NewDestructiveGate returns the gate for words of any language. A word is found where it
// stands by itself, one of a script that has no spaces between words, and a sign, wherever
// it stands.
func NewDestructiveGate(words []string) DestructiveGate {
	var d DestructiveGate
	for _, word := range words {
		switch plain := normalizeText(word); {
		case plain == "":
		case alphabetic(plain):
			d.words = append(d.words, " "+plain+" ")
		default:
			d.words = append(d.words, plain)
		}
	}
	return d
}

// CheckPassphrase implements aai.Gate.
func (d DestructiveGate) CheckPassphrase(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if !r.App.OperatesOthers() || r.Effect() == aai.Reads || onlyMakesCalls(r.App, r.Tool) {
		return nil, nil
	}
	hit := r.ResolveTarget(ctx)
	if len(d.words) == 0 {
		return nil, nil
	}
	if hit.Irreversible {
		r.Destructive, r.DestructiveReason = true, hit.Key
		return nil, nil
	}
	if word := d.firstWord(hit.AllText); word != "" {
		r.Destructive, r.DestructiveReason = true, word
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.Call.Args)) {
		text, ok := r.Call.Args[name].(string)
		if !ok || r.Tool.ElementParams != nil && !slices.Contains(r.Tool.ElementParams, name) {
			continue
		}
		if word := d.firstWord(text); word != "" {
			r.Destructive, r.DestructiveReason = true, word
			break
		}
	}
	return nil, nil
}

// ContainsWord reports whether one of the words is in the text.
func (d DestructiveGate) ContainsWord(text string) bool { return d.firstWord(text) != "" }

// firstWord is the first of the words that is in the text, or "".
func (d DestructiveGate) firstWord(text string) string {
	text = readings(aai.CleanLabel(text, 10_000))
	i := slices.IndexFunc(d.words, func(word string) bool { return strings.Contains(text, word) })
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(d.words[i])
}
