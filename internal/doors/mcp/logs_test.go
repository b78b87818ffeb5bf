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
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// A logLine is a message of a log.
type logLine struct {
	Level, Logger string
	Data          map[string]any
}

// logOf returns the messages of a log among the notifications, in short form.
func logOf(t *testing.T, news []message) []string {
	t.Helper()
	var lines []string
	for _, m := range news {
		if m.Method != "notifications/message" {
			t.Errorf("unexpected news: %s %s", m.Method, m.Params)
			continue
		}
		var line logLine
		assert.NilError(t, json.Unmarshal(m.Params, &line))
		_, timed := line.Data["duration_ms"].(float64)
		assert.Check(t, is.Equal(timed, strings.Contains(line.Logger, ".tools")), "%+v: only calls take time", line)
		delete(line.Data, "duration_ms")
		b, err := json.Marshal(line.Data)
		assert.NilError(t, err)
		lines = append(lines, line.Level+" "+line.Logger+" "+string(b))
	}
	return lines
}

// logged makes a call and returns the log messages before its answer.
func (c *wire) logged(params string) []string {
	c.t.Helper()
	news, _ := c.until(c.request("tools/call", params))
	return logOf(c.t, news)
}

func expectLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	assert.Check(t, is.Equal(strings.Join(got, "\n"), strings.Join(want, "\n")), what)
}

const audited = `notice aai.audit {"app":"org.example.Notes","effect":"changes","ok":true,"tool":"add"}`

func TestLogs(t *testing.T) {
	c := newWorld(t).dial(t).open("2025-11-25", `{}`)
	secret := exec(addTool, `{"text":"hunter2"}`)
	expectLines(t, "nobody asked", c.logged(secret))
	level := func(l string) { c.get("logging/setLevel", fmt.Sprintf(`{"level":%q}`, l), &struct{}{}) }
	level("debug")
	expectLines(t, "debug", c.logged(secret), `info aai.tools.add {"app":"org.example.Notes","ok":true,"tool":"add"}`, audited)
	expectLines(t, "reading", c.logged(exec(sayTool, `{}`)), `info aai.tools.say {"app":"org.example.Notes","ok":true,"tool":"say"}`)
	expectLines(t, "a failure that did not get there", c.logged(exec(notRunningTool, `{}`)),
		`error aai.tools.sync {"app":"org.example.Notes","code":"APP_NOT_RUNNING","ok":false,"tool":"sync"}`)
	expectLines(t, "a failure that perhaps did", c.logged(exec(unknownOutcomeTool, `{}`)),
		`error aai.tools.send {"app":"org.example.Notes","code":"TIMEOUT","ok":false,"tool":"send"}`,
		`notice aai.audit {"app":"org.example.Notes","code":"TIMEOUT","delivery":"unknown","effect":"destroys","ok":false,"tool":"send"}`)
	expectLines(t, "a fault of our own", c.logged(exec(panicTool, `{}`)),
		`critical aai.tools.crash {"app":"org.example.Notes","code":"INTERNAL","ok":false,"tool":"crash"}`,
		`notice aai.audit {"app":"org.example.Notes","code":"INTERNAL","delivery":"unknown","effect":"changes","ok":false,"tool":"crash"}`)
	expectLines(t, "no tool at all", c.logged(`{"name":"aai_exec","arguments":{"app":"x\u001b[31m","tool":"y\nz"}}`),
		`error aai.tools {"app":"x[31m","code":"APP_NOT_FOUND","ok":false,"tool":"y z"}`)
	level("notice")
	expectLines(t, "notice", c.logged(secret), audited)
	level("emergency")
	expectLines(t, "emergency", c.logged(exec(panicTool, `{}`)))
	c.refused(-32602, "debug", "logging/setLevel", `{"level":"loud"}`)
	c.refused(-32602, "debug", "logging/setLevel", `{}`)
}

// TestLogsOfRefusals checks that a refusal by policy is an alert, and a needed decision is not.
func TestLogsOfRefusals(t *testing.T) {
	refuse := func(*aai.Request) ([]aai.Question, error) { return nil, aai.Errorf(aai.PermissionDenied, "no") }
	for _, try := range []struct {
		gate func(*aai.Request) ([]aai.Question, error)
		want string
	}{
		{refuse, `alert aai.tools.add {"app":"org.example.Notes","code":"PERMISSION_DENIED","ok":false,"tool":"add"}`},
		{asks, `notice aai.tools.add {"app":"org.example.Notes","code":"CONSENT_REQUIRED","ok":false,"tool":"add"}`},
	} {
		c := newWorld(t, withGate(try.gate)).dial(t).open("2025-11-25", `{}`)
		c.get("logging/setLevel", `{"level":"debug"}`, &struct{}{})
		expectLines(t, "refused", c.logged(exec(addTool, `{}`)), try.want)
	}
}

