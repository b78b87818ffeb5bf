package doctor

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestTool checks that a call reports each finding in order, and returns all of them.
func TestTool(t *testing.T) {
	var told []string
	open := func() *Doctor {
		return New(Config{
			Now: time.Now, DataDir: t.TempDir(), Executable: "/none", Settings: "/none", Getenv: func(string) string { return "" },
			OnFinding: func(f Finding, _ []string) { told = append(told, f.Check) },
		})
	}
	var mu sync.Mutex
	var heard []string
	ctx := gateway.WithProgress(t.Context(), func(done, total float64, message string) {
		mu.Lock()
		defer mu.Unlock()
		assert.Check(t, is.Equal(total, float64(len(Checks()))), message)
		assert.Check(t, is.Equal(done, float64(len(heard))), message)
		heard = append(heard, message)
	})
	var skip []any
	for _, name := range Checks() {
		if name != "clock" && name != "settings" {
			skip = append(skip, name)
		}
	}
	result, err := Tool(open).Run(ctx, &aai.Call{Args: map[string]any{"skip": skip}})
	assert.NilError(t, err)
	b, err := json.Marshal(result.Data)
	var got struct {
		State  string
		Checks []struct{ Check, State, Saw string }
	}
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	assert.NilError(t, err, "%s %v", b, told)
	assert.Assert(t, is.Len(got.Checks, len(Checks())), "%s %v", b, told)
	assert.Assert(t, slices.Equal(told, Checks()), "%v %s, told %v, heard %v", err, b, told, heard)
	assert.Assert(t, is.Len(heard, 1+len(Checks())), "%s %v", b, told)
	for i, c := range got.Checks {
		if c.Check != Checks()[i] || (c.State == "skipped") != slices.Contains(skip, any(c.Check)) || !strings.HasPrefix(heard[i+1], c.State+": ") {
			t.Errorf("%+v: %s", c, heard[i+1])
		}
	}
	_, err = Tool(open).Run(t.Context(), &aai.Call{Args: map[string]any{"skip": []any{"clok"}}})
	assert.Check(t, is.Equal(aai.AsError(err).Code, aai.InvalidParams), err)
	assert.Check(t, is.Contains(aai.AsError(err).Candidates, "clock"), err)
}

// TestSystemIsNamedWhereItIsNotTried checks that only a system that was not tried as a whole has a row.
func TestSystemIsNamedWhereItIsNotTried(t *testing.T) {
	assert.Check(t, is.Len(New(Config{}).systemExaminations(), 0))
	rows := New(Config{Tried: "It never ran here."}).systemExaminations()
	assert.Assert(t, is.Len(rows, 1))
	f := examine(t.Context(), rows[0])
	assert.Check(t, is.Equal(f.Saw, "It never ran here."))
}
