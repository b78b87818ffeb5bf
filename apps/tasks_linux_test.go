package apps

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// task is a user's task for an agent, from its first look at the program to the state that the
// witnesses see in the end.
type task struct {
	name       string
	on         program
	inEveryRun bool     // every run has it
	also       []string // other operated programs
	calls      []call
	// fault returns the difference from the expected state, or "".
	fault func(*stage) string
}

// call is one of the agent's calls. An argument of the form "/regexp/" becomes its first group, or
// its match, in the previous answer, such as a ref. In others $FOLDER is the folder of the
// documents.
type call struct {
	tool string
	args params
	// aim returns arguments that an agent would take from a picture, by the witness.
	aim func(*stage) params
	// until repeats the call while it fails or its answer lacks this text.
	until string
}

// taskCost is the text that an agent writes and reads for a task.
type taskCost struct {
	name, toolkit      string
	calls, wrote, read int // characters
	pictures           int
	wrong              string
	last               string // answer
}

// does makes the calls in order, and returns their cost and the fault.
func (s *stage) does(k task) *taskCost {
	s.Helper()
	b := &taskCost{name: k.name, toolkit: k.on.toolkit}
	for _, c := range k.calls {
		if b.wrong = s.doesOne(b, c); b.wrong != "" {
			return b
		}
	}
	for end := time.Now().Add(patience); ; time.Sleep(pollInterval) {
		if b.wrong = k.fault(s); b.wrong == "" || time.Now().After(end) {
			return b
		}
	}
}

// doesOne makes a call, and returns the reason of a failure.
func (s *stage) doesOne(b *taskCost, c call) string {
	s.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(pollInterval) {
		meant, missing := s.substitute(c.args, b.last)
		if missing != "" {
			return fmt.Sprintf("%s %v: the answer before has no %s: %.1500s", c.tool, c.args, missing, b.last)
		}
		args := meant.(params)
		if c.aim != nil {
			maps.Copy(args, c.aim(s))
		}
		failed := s.callAndCount(b, c.tool, args)
		switch {
		case failed && strings.HasPrefix(b.last, "TIMEOUT") && strings.Contains(b.last, "it was delivered"):
			return "" // the next call shows the effect
		case failed && strings.HasPrefix(b.last, "TIMEOUT") && strings.Contains(b.last, "nothing was done") && time.Now().Before(end):
		case !failed && strings.Contains(b.last, c.until):
			return ""
		case c.until == "" || time.Now().After(end):
			return fmt.Sprintf("%s %v: %.1500s", c.tool, args, b.last)
		}
	}
}

// substitute replaces "/regexp/" with its match in the answer, and $FOLDER with the folder of the
// documents; missing is an expression without a match.
func (s *stage) substitute(value any, answer string) (meant any, missing string) {
	switch value := value.(type) {
	case string:
		if len(value) > 1 && value[0] == '/' && value[len(value)-1] == '/' {
			found := regexp.MustCompile(value[1 : len(value)-1]).FindStringSubmatch(answer)
			if found == nil {
				return nil, value
			}
			return found[len(found)-1], ""
		}
		return strings.ReplaceAll(value, "$FOLDER", s.folder), ""
	case params:
		of := make(params)
		for name, v := range value {
			if of[name], missing = s.substitute(v, answer); missing != "" {
				return nil, missing
			}
		}
		return of, ""
	case []params:
		var of []any
		for _, v := range value {
			t, missing := s.substitute(v, answer)
			if missing != "" {
				return nil, missing
			}
			of = append(of, t)
		}
		return of, ""
	}
	return value, ""
}

// callAndCount makes a call, and counts its cost.
func (s *stage) callAndCount(b *taskCost, tool string, args params) (failed bool) {
	s.Helper()
	if _, other := args["app"]; !other && tool != "ax_clipboard" {
		args["app"] = cmp.Or(s.program.grant, s.program.name)
	}
	written, err := json.Marshal(args)
	assert.NilError(s, err)
	result, err := s.agent.CallTool(s.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	assert.NilError(s, err, "%s %s", tool, written)
	b.last = ""
	for _, c := range result.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			b.last += c.Text
		case *mcp.ImageContent:
			b.pictures++
		}
	}
	b.calls, b.wrote, b.read = b.calls+1, b.wrote+utf8.RuneCountInString(tool)+utf8.RuneCount(written), b.read+utf8.RuneCountInString(b.last)
	if os.Getenv("AAI_APPS_SAY") != "" {
		s.Logf("%s: %s %s\n%s", b.name, tool, written, b.last)
	}
	return result.IsError
}

// TestTasks runs an agent's tasks, by the tools alone, and prints the cost of each.
func TestTasks(t *testing.T) {
	gateway, all, only := build(t), os.Getenv("AAI_APPS") == "all", os.Getenv("AAI_APPS_ONLY")
	var mu sync.Mutex
	var bills []*taskCost
	t.Run("of", func(t *testing.T) {
		for _, k := range tasks() {
			if only != "" && only != k.name && only != k.on.name || !all && !k.inEveryRun {
				continue
			}
			t.Run(k.name, func(t *testing.T) {
				if all {
					t.Parallel()
				}
				s := open(t, k.on, gateway, k.also...)
				b := s.does(k)
				mu.Lock()
				bills = append(bills, b)
				mu.Unlock()
				assert.Check(t, is.Equal(b.wrong, ""))
			})
		}
	})
	total(t, bills)
}

// total prints the costs; a token is about four characters.
func total(t *testing.T, bills []*taskCost) {
	t.Helper()
	slices.SortFunc(bills, func(a, b *taskCost) int {
		return cmp.Or(cmp.Compare(a.toolkit, b.toolkit), cmp.Compare(a.name, b.name))
	})
	const row = "%-44s %-12s %-5s %5v %6v %6v %7v %9v\n"
	var out strings.Builder
	fmt.Fprintf(&out, row, "task", "toolkit", "done", "calls", "wrote", "read", "tokens", "pictures")
	for _, b := range bills {
		done := "yes"
		if b.wrong != "" {
			done = "no"
		}
		fmt.Fprintf(&out, row, b.name, b.toolkit, done, b.calls, b.wrote/4, b.read/4, (b.wrote+b.read)/4, b.pictures)
	}
	fmt.Print(out.String())
	assert.Check(t, len(bills) != 0, "no task was done")
}
