package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// slowly is an app with a tool that reports its progress.
func slowly(run aai.Action) *aai.App {
	return &aai.App{ID: "org.example.Slow", Name: "Slow", Tools: []*aai.Tool{tool("work", aai.Reads, run)}}
}

func work(meta string) string {
	return `{"name":"aai_exec","arguments":{"app":"org.example.Slow","tool":"work"}` + meta + `}`
}

func TestProgress(t *testing.T) {
	var late func()
	c := newWorld(t, adding(slowly(func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		late = func() { gateway.Progress(ctx, 9, 9, "late") }
		for _, done := range []float64{1, 1, 0.5, 2, 12, 3} {
			gateway.Progress(ctx, done, 9, fmt.Sprintf("Step %v\x1b", done))
		}
		return &aai.Result{Text: "done"}, nil
	}))).dial(t).open("2025-11-25", `{}`)
	for _, token := range []string{`"p-42"`, `7`} {
		news, answer := c.until(c.request("tools/call", work(`,"_meta":{"progressToken":`+token+`}`)))
		answer.result(t).succeeds(t)
		var got []string
		for _, m := range news {
			got = append(got, m.Method+" "+string(m.Params))
		}
		expectLines(t, token, got,
			`notifications/progress {"progressToken":`+token+`,"message":"Step 1","progress":1,"total":9}`,
			`notifications/progress {"progressToken":`+token+`,"message":"Step 2","progress":2,"total":9}`,
			`notifications/progress {"progressToken":`+token+`,"message":"Step 3","progress":3,"total":9}`)
		late()
	}
	news, _ := c.until(c.request("tools/call", work(``)))
	assert.Check(t, is.Len(news, 0), "without a token came %+v", news)
	late()
	rest, err := c.hangUp()
	assert.Assert(t, is.Len(rest, 0))
	assert.NilError(t, err)
}

// TestProgressOfAToolThatIsSilent checks that a silent tool also has progress, in seconds of its timeout.
func TestProgressOfAToolThatIsSilent(t *testing.T) {
	w := newWorld(t)
	c := w.dial(t).open("2025-11-25", `{}`)
	id := c.request("tools/call", strings.TrimSuffix(exec(blockTool, `{}`), "}")+`,"_meta":{"progressToken":1}}`)
	last := 0.0
	for range 2 {
		m := c.receive()
		var p struct {
			Progress, Total float64
			Message         string
		}
		err := json.Unmarshal(m.Params, &p)
		assert.NilError(t, err, m.Params)
		assert.Equal(t, m.Method, "notifications/progress", m.Params)
		assert.Assert(t, !(p.Progress <= last), m.Params)
		assert.Assert(t, p.Total == 30, m.Params)
		assert.Equal(t, p.Message, "Waiting for Notes", m.Params)
		last = p.Progress
	}
	close(w.release)
	_, answer := c.until(id)
	answer.result(t).succeeds(t)
}
