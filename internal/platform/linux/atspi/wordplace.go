package atspi

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// In Gecko words are not objects, so the words beside a field have no frame of their own: they are part of the
// text of a container that is often as wide as the page. The labels by place are therefore the runs of words
// between the objects of a text, with the frames that the app reports for them.

// maxRuns is the maximum number of runs of words that are queried for one container.
const maxRuns = 100

// A run is a stretch of words in a text, by its offsets in characters.
type run struct {
	words      string
	first, end int
}

// runsOf returns the runs of words of a text: the lines between its embedded objects.
func runsOf(text string) (runs []run) {
	at := 0
	for _, part := range strings.FieldsFunc(strings.NewReplacer(object, "\x00"+object+"\x00", "\n", "\x00\n\x00").Replace(text), func(r rune) bool { return r == 0 }) {
		first := at
		at += len([]rune(part))
		if words := strings.TrimSpace(part); words != "" && part != object {
			skipped := len([]rune(part)) - len([]rune(strings.TrimLeft(part, " \t\u00a0")))
			runs = append(runs, run{words, first + skipped, first + skipped + len([]rune(words))})
		}
	}
	return runs
}

// gatherWordsPatience is the time limit for Gecko to collect the frames of words, see [program.gathers].
const gatherWordsPatience = time.Second

// placeWords queries the frames of the words near fields that may have their labels by place.
func (p *program) placeWords(ctx context.Context, t *tree) error {
	if !p.profile().wordsInContainer {
		return nil
	}
	for until := time.Now().Add(gatherWordsPatience); ; {
		runs, err := p.queryRuns(ctx, t)
		if err != nil || len(runs) == 0 || p.gatheredWords.Load() {
			return err
		}
		if slices.ContainsFunc(runs, func(n *node) bool { return !n.frame.Empty() }) || time.Now().After(until) {
			p.gatheredWords.Store(true)
			return nil
		}
		if err := aai.Sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

// queryRuns sets the runs of words near fields, and returns them.
func (p *program) queryRuns(ctx context.Context, t *tree) (runs []*node, err error) {
	var fields []*node
	t.root.walk(func(n *node) bool {
		n.runs = nil
		if n.parent != nil && n.shown && plainRole(n.role).IsInteractive() && n.inPage() && t.wantsPlace(n, p.profile()) {
			fields = append(fields, n)
		}
		return true
	})
	r := &batch{}
	near := make(map[*node]bool)
	for _, field := range fields {
		up := field.parent
		for range maxAround {
			if near[up] || up.parent == nil || up.parent.parent == nil {
				break
			}
			near[up] = true
			runs = append(runs, p.askRuns(r, up)...)
			if up.isDocument() {
				break
			}
			up = up.parent
		}
	}
	return runs, p.run(ctx, r)
}

// askRuns queries the frames of the runs of words in a container, outside of controls and other documents.
func (p *program) askRuns(r *batch, container *node) (runs []*node) {
	var look func(n *node)
	look = func(n *node) {
		if n.runs == nil && n.shown && len(runs) < maxRuns {
			n.runs = []*node{}
			for _, words := range runsOf(firstOf(n.text, n.name)) {
				label := &node{role: roleStatic, name: words.words, shown: true, states: n.states, details: details{detailed: true}}
				n.runs = append(n.runs, label)
				runs = append(runs, label)
				r.add(numbers(textInterface, "GetRangeExtents", "iiu", "iiii", int32(words.first), int32(words.end), 0), n.ref, func(d *wire.Decoder) {
					frame := desktop.Rect{X: int(d.I32()), Y: int(d.I32()), W: int(d.I32()), H: int(d.I32())}
					if d.Err() == nil {
						label.frame = sane(frame)
					}
				})
				r.add(numbers(textInterface, "GetCharacterExtents", "iu", "iiii", int32(words.first), 0), n.ref, func(d *wire.Decoder) {
					if _, _, _, high := d.I32(), d.I32(), d.I32(), d.I32(); d.Err() == nil && label.frame.H >= 2*int(high) {
						label.frame = desktop.Rect{} // of several lines, it covers what stands between them
					}
				})
			}
		}
		for _, child := range n.children {
			if !child.isDocument() && !child.isWhole() && child.shown {
				look(child)
			}
		}
	}
	look(container)
	return runs
}
