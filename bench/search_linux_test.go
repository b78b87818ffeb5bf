package bench

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// fewListed is the number of apps with a separate entry each; for more apps the gateway lists only
// its search and the fixed tools.
const fewListed = 10

// listed returns the number of tools that the gateway lists for so many typical apps.
func listed(apps int) int {
	if apps > fewListed {
		return 1 + fixedTools
	}
	return apps + fixedTools
}

// search measures the cost of five hundred apps: the start compared with that of ten, and a search
// for one of their tools, including its journal line.
func (w *world) search(b *testing.B) {
	rounds := roundLimit(b, 40)
	ten, many := newHome(b, 10), newHome(b, 500)
	var few, all samples
	for range rounds {
		few.add(w.started(b, ten, w.gateway, listed(10)))
		all.add(w.started(b, many, w.gateway, listed(500)))
	}
	share := float64(all.median()) / float64(few.median())
	w.table.judge("start to tools/list, 500 descriptors", millis(all.median()), "10 descriptors "+millis(few.median()), fmt.Sprintf("%.2f times", share),
		"≤ 1.2 times", share <= 1.2)
	many.allow(b)
	gateway := open(b, many.env(w.bus.Address), w.gateway, listed(500))
	begun := time.Now()
	gateway.search(b, "save a file")
	first := time.Since(begun)
	var took, door samples
	for i := range roundLimit(b, 400) {
		words := []string{"save a file", "search for items", "export the report", "send somebody a message", "open this", "打开文件", "Datei speichern"}[i%7]
		begun := time.Now()
		gateway.search(b, words)
		took.add(time.Since(begun))
		begun = time.Now()
		gateway.search(b, "qqzzxx") // without a match: the remaining time is the round trip
		door.add(time.Since(begun))
	}
	w.table.add("first aai_search, 500 descriptors", millis(first), "", "")
	w.table.judge("aai_search, 500 descriptors, p50", millis(took.median()), "the door "+millis(door.median())+"; p95 "+millis(took.quantile(0.95)),
		more(took.median()-door.median()), "≤ +2 ms", took.median()-door.median() <= 2*time.Millisecond)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took.median())/1e6, "ms/search")
}

// search searches for tools, and fails if none is found.
func (s *session) search(b *testing.B, words string) {
	b.Helper()
	asked, err := json.Marshal(map[string]any{"name": "aai_search", "arguments": map[string]any{"words": words}})
	assert.NilError(b, err)
	a := s.ask(b, "tools/call", string(asked))
	assert.Assert(b, !a.Result.IsError, "%s %+v", words, a)
}
