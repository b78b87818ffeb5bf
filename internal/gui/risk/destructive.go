package risk

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// DestructiveMarker is the gate that marks an action on a window as destructive. It does so if the element
// or the arguments contain a destructive word, such as a click on "Delete", or if the action is
// irreversible, as some keys are. It admits everything; for a marked action the consent gate asks for
// aai.PermissionDestroy instead of aai.PermissionAct. Labels are only one signal: a button may have any
// label. The zero value marks nothing.
type DestructiveMarker struct {
	words []string // normalized for comparison
}

// NewDestructiveMarker returns the gate for words of any language. Alphabetic words match
// whole words only. Signs and words of scripts without spaces match anywhere.
func NewDestructiveMarker(words []string) DestructiveMarker {
	var d DestructiveMarker
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

// Check implements aai.Gate.
func (d DestructiveMarker) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if !operates(r) || r.Effect() == aai.Reads {
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
	names := r.Assessment().ElementParams
	for _, name := range slices.Sorted(maps.Keys(r.Call.Args)) {
		text, ok := r.Call.Args[name].(string)
		if !ok || names != nil && !slices.Contains(names, name) {
			continue
		}
		if word := d.firstWord(text); word != "" {
			r.Destructive, r.DestructiveReason = true, word
			break
		}
	}
	return nil, nil
}

// ContainsWord reports whether the text contains one of the words.
func (d DestructiveMarker) ContainsWord(text string) bool { return d.firstWord(text) != "" }

// firstWord returns the first of the words that the text contains, or "".
func (d DestructiveMarker) firstWord(text string) string {
	text = readings(aai.CleanLabel(text, 10_000))
	i := slices.IndexFunc(d.words, func(word string) bool { return strings.Contains(text, word) })
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(d.words[i])
}
