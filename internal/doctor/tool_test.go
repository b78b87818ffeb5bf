package doctor

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
		if total != float64(len(Checks())) || done != float64(len(heard)) {
			t.Errorf("%v of %v: %s", done, total, message)
		}
		heard = append(heard, message)
	})
	var skip []any
	for _, name := range Checks() {
		if name != "clock" && name != "settings" {
			skip = append(skip, name)
		}
	}
	result, err := Tool(open).Run(ctx, &aai.Call{Args: map[string]any{"skip": skip}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(result.Data)
	var got struct {
		State  string
		Checks []struct{ Check, State, Saw string }
	}
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil || len(got.Checks) != len(Checks()) || !slices.Equal(told, Checks()) || len(heard) != 1+len(Checks()) {
		t.Fatalf("%v %s, told %v, heard %v", err, b, told, heard)
	}
	for i, c := range got.Checks {
		if c.Check != Checks()[i] || (c.State == "skipped") != slices.Contains(skip, any(c.Check)) || !strings.HasPrefix(heard[i+1], c.State+": ") {
			t.Errorf("%+v: %s", c, heard[i+1])
		}
	}
	if _, err := Tool(open).Run(t.Context(), &aai.Call{Args: map[string]any{"skip": []any{"clok"}}}); aai.AsError(err).Code != aai.InvalidParams || !slices.Contains(aai.AsError(err).Candidates, "clock") {
		t.Error(err)
	}
}
