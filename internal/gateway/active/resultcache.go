package active

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// maxCachedResults is the maximum number of stored results.
const maxCachedResults = 32

// ResultCache stores recent results of tools that only read, for repeated calls. Any action on
// any target invalidates all of them, and results computed meanwhile are not stored. The zero
// value is ready for concurrent use.
type ResultCache struct {
	mu         sync.Mutex
	generation int // number of invalidations
	results    map[string]*aai.Result
}

// CacheTool makes the tool return a stored result for age after its computation, for the same
// conversation, arguments and process. The tool must only read and must not be in use yet. With
// age zero it does nothing.
func (a *ResultCache) CacheTool(tool *aai.Tool, age time.Duration) {
	if tool == nil || tool.Run == nil || age <= 0 {
		return
	}
	look := tool.Run
	tool.Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		key, ok := resultKey(call)
		if !ok {
			return look(ctx, call)
		}
		a.mu.Lock()
		known, acts := a.results[key], a.generation
		a.mu.Unlock()
		if known != nil {
			same := *known
			gateway.Measure(ctx, "cache_hit", true)
			return &same, nil
		}
		result, err := look(ctx, call)
		if err == nil && result != nil {
			same := *result
			a.store(key, &same, acts, age)
		}
		return result, err
	}
}

// store stores a result that was computed from the generation acts on. It drops the result if
// Invalidate was called since, or if the cache is full.
func (a *ResultCache) store(key string, result *aai.Result, acts int, age time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.generation != acts || len(a.results) >= maxCachedResults {
		return
	}
	if a.results == nil {
		a.results = make(map[string]*aai.Result)
	}
	a.results[key] = result
	time.AfterFunc(age, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.results[key] == result {
			delete(a.results, key)
		}
	})
}

// Invalidate removes all results. Callers call it when an action begins or ends.
func (a *ResultCache) Invalidate() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.generation++
	clear(a.results)
}

// resultKey returns the key of a call: conversation, tool, target and arguments. It reports false
// without a target.
func resultKey(call *aai.Call) (string, bool) {
	args, err := json.Marshal(call.Args)
	if err != nil || call.Target == nil {
		return "", false
	}
	return strings.Join([]string{call.Caller.Conversation(), call.Tool, call.Target.ID, strconv.Itoa(call.Target.PID), string(args)}, "\x00"), true
}
