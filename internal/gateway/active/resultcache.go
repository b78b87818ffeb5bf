// Package again keeps what a tool that only looks has answered, for a moment: who asks the
// same once more is given it without another look. What anybody acts on makes it forget
// everything, and an answer that was made meanwhile is not kept.
package active

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// maxCachedResults is how many answers are kept at most.
const maxCachedResults = 32

// ResultCache are those that were given a moment ago. The zero Answers are ready to use, by many
// goroutines at once.
type ResultCache struct {
	mu         sync.Mutex
	generation int // how often something has acted
	results    map[string]*aai.Result
}

// CacheTool makes the tool, which must only look and is not in use yet, give an answer again for
// so long after it was made, to the same conversation with the same arguments about the same
// process. With an age of zero it does nothing.
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

// store keeps an answer that was asked for after so many acts.
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

// Invalidate says that something acts or has acted, on whatever.
func (a *ResultCache) Invalidate() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.generation++
	clear(a.results)
}

// resultKey names what is asked for, by whom and about what.
func resultKey(call *aai.Call) (string, bool) {
	args, err := json.Marshal(call.Args)
	if err != nil || call.Target == nil {
		return "", false
	}
	return strings.Join([]string{call.Caller.Conversation(), call.Tool, call.Target.ID, strconv.Itoa(call.Target.PID), string(args)}, "\x00"), true
}
