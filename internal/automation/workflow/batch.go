package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// BatchToolName is the name of the builtin tool that makes several calls at once.
const BatchToolName = "batch"

const (
	// admitChunk is the number of calls admitted at a time: the maximum for one question to the
	// user.
	admitChunk = 32
	// maxRefusedTogether is the number of refusals in a chunk before each call is admitted separately.
	maxRefusedTogether = 4
	// maxConcurrentCalls is the number of concurrent calls of a batch. The queues of apps and the
	// caller's limits may allow fewer.
	maxConcurrentCalls = 16
	// maxRateLimitWait is the longest wait of a rate-limited call per try.
	maxRateLimitWait = time.Minute
	// maxBatchResults limits the results in a batch's answer, in bytes as JSON and text. Calls that have
	// not begun when the results reach it are not made.
	maxBatchResults = 4 << 20
)

const batchParams = `{"type": "object", "additionalProperties": false, "required": ["calls"], "properties": {
	"calls": {"type": "array", "minItems": 1, "maxItems": 100, "items": {"type": "object", "additionalProperties": false, "required": ["app", "tool"], "properties": {
		"app": {"type": "string"}, "tool": {"type": "string"}, "args": {"type": "object"}}}}}}`

func (c Config) batch() *aai.Tool {
	return &aai.Tool{
		Name: BatchToolName, Title: "Make several calls", Description: "Make up to 100 independent calls side by side. The answer has each result or error, in order.",
		Params: schema.MustParse(batchParams), Effect: aai.Destroys, Assess: aai.Always(aai.Assessment{EffectInherent: true, OnlyMakesCalls: true}), Limits: aai.Limits{Timeout: lifetime},
		Privacy: aai.Privacy{Secret: hiddenArgs(), Result: true},
		Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			reshow(ctx)
			return c.runBatch(ctx, call)
		},
	}
}

// callOutcome is the outcome of one call of a batch.
type callOutcome struct {
	OK      bool            `json:"ok"`
	Result  json.RawMessage `json:"result,omitempty"`
	Text    string          `json:"text,omitempty"`
	Warning string          `json:"warning,omitempty"`
	Foreign string          `json:"source,omitempty"` // untrusted source of the result
	Error   *callFault      `json:"error,omitempty"`
}

// callFault is the error of a call in a batch's result.
type callFault struct {
	Code     aai.Code     `json:"code"`
	Message  string       `json:"message"`
	Hint     string       `json:"hint,omitempty"`
	Delivery aai.Delivery `json:"delivery,omitempty"`
}

// runBatch makes the calls. It combines the questions to the user. A refused call fails alone.
func (c Config) runBatch(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	list, _ := call.Args["calls"].([]any)
	b := &batch{gateway: c.Gateway(), calls: make([]*aai.Call, len(list)), ended: make([]callOutcome, len(list)), runs: make([]func(context.Context) (*aai.Result, error), len(list))}
	for i := range list {
		one, _ := list[i].(map[string]any)
		app, _ := one["app"].(string)
		tool, _ := one["tool"].(string)
		args, _ := one["args"].(map[string]any)
		b.calls[i] = &aai.Call{Caller: call.Caller, App: app, Tool: tool, Args: args, Answers: call.Answers}
	}
	for first := 0; first < len(list); first += admitChunk {
		admission, err := b.admit(ctx, first, min(first+admitChunk, len(list)))
		if err != nil {
			return nil, err
		}
		defer admission.Release()
	}
	b.run(ctx)
	return b.answer()
}

// batch is a running batch.
type batch struct {
	gateway *gateway.Gateway
	calls   []*aai.Call
	runs    []func(context.Context) (*aai.Result, error) // of the admitted calls
	ended   []callOutcome

	mu     sync.Mutex // guards the fields below
	done   int
	bytes  int  // of the results in ended
	isFull bool // no further call is made
}

// admit admits the calls that pass. A refused call fails, and the others are admitted without it.
// After maxRefusedTogether refusals, each call is admitted when it runs. A refusal by the user, or
// a question that the door must ask, ends the batch before any call runs.
func (b *batch) admit(ctx context.Context, first, end int) (*gateway.Admission, error) {
	for refused := 0; ; refused++ {
		var left []*aai.Call
		place := map[string]int{}
		for i := first; i < end; i++ {
			if b.ended[i].Error == nil {
				b.calls[i].ID = aai.NewCallID()
				place[b.calls[i].ID] = i
				left = append(left, b.calls[i])
			}
		}
		if refused == maxRefusedTogether {
			return &gateway.Admission{}, nil
		}
		admission, err := b.gateway.Admit(ctx, left...)
		if err == nil {
			for at, call := range left {
				b.runs[place[call.ID]] = func(ctx context.Context) (*aai.Result, error) { return admission.Repeat(ctx, at, nil) }
			}
			return admission, nil
		}
		e := aai.AsError(err)
		i, named := place[e.Call]
		if !named || len(e.Questions) > 0 {
			return nil, err
		}
		b.ended[i] = failed(e)
	}
}

