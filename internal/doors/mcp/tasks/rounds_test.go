package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func elicitation(message string) *mcp.ElicitParams { return &mcp.ElicitParams{Message: message} }

// rounds returns a call of the extension's form that asks two questions in each of n rounds, and passes
// the answers to took.
func rounds(t *testing.T, n int, took func(round int, answers mcp.InputResponseMap)) func(context.Context, *mcp.CallToolRequest) (mcp.Result, error) {
	return func(_ context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
		round := 0
		if req.Params.RequestState == "" {
			time.Sleep(2 * DefaultSyncTimeout)
		} else {
			_, err := fmt.Sscanf(req.Params.RequestState, "round %d", &round)
			assert.Check(t, err)
			took(round, req.Params.InputResponses)
		}
		if round == n {
			return said("done"), nil
		}
		return &mcp.CallToolResult{
			RequestState:  fmt.Sprintf("round %d", round+1),
			InputRequests: mcp.InputRequestMap{"a": elicitation("A?"), "b": elicitation("B?")},
		}, nil
	}
}

// asked returns the names of a task's open questions.
func (c *client) asked(id string) []string {
	c.t.Helper()
	synctest.Wait()
	a, err := c.ask(extension, "tasks/get", id)
	assert.NilError(c.t, err)
	requests, _ := a["inputRequests"].(map[string]any)
	var names []string
	for name, request := range requests {
		assert.Check(c.t, is.Equal(request.(map[string]any)["method"], "elicitation/create"), "%s %v", name, request)
		names = append(names, name)
	}
	slices.Sort(names)
	assert.Check(c.t, is.Equal((a["status"] == "input_required"), (len(names) > 0)), "the task is %v with the questions %q", a["status"], names)
	return names
}

func (c *client) reply(id, responses string) error {
	c.t.Helper()
	a, err := c.about(c.ctx, extension, "tasks/update", &params{TaskID: id, InputResponses: json.RawMessage(responses)})
	assert.Check(c.t, err != nil || cmp.Equal(a, answer{"resultType": "complete"}), "the acknowledgement is %v", a)
	return err
}

// TestRounds checks that the questions of a task are answered one by one, with new names in each round.
func TestRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{})
		var took []string
		w.run = rounds(t, 2, func(round int, answers mcp.InputResponseMap) {
			for _, name := range []string{"a", "b"} {
				result, ok := answers[name].(*mcp.ElicitResult)
				if !ok || len(answers) != 2 {
					t.Errorf("round %d was answered by %v", round, answers)
					continue
				}
				took = append(took, fmt.Sprint(round, name, result.Action))
			}
		})
		c := w.client()
		id := c.begin(extension)
		err := c.reply(id, `{"1.a":{"action":"accept"}}`)
		assert.NilError(t, err)
		assert.Equal(t, c.status(extension, id), "working")
		time.Sleep(3 * DefaultSyncTimeout)
		for i, step := range []struct {
			responses string
			open      []string
			code      int64
		}{
			{`{}`, []string{"1.a", "1.b"}, 0},
			{`{"1.b":{"action":"decline"}}`, []string{"1.a"}, 0},
			{`{"1.b":{"action":"accept"}}`, []string{"1.a"}, 0}, // it is answered already
			{`{"1.a":7}`, []string{"1.a"}, jsonrpc.CodeInvalidParams},
			{`{"1.a":{"odd":1}}`, []string{"1.a"}, jsonrpc.CodeInvalidParams},
			{`7`, []string{"1.a"}, jsonrpc.CodeInvalidParams},
			{`{"a":{"action":"accept"},"2.a":{"action":"accept"},"x":7}`, []string{"1.a"}, 0},
			{`{"1.a":{"action":"accept"}}`, []string{"2.a", "2.b"}, 0},
			{`{"1.a":{"action":"accept"},"1.b":{"action":"accept"}}`, []string{"2.a", "2.b"}, 0},
			{`{"2.a":{"action":"cancel"},"2.b":{"action":"accept","content":{"x":1}}}`, nil, 0},
		} {
			err := c.reply(id, step.responses)
			assert.Check(t, is.Equal((err == nil), (step.code == 0)), "%d %v", i, err)
			assert.Check(t, err == nil || code(err) == step.code, "step %d gave %v", i, err)
			open := c.asked(id)
			assert.Check(t, slices.Equal(open, step.open), "after step %d the questions %q are open, expected %q", i, open, step.open)
		}
		text, _ := c.outcome(extension, id)
		assert.Check(t, is.Equal(text, "done"), "the task came to %q", text)
		assert.Check(t, is.DeepEqual([]string{"1aaccept", "1bdecline", "2acancel", "2baccept"}, took))
		w.layer.End(0)
	})
}