// TestLogsOfTheNewerEra checks that each request of a stateless version asks for logs by itself.
func TestLogsOfTheNewerEra(t *testing.T) {
	c := newWorld(t).dial(t)
	call := modern(exec(addTool, `{}`), "", `{}`)
	expectLines(t, "nobody asked", c.logged(call))
	for level, want := range map[string][]string{
		"notice": {audited}, "info": {`info aai.tools.add {"app":"org.example.Notes","ok":true,"tool":"add"}`, audited}, "error": nil,
	} {
		asked := strings.Replace(call, `"_meta":{`, fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/logLevel":%q,`, level), 1)
		expectLines(t, level, c.logged(asked), want...)
	}
	expectLines(t, "nobody asks any more", c.logged(call))
}

// TestLogsAreBounded checks that the log of a client with endless calls is limited, and that it
// contains the number of suppressed messages.
func TestLogsAreBounded(t *testing.T) {
	w := newWorld(t)
	c := w.dial(t).open("2025-11-25", `{}`)
	c.get("logging/setLevel", `{"level":"info"}`, &struct{}{})
	const calls = 1000
	messages := 0
	for range calls {
		news, _ := c.until(c.request("tools/call", exec(sayTool, `{}`)))
		messages += len(news)
	}
	assert.Check(t, messages >= 100, "%d messages of %d calls", messages, calls)
	assert.Check(t, messages <= calls/2, "%d messages of %d calls", messages, calls)
	for withheld := false; !withheld; {
		news, _ := c.until(c.request("tools/call", exec(sayTool, `{}`)))
		withheld = len(news) > 0 && strings.Contains(string(news[0].Params), `"withheld":`)
	}
}

// TestLogsOverHTTPAreOfTheirSession checks that one client's level does not affect another.
func TestLogsOverHTTPAreOfTheirSession(t *testing.T) {
	s := newWorld(t).serve(t)
	a, b := s.as("").open(t), s.as("").open(t)
	m := a.ask(t, "logging/setLevel", `{"level":"debug"}`)
	assert.Assert(t, m.Error == nil, "%+v", m.Error)
	for _, try := range []struct {
		c    *caller
		want int
	}{{a, 2}, {b, 0}} {
		_, events := try.c.post(t, "tools/call", exec(addTool, `{}`))
		got := 0
		for {
			m, _, err := events.message()
			if err != nil || m.Result != nil {
				break
			}
			if m.Method == "notifications/message" {
				got++
			}
		}
		assert.Check(t, is.Equal(got, try.want))
	}
}

// TestLogsOfWindows checks that the log of a call on a window contains the program, the query and the
// strategy, and no other arguments.
func TestLogsOfWindows(t *testing.T) {
	w := newWorld(t)
	find := tool("ax_find", aai.Reads, func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		if call.Args["query"] == "Nothing" {
			return nil, aai.Errorf(aai.ElementNotFound, "there is no such thing")
		}
		return &aai.Result{Data: map[string]any{"found": true, "strategy": "exact", "value": "hunter2"}}, nil
	})
	find.Target = "app"
	w.catalog.apps = append(w.catalog.apps, &aai.App{
		ID: aai.DesktopApp, Name: "Desktop", Tools: []*aai.Tool{find},
		Operator: fakeoperator.Operator{Find: func(context.Context, *aai.Call, string) (*aai.App, error) {
			return &aai.App{ID: "desktop/safari", PID: 7}, nil
		}},
	})
	c := w.dial(t).open("2025-11-25", `{}`)
	c.get("logging/setLevel", `{"level":"debug"}`, &struct{}{})
	run := func(args string) string {
		return `{"name":"aai_exec","arguments":{"app":"desktop","tool":"ax_find","args":` + args + `}}`
	}
	expectLines(t, "found", c.logged(run(`{"app":"Safari","query":"URL bar","text":"hunter2"}`)),
		`info axterminator.tools.find {"app":"Safari","found":true,"ok":true,"query":"URL bar","strategy":"exact","tool":"ax_find"}`)
	expectLines(t, "as a text", c.logged(run(`"{\"app\":\"Safari\",\"query\":\"URL\"}"`)),
		`info axterminator.tools.find {"app":"Safari","found":true,"ok":true,"query":"URL","strategy":"exact","tool":"ax_find"}`)
	expectLines(t, "not found", c.logged(run(`{"app":"Safari","query":"Nothing"}`)),
		`error axterminator.tools.find {"app":"Safari","code":"ELEMENT_NOT_FOUND","found":false,"ok":false,"query":"Nothing","tool":"ax_find"}`)
	expectLines(t, "no query", c.logged(run(`{"app":"Safari"}`)), `info axterminator.tools.find {"app":"Safari","ok":true,"tool":"ax_find"}`)
}