// run makes the calls, up to maxConcurrentCalls at a time, and waits for them.
func (b *batch) run(ctx context.Context) {
	var wait sync.WaitGroup
	slots := make(chan struct{}, maxConcurrentCalls)
	for i, call := range b.calls {
		if b.ended[i].Error != nil {
			continue
		}
		if b.runs[i] == nil {
			call.ID = ""
			b.runs[i] = func(ctx context.Context) (*aai.Result, error) { return b.gateway.Do(ctx, call) }
		}
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			b.ended[i] = b.one(ctx, b.runs[i])
		})
	}
	wait.Wait()
}

// one makes a call, and waits if the caller's rate limit refuses it.
func (b *batch) one(ctx context.Context, run func(context.Context) (*aai.Result, error)) callOutcome {
	if b.full() {
		return failed(notMade())
	}
	result, err := aai.RetryRateLimited(ctx, maxRateLimitWait, run)
	b.mu.Lock()
	b.done++
	gateway.Progress(ctx, float64(b.done), float64(len(b.calls)), fmt.Sprintf("%d of %s", b.done, aai.Count(len(b.calls), "call")))
	b.mu.Unlock()
	if err != nil {
		return failed(aai.AsError(err))
	}
	o := callOutcome{OK: true, Warning: result.Warning, Foreign: result.UntrustedSource}
	if data, err := json.Marshal(result.Data); err == nil && string(data) != "null" {
		o.Result = data
	}
	if o.Result == nil || !result.DataComplete {
		o.Text = result.Text
	}
	if !b.keep(ctx, len(o.Result)+len(o.Text)) {
		o.Result, o.Text = nil, fmt.Sprintf("done, but its result is omitted: the results of a batch are limited to %d MiB", maxBatchResults>>20)
	}
	return o
}

// full reports whether no further call is made.
func (b *batch) full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isFull
}

// keep counts a result of so many bytes, and reports whether the answer may hold it: within
// maxBatchResults, and within the memory that the gateway has for results.
func (b *batch) keep(ctx context.Context, bytes int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isFull || b.bytes+bytes > maxBatchResults || gateway.ReserveResult(ctx, bytes, 0) != nil {
		b.isFull = true
		return false
	}
	b.bytes += bytes
	return true
}

// notMade returns the error of a call of a full batch.
func notMade() *aai.Error {
	e := aai.Errorf(aai.RateLimited, "not made: the results of a batch are limited to %d MiB, and the calls before reached that", maxBatchResults>>20)
	e.Hint, e.Delivery = "Make the call in a batch of its own.", aai.NotDelivered
	return e
}

// plainText returns a JSON value as text: strings without quotation marks.
func plainText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

func failed(e *aai.Error) callOutcome {
	return callOutcome{Error: &callFault{Code: e.Code, Message: e.Message, Hint: e.Hint, Delivery: e.Delivery}}
}

// answer returns the result of the batch, or an error if every call failed.
func (b *batch) answer() (*aai.Result, error) {
	ok, delivery := 0, aai.NotDelivered
	var lines, foreign []string
	for i, o := range b.ended {
		what := fmt.Sprintf("%d %s %s: ", i+1, aai.CleanLabel(b.calls[i].App, maxStepName), aai.CleanLabel(b.calls[i].Tool, maxStepName))
		if o.Error != nil {
			lines = append(lines, what+string(o.Error.Code)+": "+o.Error.Message)
			if e := (&aai.Error{Delivery: o.Error.Delivery}); !e.RetrySafe() {
				delivery = o.Error.Delivery
			}
			continue
		}
		ok++
		lines = append(lines, what+cmp.Or(o.Text, plainText(o.Result)))
		if o.Foreign != "" && !slices.Contains(foreign, o.Foreign) {
			foreign = append(foreign, o.Foreign)
		}
	}
	head := fmt.Sprintf("%d of %s done", ok, aai.Count(len(b.calls), "call"))
	if ok < len(b.calls) {
		head += fmt.Sprintf(", %d failed", len(b.calls)-ok)
	}
	text := head + "\n" + strings.Join(lines, "\n")
	if ok == 0 {
		return nil, &aai.Error{Code: b.ended[0].Error.Code, Message: text, Hint: b.ended[0].Error.Hint, Delivery: delivery}
	}
	return &aai.Result{
		Text: text, DataComplete: true, UntrustedSource: strings.Join(foreign, ", "),
		Data: map[string]any{"done": ok, "failed": len(b.calls) - ok, "results": b.ended},
	}, nil
}
