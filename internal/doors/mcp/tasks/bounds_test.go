package tasks

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestNumberOfTasks checks that a client's tasks are limited, and that each client has its own limit.
func TestNumberOfTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{Limits: Limits{TTL: time.Minute, Tasks: 3, AllTasks: 5}})
		release := make(chan struct{})
		w.run = func(ctx context.Context, _ *mcp.CallToolRequest) (mcp.Result, error) {
			select {
			case <-release:
				return said("done"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		a, b := w.client(), w.client()
		for range 2 {
			a.begin(core)
		}
		a.begin(extension)
		_, err := a.call(a.ctx, core, "optional", `{}`)
		assert.Check(t, code(err) == jsonrpc.CodeInternalError, "one more gave %v", err)
		assert.Check(t, is.ErrorContains(err, "3 tasks"))
		b.begin(core)
		b.begin(core)
		_, err = b.call(b.ctx, core, "optional", `{}`)
		assert.Check(t, code(err) == jsonrpc.CodeInternalError, "one more of all gave %v", err)
		assert.Check(t, is.ErrorContains(err, "5 tasks"))
		// Where the server decides, the call continues without a task.
		answers := make(chan answer)
		go func() {
			got, err := a.call(a.ctx, extension, "optional", "")
			assert.Check(t, err)
			answers <- got
		}()
		time.Sleep(2 * DefaultSyncTimeout)
		close(release)
		got := <-answers
		assert.Check(t, is.Equal(got.text(), "done"), "the call without a task gave %v", got)
		// A finished task counts until it expires.
		synctest.Wait()
		_, err = a.call(a.ctx, core, "optional", `{}`)
		assert.Check(t, err != nil, "there was room before anything expired")
		time.Sleep(time.Minute)
		synctest.Wait()
		w.holds(0, 0)
		a.begin(core)
		w.layer.End(0)
	})
}

// TestBytesOfResults checks that the memory of results is limited, and is free after they expire.
func TestBytesOfResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{Limits: Limits{TTL: time.Minute, Bytes: 10_000, AllBytes: 18_000}})
		large := strings.Repeat("x", 6000)
		w.run = func(context.Context, *mcp.CallToolRequest) (mcp.Result, error) { return said(large), nil }
		a, b, c := w.client(), w.client(), w.client()
		for i, step := range []struct {
			client *client
			kept   bool
		}{{a, true}, {a, false}, {b, true}, {c, false}} { // more than one owner may have; more than all may have
			id := step.client.begin(core)
			synctest.Wait()
			assert.Check(t, is.Equal(step.client.status(core, id), "completed"), "%d", i)
			text, _ := step.client.outcome(core, id)
			said := strings.Contains(text, "run to its end") && strings.Contains(text, " 61")
			assert.Check(t, is.Equal(step.kept, (text == large)), "%d %.100q", i, text)
			assert.Check(t, step.kept != said, "task %d came to %.100q", i, text)
		}
		s := w.layer.store
		s.mu.Lock()
		if s.bytes > 14_000 { // two results, and two notes instead of others
			t.Errorf("%d bytes are kept", s.bytes)
		}
		s.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		w.holds(0, 0)
	})
}

// TestBytesAreGivenBack checks that an owner can use the memory of expired results again.
func TestBytesAreGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{Limits: Limits{Bytes: 1000}})
		size := 10
		w.run = func(context.Context, *mcp.CallToolRequest) (mcp.Result, error) {
			return said(strings.Repeat("x", size)), nil
		}
		c := w.client()
		c.begin(core) // so that it stays an owner
		synctest.Wait()
		size = 600
		for i := range 3 {
			a, err := c.call(c.ctx, core, "optional", `{"ttl":2000}`)
			assert.NilError(t, err)
			text, _ := c.outcome(core, a.id())
			assert.Check(t, is.Equal(text, strings.Repeat("x", size)), "task %d came to %q", i, text)
			time.Sleep(3 * time.Second)
			synctest.Wait()
		}
		w.layer.End(0)
	})
}

// TestALargeErrorIsStillOne checks that an error stays one when its text is dropped.
func TestALargeErrorIsStillOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{Limits: Limits{Bytes: 1000}})
		w.run = func(context.Context, *mcp.CallToolRequest) (mcp.Result, error) {
			failed := said(strings.Repeat("x", 2000))
			failed.IsError = true
			return failed, nil
		}
		c := w.client()
		id := c.begin(core)
		a, err := c.ask(core, "tasks/result", id)
		assert.NilError(t, err, a)
		assert.Equal(t, a["isError"], true, a)
		assert.Equal(t, c.status(core, id), "failed", a)
		w.layer.End(0)
	})
}