// TestTooManyRounds checks that a call cannot ask forever.
func TestTooManyRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{})
		w.run = rounds(t, 1000, func(int, mcp.InputResponseMap) {})
		c := w.client()
		id := c.begin(extension)
		time.Sleep(3 * DefaultSyncTimeout)
		for round := 1; ; round++ {
			if c.asked(id) == nil {
				break
			}
			err := c.reply(id, fmt.Sprintf(`{"%d.a":{"action":"accept"},"%d.b":{"action":"accept"}}`, round, round))
			assert.NilError(t, err, round)
			assert.Assert(t, round <= maxRounds, round)
		}
		text, number := c.outcome(extension, id)
		assert.Check(t, number == jsonrpc.CodeInternalError, "the task came to %q", text)
		w.layer.End(0)
	})
}

// TestTheEndOfATaskThatAsks checks that a task that waits for an answer can be cancelled, and expires.
func TestTheEndOfATaskThatAsks(t *testing.T) {
	for _, how := range []string{"cancelled", ""} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Config{Limits: Limits{TTL: time.Minute}})
			w.run = rounds(t, 1, func(int, mcp.InputResponseMap) { t.Error("the call went on") })
			c := w.client()
			id := c.begin(extension)
			time.Sleep(3 * DefaultSyncTimeout)
			assert.Assert(t, len(c.asked(id)) != 0, "nothing is asked")
			if how == "cancelled" {
				_, err := c.ask(extension, "tasks/cancel", id)
				assert.Check(t, err)
			} else {
				time.Sleep(time.Minute)
			}
			synctest.Wait()
			err := c.reply(id, `{"1.a":{"action":"accept"},"1.b":{"action":"accept"}}`)
			assert.Check(t, is.Equal((err == nil), (how == "cancelled")), "the answers to a task that is gone gave %v", err)
			assert.Check(t, is.Equal(c.status(extension, id), how))
			w.layer.End(0)
		})
	}
}

// TestQuestionsOfTheCore checks that requests in the core's form go to the client itself with the id of
// the task; the task needs input until every request has its answer.
func TestQuestionsOfTheCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{})
		answers := make(chan error)
		var mu sync.Mutex
		var sent []string
		send := w.layer.Send(func(_ context.Context, method string, req mcp.Request) (mcp.Result, error) {
			related, _ := req.GetParams().GetMeta()[relatedTask].(map[string]string)
			mu.Lock()
			sent = append(sent, method+" "+related["taskId"])
			mu.Unlock()
			if method == "elicitation/create" {
				return &mcp.ElicitResult{}, <-answers
			}
			return nil, nil
		})
		session := new(mcp.ServerSession)
		say := func(ctx context.Context, method string, p mcp.Params) error {
			_, err := send(ctx, method, &mcp.ServerRequest[mcp.Params]{Session: session, Params: p})
			return err
		}
		w.run = func(ctx context.Context, _ *mcp.CallToolRequest) (mcp.Result, error) {
			if err := say(ctx, "notifications/progress", &mcp.ProgressNotificationParams{}); err != nil {
				return nil, err
			}
			both := make(chan error, 2)
			for range 2 {
				go func() { both <- say(ctx, "elicitation/create", elicitation("?")) }()
			}
			return said("done"), errors.Join(<-both, <-both)
		}
		c := w.client()
		id := c.begin(core)
		synctest.Wait()
		for _, expected := range []string{"input_required", "input_required", "completed"} {
			assert.Check(t, is.Equal(c.status(core, id), expected))
			if expected != "completed" {
				answers <- nil
				synctest.Wait()
			}
		}
		assert.Check(t, is.DeepEqual([]string{"notifications/progress " + id, "elicitation/create " + id, "elicitation/create " + id}, sent))
		assert.Check(t, is.DeepEqual([]string{"input_required", "working", "completed"}, c.statuses(id)))
		// Messages outside of tasks contain none.
		sent = nil
		err := say(c.ctx, "notifications/progress", &mcp.ProgressNotificationParams{})
		assert.NilError(t, err, sent)
		assert.Equal(t, sent[0], "notifications/progress ", sent)
		w.layer.End(0)
	})
}

// TestProgressOfTheExtension: the extension has no progress of tasks, but a call that is not a task yet has.
func TestProgressOfTheExtension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{})
		var sent []string
		send := w.layer.Send(func(_ context.Context, method string, _ mcp.Request) (mcp.Result, error) {
			sent = append(sent, method)
			return nil, nil
		})
		w.run = func(ctx context.Context, _ *mcp.CallToolRequest) (mcp.Result, error) {
			for _, method := range []string{"notifications/progress", "notifications/message", "notifications/tools/list_changed"} {
				if _, err := send(ctx, method, &mcp.ServerRequest[mcp.Params]{Params: &mcp.ProgressNotificationParams{}}); err != nil {
					return nil, err
				}
				time.Sleep(2 * DefaultSyncTimeout)
			}
			return said("done"), nil
		}
		c := w.client()
		id := c.begin(extension)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Check(t, is.DeepEqual([]string{"notifications/progress", "notifications/tools/list_changed"}, sent))
		assert.Check(t, is.Equal(c.status(extension, id), "completed"))
		w.layer.End(0)
	})
}
