// Package again keeps what a tool that only looks has answered, for a moment: who asks the
// same once more is given it without another look. What anybody acts on makes it forget
// everything, and an answer that was made meanwhile is not kept.
package again

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"aai"
)

// maxKept is how many answers are kept at most.
const maxKept = 32

// Answers are those that were given a moment ago. The zero Answers are ready to use, by many
// goroutines at once.
type Answers struct {
	mu   sync.Mutex
	acts int // how often something has acted
	kept map[string]*aai.Result
}

// Keep makes the tool, which must only look and is not in use yet, give an answer again for
// so long after it was made, to the same conversation with the same arguments about the same
// process. With an age of zero it does nothing.
func (a *Answers) Keep(tool *aai.Tool, age time.Duration) {
	if tool == nil || tool.Run == nil || age <= 0 {
		return
	}
	look := tool.Run
	tool.Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		key, ok := keyOf(call)
		if !ok {
			return look(ctx, call)
		}
		a.mu.Lock()
		known, acts := a.kept[key], a.acts
		a.mu.Unlock()
		if known != nil {
			same := *known
			return &same, nil
		}
		result, err := look(ctx, call)
		if err == nil && result != nil {
			same := *result
			a.keep(key, &same, acts, age)
		}
		return result, err
	}
}

// keep keeps an answer that was asked for after so many acts.
func (a *Answers) keep(key string, result *aai.Result, acts int, age time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.acts != acts || len(a.kept) >= maxKept {
		return
	}
	if a.kept == nil {
		a.kept = make(map[string]*aai.Result)
	}
	a.kept[key] = result
	time.AfterFunc(age, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.kept[key] == result {
			delete(a.kept, key)
		}
	})
}

// Acted says that something acts or has acted, on whatever.
func (a *Answers) Acted() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acts++
	clear(a.kept)
}

// keyOf names what is asked for, by whom and about what.
func keyOf(call *aai.Call) (string, bool) {
	args, err := json.Marshal(call.Args)
	if err != nil || call.Target == nil {
		return "", false
	}
	return strings.Join([]string{call.Caller.Conversation(), call.Tool, call.Target.ID, strconv.Itoa(call.Target.PID), string(args)}, "\x00"), true
}
