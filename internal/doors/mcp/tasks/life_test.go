package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// forms returns the forms of tasks.
func forms() map[string]form { return map[string]form{"core": core, "extension": extension} }

// TestExpiry checks that a task exists for its lifetime, and leaves nothing behind.
func TestExpiry(t *testing.T) {
	for name, form := range forms() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Config{Limits: Limits{TTL: time.Minute}})
				c := w.client()
				var ended atomic.Int32
				w.run = func(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
					defer ended.Add(1)
					return blockingCall(ctx, req)
				}
				made := time.Now()
				id := c.begin(form)
				time.Sleep(time.Minute - time.Since(made) - time.Millisecond)
				synctest.Wait()
				if got := c.status(form, id); got != "working" || ended.Load() != 0 {
					t.Errorf("before its time the task is %q, and %d calls have ended", got, ended.Load())
				}
				time.Sleep(DefaultSyncTimeout + time.Millisecond)
				synctest.Wait()
				if got := c.status(form, id); got != "" || ended.Load() != 1 {
					t.Errorf("after its time the task is %q, and %d calls have ended", got, ended.Load())
				}
				w.holds(0, 0)
			})
		})
	}
}

// TestTimeToLive checks that a requested lifetime is clamped.
func TestTimeToLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{Limits: Limits{TTL: time.Minute, MaxTTL: time.Hour}})
		c := w.client()
		for wanted, expected := range map[string]float64{
			`{}`: 60_000, `{"ttl":null}`: 60_000, `{"ttl":5000}`: 5000, `{"ttl":5000.7}`: 5000, `{"ttl":0}`: 1000, `{"ttl":1}`: 1000,
			`{"ttl":3600001}`: 3_600_000, `{"ttl":1e300}`: 3_600_000, `{"ttl":3e3,"more":true}`: 3000,
		} {
			a, err := c.call(c.ctx, core, "optional", wanted)
			task, _ := a["task"].(map[string]any)
			assert.NilError(t, err, "%s %v", wanted, a)
			assert.Equal(t, task["ttl"], expected, "%s %v", wanted, a)
		}
		for _, wanted := range []string{`null`, `7`, `"x"`, `[]`, `{"ttl":-1}`, `{"ttl":"5"}`, `{"ttl":true}`, `{"ttl":1e400}`} {
			a, err := c.call(c.ctx, core, "optional", wanted)
			assert.Check(t, code(err) == jsonrpc.CodeInvalidParams, "%s gave %v, %v", wanted, a, err)
		}
		time.Sleep(2 * time.Hour)
		w.holds(0, 0)
	})
}

// TestEndings checks the final status of each outcome in each form.
func TestEndings(t *testing.T) {
	refused := said("refused: nobody allowed it\nand more")
	refused.IsError = true
	wire := &jsonrpc.Error{Code: -32000, Message: "no", Data: json.RawMessage(`{"a":1}`)}
	for name, c := range map[string]struct {
		run             func(context.Context, *mcp.CallToolRequest) (mcp.Result, error)
		core, extension string
		text            string // in the result, or the error
		code            int64  // of the error, if there is one
	}{
		"a result":            {returning(said("done"), nil), "completed", "completed", "done", 0},
		"an error result":     {returning(refused, nil), "failed", "completed", "refused", 0},
		"an error":            {returning(nil, wire), "failed", "failed", "no", -32000},
		"an error, wrapped":   {returning(nil, fmt.Errorf("calling: %w", wire)), "failed", "failed", "no", -32000},
		"a plain error":       {returning(nil, errors.New("odd")), "failed", "failed", "odd", -32603},
		"a panic":             {func(context.Context, *mcp.CallToolRequest) (mcp.Result, error) { panic("secret") }, "failed", "failed", "the gateway failed", -32603},
		"no JSON":             {returning(&mcp.CallToolResult{StructuredContent: func() {}}, nil), "failed", "failed", "cannot be written", -32603},
		"a value that panics": {returning(&mcp.CallToolResult{StructuredContent: explosive{}}, nil), "failed", "failed", "the gateway failed", -32603},
		"nothing":             {returning(nil, nil), "failed", "failed", "without a result", -32603},
	} {
		for form, expected := range map[form]string{core: c.core, extension: c.extension} {
			t.Run(fmt.Sprintf("%s, form %d", name, form), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, Config{})
					w.run = func(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
						time.Sleep(2 * DefaultSyncTimeout)
						return c.run(ctx, req)
					}
					client := w.client()
					id := client.begin(form)
					time.Sleep(3 * DefaultSyncTimeout)
					synctest.Wait()
					assert.Check(t, is.Equal(client.status(form, id), expected))
					text, code := client.outcome(form, id)
					assert.Assert(t, is.Contains(text, c.text))
					assert.Equal(t, code, c.code)
					assert.Assert(t, !strings.Contains(text, "secret"), "it came to %q, code %d", text, code)
					client.layer.End(0)
				})
			})
		}
	}
}

func returning(result *mcp.CallToolResult, err error) func(context.Context, *mcp.CallToolRequest) (mcp.Result, error) {
	return func(context.Context, *mcp.CallToolRequest) (mcp.Result, error) {
		if result == nil {
			return nil, err
		}
		return result, err
	}
}