// TestOwners checks that a task exists only for its client.
func TestOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{Owner: func(ctx context.Context, _ *mcp.ServerSession) string {
			user, _ := ctx.Value(userKey{}).(string)
			return user
		}})
		w.run = blockingCall
		c := w.client()
		c.ctx = as("ann")
		ids := map[form]string{core: c.begin(core), extension: c.begin(extension)}
		for name, ctx := range map[string]context.Context{
			"another user": as("bob"), "nobody": context.Background(), "a connection": w.client().ctx,
			"a user named like a connection": as("connection 1"),
		} {
			for form, id := range ids {
				for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/update"} {
					_, err := c.about(ctx, form, method, &params{TaskID: id})
					assert.Check(t, err != nil, "%s: %s gave something", name, method)
				}
			}
			list, err := c.about(ctx, core, "tasks/list", &params{})
			assert.NilError(t, err, "%s %v", name, list)
			assert.Assert(t, is.Len(list["tasks"].([]any), 0), "%s %v", name, list)
		}
		// Nor does it exist in the other form.
		assert.Check(t, is.Equal(c.status(core, ids[extension]), ""))
		assert.Check(t, is.Equal(c.status(extension, ids[core]), ""))
		assert.Check(t, is.Equal(c.status(core, ids[core]), "working"))
		assert.Check(t, is.Equal(c.status(extension, ids[extension]), "working"))
		w.layer.End(time.Second)
		w.holds(0, 0)
	})
}

type userKey struct{}

func as(user string) context.Context {
	return context.WithValue(context.Background(), userKey{}, user)
}

// TestTheEndOfAConnection checks that the end of a connection ends its tasks, and waits for their work.
func TestTheEndOfAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{Limits: Limits{TTL: time.Hour}})
		var ended atomic.Int32
		w.run = func(ctx context.Context, _ *mcp.CallToolRequest) (mcp.Result, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended.Add(1)
			return nil, ctx.Err()
		}
		a, b := w.client(), w.client()
		id := a.begin(core)
		a.begin(extension)
		other := b.begin(core)
		begun := time.Now()
		a.connection.End(time.Minute)
		if ended.Load() != 2 || time.Since(begun) != time.Second {
			t.Errorf("after %s %d calls have ended", time.Since(begun), ended.Load())
		}
		assert.Check(t, is.Equal(a.status(core, id), ""))
		assert.Check(t, is.Equal(b.status(core, other), "working"))
		begun = time.Now()
		b.connection.End(time.Millisecond)
		assert.Check(t, is.Equal(time.Since(begun), time.Millisecond), "the end took %s", time.Since(begun))
		time.Sleep(time.Minute)
		w.holds(0, 0)
	})
}

// TestList checks that the list has every task once, in the order of creation.
func TestList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{Limits: Limits{Tasks: 200}})
		c, other := w.client(), w.client()
		var made, listed []string
		for range 2*pageSize + 1 {
			made = append(made, c.begin(core))
			other.begin(core)
		}
		pages := 0
		for cursor := any(nil); ; pages++ {
			page, err := c.about(c.ctx, core, "tasks/list", &params{Cursor: cursor})
			assert.NilError(t, err)
			for _, task := range page["tasks"].([]any) {
				listed = append(listed, answer(task.(map[string]any)).id())
			}
			if cursor = page["nextCursor"]; cursor == nil {
				break
			}
		}
		assert.Check(t, is.Equal(fmt.Sprint(made), fmt.Sprint(listed)), "%d %d", len(made), len(listed))
		assert.Check(t, is.Equal(pages, 2), "%d %d", len(made), len(listed))
		for _, cursor := range []any{"x", "YWZ0ZXI6", "YWZ0ZXI6LTE", 7.0, true, []any{}, map[string]any{}} {
			_, err := c.about(c.ctx, core, "tasks/list", &params{Cursor: cursor})
			assert.Check(t, code(err) == jsonrpc.CodeInvalidParams, "the cursor %v gave %v", cursor, err)
		}
		w.layer.End(time.Second)
	})
}
