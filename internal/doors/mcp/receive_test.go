package mcp_test

import (
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// TestFunctionsBeforeDo bounds the door's functions on the stack between the SDK and Gateway.Do, so that
// the steps of a message stay in one place.
func TestFunctionsBeforeDo(t *testing.T) {
	const most = 6
	var stacks string
	w := newWorld(t, withGate(func(*aai.Request) ([]aai.Question, error) {
		all := make([]byte, 1<<20)
		stacks = string(all[:runtime.Stack(all, true)])
		return nil, nil
	}))
	w.dial(t).open("2025-11-25", `{}`).ask("tools/call", exec(addTool, `{}`)).result(t).succeeds(t)
	var own []string
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		if !strings.Contains(stack, ".(*Gateway).Do(") {
			continue
		}
		for line := range strings.Lines(stack) {
			if strings.HasPrefix(line, "github.com/gybob/aai-gateway/internal/doors/mcp") {
				own = append(own, line)
			}
		}
	}
	assert.Assert(t, len(own) != 0, "expected at most %d functions, got %d:\n%s", most, len(own), strings.Join(own, ""))
	assert.Assert(t, len(own) <= most, "expected at most %d functions, got %d:\n%s", most, len(own), strings.Join(own, ""))
}