// An explosive value panics when it is encoded.
type explosive struct{}

func (explosive) MarshalJSON() ([]byte, error) { panic("secret") }

// outcome returns the text of an ended task's result, or its error.
func (c *client) outcome(form form, id string) (text string, errorCode int64) {
	c.t.Helper()
	if form == core {
		a, err := c.ask(core, "tasks/result", id)
		if err != nil {
			return err.Error(), code(err)
		}
		meta, _ := a["_meta"].(map[string]any)
		assert.Check(c.t, a.text() == "" || cmp.Diff(map[string]any{"taskId": id}, meta[relatedTask]) == "", "the result does not say of what task it is: %v", a)
		return a.text(), 0
	}
	a, err := c.ask(extension, "tasks/get", id)
	assert.NilError(c.t, err)
	if failure, ok := a["error"].(map[string]any); ok {
		number, _ := failure["code"].(float64)
		return fmt.Sprint(failure["message"]), int64(number)
	}
	result, _ := a["result"].(map[string]any)
	meta, ok := result["_meta"]
	assert.Check(c.t, !ok, "the extension wants no mark in the result, but it has %v", meta)
	return answer(result).text(), 0
}

// TestCancel checks that the work cannot change a final status.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{})
		w.run = func(ctx context.Context, _ *mcp.CallToolRequest) (mcp.Result, error) {
			<-ctx.Done()
			time.Sleep(cancelWait / 2)
			return said("it was done already"), nil
		}
		c := w.client()
		older, newer := c.begin(core), c.begin(extension)
		a, err := c.ask(core, "tasks/cancel", older)
		assert.NilError(t, err, a)
		assert.Equal(t, a["status"], "cancelled", a)
		assert.Equal(t, a.id(), older, a)
		a, err = c.ask(extension, "tasks/cancel", newer)
		assert.NilError(t, err, a)
		assert.Assert(t, cmp.Equal(a, answer{"resultType": "complete"}), "cancelling gave %v, %v", a, err)
		// The result says how far the cancelled work has come.
		text, _ := c.outcome(core, older)
		assert.Check(t, is.Equal(text, "it was done already"), "the cancelled task came to %q", text)
		synctest.Wait()
		got := c.status(core, older) + c.status(extension, newer)
		assert.Check(t, is.Equal(got, "cancelledcancelled"), "the tasks are %q", got)
		_, err = c.ask(core, "tasks/cancel", older)
		assert.Check(t, code(err) == jsonrpc.CodeInvalidParams, "cancelling again gave %v", err)
		_, err = c.ask(extension, "tasks/cancel", newer)
		assert.Check(t, err, "cancelling again gave %v", err)
		told := c.statuses(older)
		assert.Check(t, slices.Equal(told, []string{"cancelled"}), "the client was told %q", told)
		w.layer.End(0)
	})
}

// TestCancelledWorkThatGoesOn checks that nothing waits for work that does not stop.
func TestCancelledWorkThatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{})
		w.run = func(context.Context, *mcp.CallToolRequest) (mcp.Result, error) {
			time.Sleep(time.Hour)
			return said("late"), nil
		}
		c := w.client()
		id := c.begin(core)
		_, err := c.ask(core, "tasks/cancel", id)
		assert.NilError(t, err)
		begun := time.Now()
		text, _ := c.outcome(core, id)
		assert.Assert(t, is.Contains(text, "may have run in part"))
		assert.Equal(t, time.Since(begun), cancelWait)
		c.connection.End(0)
		time.Sleep(2 * time.Hour)
		w.holds(0, 0)
	})
}

// TestResultWaits checks that tasks/result waits for the end, and that a client may stop waiting.
func TestResultWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{Limits: Limits{TTL: time.Hour}})
		release := make(chan struct{})
		w.run = func(ctx context.Context, _ *mcp.CallToolRequest) (mcp.Result, error) {
			select {
			case <-release:
				return said("done"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		c := w.client()
		id := c.begin(core)
		results := make(chan string, 3)
		wait := func(ctx context.Context, id string) {
			a, err := c.about(ctx, core, "tasks/result", &params{TaskID: id})
			results <- fmt.Sprint(a.text(), err)
		}
		impatient, leave := context.WithCancel(c.ctx)
		go wait(c.ctx, id)
		go wait(c.ctx, id)
		go wait(impatient, id)
		synctest.Wait()
		assert.Assert(t, len(results) <= 0, "somebody has a result of a call that runs")
		leave()
		got := <-results
		assert.Check(t, is.Equal(got, context.Canceled.Error()), "who left got %q", got)
		close(release)
		for range 2 {
			got := <-results
			assert.Check(t, is.Equal(got, "done<nil>"), "who waited got %q", got)
		}
		w.run = func(context.Context, *mcp.CallToolRequest) (mcp.Result, error) {
			time.Sleep(2 * time.Hour)
			return said("late"), nil
		}
		id = c.begin(core)
		begun := time.Now()
		go wait(c.ctx, id)
		if got := <-results; !strings.Contains(got, "there is no task") || time.Since(begun) != time.Hour { // it expires
			t.Errorf("who waited got %q after %s", got, time.Since(begun))
		}
		time.Sleep(2 * time.Hour)
		w.layer.End(0)
	})
}
