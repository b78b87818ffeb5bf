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
			if _, err := fmt.Sscanf(req.Params.RequestState, "round %d", &round); err != nil {
				t.Error(err)
			}
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
	if err != nil {
		c.t.Fatal(err)
	}
	requests, _ := a["inputRequests"].(map[string]any)
	var names []string
	for name, request := range requests {
		if method := request.(map[string]any)["method"]; method != "elicitation/create" {
			c.t.Errorf("the question %s is %v", name, request)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if (a["status"] == "input_required") != (len(names) > 0) {
		c.t.Errorf("the task is %v with the questions %q", a["status"], names)
	}
	return names
}

func (c *client) reply(id, responses string) error {
	c.t.Helper()
	a, err := c.about(c.ctx, extension, "tasks/update", &params{TaskID: id, InputResponses: json.RawMessage(responses)})
	if err == nil && !cmp.Equal(a, answer{"resultType": "complete"}) {
		c.t.Errorf("the acknowledgement is %v", a)
	}
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
		if err := c.reply(id, `{"1.a":{"action":"accept"}}`); err != nil || c.status(extension, id) != "working" {
			t.Errorf("an answer to what was not asked gave %v", err)
		}
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
			if err := c.reply(id, step.responses); (err == nil) != (step.code == 0) || err != nil && code(err) != step.code {
				t.Errorf("step %d gave %v", i, err)
			}
			if open := c.asked(id); !slices.Equal(open, step.open) {
				t.Errorf("after step %d the questions %q are open, expected %q", i, open, step.open)
			}
		}
		if text, _ := c.outcome(extension, id); text != "done" {
			t.Errorf("the task came to %q", text)
		}
		if diff := cmp.Diff([]string{"1aaccept", "1bdecline", "2acancel", "2baccept"}, took); diff != "" {
			t.Error(diff)
		}
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
			if err := c.reply(id, fmt.Sprintf(`{"%d.a":{"action":"accept"},"%d.b":{"action":"accept"}}`, round, round)); err != nil || round > maxRounds {
				t.Fatal(round, err)
			}
		}
		if text, number := c.outcome(extension, id); number != jsonrpc.CodeInternalError {
			t.Errorf("the task came to %q", text)
		}
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
			if len(c.asked(id)) == 0 {
				t.Fatal("nothing is asked")
			}
			if how == "cancelled" {
				if _, err := c.ask(extension, "tasks/cancel", id); err != nil {
					t.Error(err)
				}
			} else {
				time.Sleep(time.Minute)
			}
			synctest.Wait()
			if err := c.reply(id, `{"1.a":{"action":"accept"},"1.b":{"action":"accept"}}`); (err == nil) != (how == "cancelled") {
				t.Errorf("the answers to a task that is gone gave %v", err)
			}
			if got := c.status(extension, id); got != how {
				t.Errorf("the task is %q, expected %q", got, how)
			}
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
			if got := c.status(core, id); got != expected {
				t.Errorf("the task is %q, expected %q", got, expected)
			}
			if expected != "completed" {
				answers <- nil
				synctest.Wait()
			}
		}
		if diff := cmp.Diff([]string{"notifications/progress " + id, "elicitation/create " + id, "elicitation/create " + id}, sent); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"input_required", "working", "completed"}, c.statuses(id)); diff != "" {
			t.Error(diff)
		}
		// Messages outside of tasks contain none.
		sent = nil
		if err := say(c.ctx, "notifications/progress", &mcp.ProgressNotificationParams{}); err != nil || sent[0] != "notifications/progress " {
			t.Error(sent, err)
		}
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
		if diff := cmp.Diff([]string{"notifications/progress", "notifications/tools/list_changed"}, sent); diff != "" {
			t.Error(diff)
		}
		if got := c.status(extension, id); got != "completed" {
			t.Errorf("the task is %q", got)
		}
		w.layer.End(0)
	})
}
