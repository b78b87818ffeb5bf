package mcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestLinesThatAreNoRequest checks that invalid lines get one error, without an id, and have no other effect.
func TestLinesThatAreNoRequest(t *testing.T) {
	const parse, invalid = -32700, -32600
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for name, c := range map[string]struct {
		line string
		code int
	}{
		"not JSON":           {`Hello!`, parse},
		"half a message":     {`{"jsonrpc":"2.0","id":1,"method":"pi`, parse},
		"two on one line":    {`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, parse},
		"not UTF-8":          {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\xff\"}", parse},
		"NUL":                {"\x00", parse},
		"byte order mark":    {"\ufeff{}", parse},
		"deep nesting":       {`{"jsonrpc":"2.0","method":"ping","params":` + deep + `}`, invalid},
		"id with a fraction": {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, invalid},
		"id too long":        {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, invalid},
		"id is infinite":     {`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, invalid},
		"a string":           {`"ping"`, invalid},
		"null":               {`null`, invalid},
		"empty object":       {`{}`, invalid},
		"id is an object":    {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, invalid},
		"id is true":         {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, invalid},
		"empty batch":        {`[]`, invalid},
		"long batch":         {pings(101), invalid},
		"batch of numbers":   {`[1,2,3]`, invalid},
		"batch with no id":   {`[{"jsonrpc":"2.0","method":"ping"},{}]`, invalid},
		"batch with an id twice": {
			`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, invalid},
		"20 MB line":    {`{"jsonrpc":"2.0","method":"ping","params":"` + strings.Repeat("x", 20<<20) + `"}`, invalid},
		"20 MB of junk": {strings.Repeat("\xff\x00", 10<<20), invalid},
	} {
		t.Run(name, func(t *testing.T) {
			c0 := newWorld(t).dial(t).open("2025-03-26", `{}`)
			c0.send(c.line)
			m := c0.receive()
			assert.Equal(t, string(m.ID), "null", "%+v %+v", m, m.Error)
			assert.Assert(t, m.Error != nil, "%+v %+v", m, m.Error)
			assert.Equal(t, m.Error.Code, c.code, "%+v %+v", m, m.Error)
			assert.Assert(t, m.Error.Message != "", "%+v %+v", m, m.Error)
			c0.lives()
			c0.ends()
		})
	}
}

// pings returns a batch of n requests.
func pings(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// TestTheLongestBatch checks that a batch of 100 messages is answered.
func TestTheLongestBatch(t *testing.T) {
	c := newWorld(t).dial(t).open("2025-03-26", `{}`)
	c.send(pings(100))
	var answers []message
	err := json.Unmarshal([]byte(c.line()), &answers)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(answers, 100))
}

// TestWhatCannotBeUnderstoodHasItsID checks that invalid requests are answered under their id if it is
// certain: their client waits for it.
func TestWhatCannotBeUnderstoodHasItsID(t *testing.T) {
	for name, c := range map[string]struct{ line, id string }{
		"older version":       {`{"jsonrpc":"1.0","id":7,"method":"ping"}`, `7`},
		"no version":          {`{"id":"seven","method":"ping"}`, `"seven"`},
		"method is a number":  {`{"jsonrpc":"2.0","id":"x","method":1}`, `"x"`},
		"parameters too long": {`{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"` + strings.Repeat("x", 2<<20) + `"}}`, `9`},
		"arguments twice": {`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"aai_exec","arguments":{},"arguments":{"x":"` +
			strings.Repeat("x", 2<<10) + `"}}}`, `9`},
		"nested too deep":     {`{"jsonrpc":"2.0","id":9,"method":"ping","params":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, `9`},
		"nested far too deep": {`{"jsonrpc":"2.0","id":9,"method":"ping","params":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, `9`},
		"20 MB":               {`{"jsonrpc":"2.0","id":9,"method":"ping","params":"` + strings.Repeat("x", 20<<20) + `"}`, `9`},
		"20 MB, id last":      {`{"jsonrpc":"2.0","method":"ping","params":"` + strings.Repeat("x", 20<<20) + `","id":"nine"}`, `"nine"`},
		"two ids":             {`{"jsonrpc":"1.0","id":7,"id":8,"method":"ping"}`, `null`},
		"id is no number":     {`{"jsonrpc":"1.0","id":7.5,"method":"ping"}`, `null`},
		"id is an object":     {`{"jsonrpc":"1.0","id":{},"method":"ping"}`, `null`},
		"id is too large":     {`{"jsonrpc":"1.0","id":1e300,"method":"ping"}`, `null`},
		"cut off":             {`{"jsonrpc":"2.0","id":7,"method":"ping"`, `null`},
		"somebody's id":       {`{"jsonrpc":"1.0","id":2,"method":"ping"}`, `null`},
		"more behind it":      {`{"jsonrpc":"1.0","id":7,"method":"ping"} {}`, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			client := w.dial(t).open("2025-06-18", `{}`)
			client.request("tools/call", exec(blockTool, `{}`)) // has the id 2
			<-w.entered
			client.send(c.line)
			m := client.receive()
			assert.Check(t, is.Equal(string(m.ID), c.id), "%s %+v", m.ID, m.Error)
			assert.Check(t, m.Error != nil, "%s %+v", m.ID, m.Error)
			close(w.release)
			m = client.receive()
			assert.Check(t, is.Equal(string(m.ID), "2"), "expected the call's answer, got %+v", m)
		})
	}
}

// TestARefusedBatchHasItsIDs checks that a refused batch answers every request with a certain id.
func TestARefusedBatchHasItsIDs(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":%s,"method":"ping"}`
	for name, c := range map[string]struct {
		line string
		ids  []string
	}{
		"one is empty":       {"[" + fmt.Sprintf(ping, "7") + ",{}]", []string{"7"}},
		"two are good":       {"[" + fmt.Sprintf(ping, "7") + "," + fmt.Sprintf(ping, `"x"`) + ",4]", []string{"7", `"x"`}},
		"the bad one has it": {`[{"jsonrpc":"1.0","id":8,"method":"ping"},` + fmt.Sprintf(ping, "9") + "]", []string{"8", "9"}},
		"one id twice":       {"[" + fmt.Sprintf(ping, "7") + "," + fmt.Sprintf(ping, "7") + "," + fmt.Sprintf(ping, "8") + "]", []string{"8"}},
		"an answer":          {`[{"jsonrpc":"2.0","id":5,"result":{}},` + fmt.Sprintf(ping, "6") + ",{}]", []string{"6"}},
	} {
		t.Run(name, func(t *testing.T) {
			client := newWorld(t).dial(t).open("2025-03-26", `{}`)
			client.send(c.line)
			var answers []struct {
				ID    json.RawMessage
				Error *struct{ Code int }
			}
			assert.NilError(t, json.Unmarshal([]byte(client.line()), &answers))
			var ids []string
			for _, a := range answers {
				ids = append(ids, string(a.ID))
				assert.Assert(t, a.Error != nil, "%s is answered %+v", a.ID, a.Error)
				assert.Equal(t, a.Error.Code, -32600, "%s %+v", a.ID, a.Error)
			}
			assert.Check(t, slices.Equal(ids, c.ids), "answered are %q, expected %q", ids, c.ids)
			client.lives()
		})
	}
}

// TestLinesThatGetNoAnswer checks that lines that need no answer get none, not even invalid answers:
// otherwise two programs could exchange errors forever.
func TestLinesThatGetNoAnswer(t *testing.T) {
	for name, line := range map[string]string{
		"empty":                    "",
		"white space":              " \t \r",
		"unknown notification":     `{"jsonrpc":"2.0","method":"notifications/of/nothing"}`,
		"tool call without an id":  `{"jsonrpc":"2.0","method":"tools/call","params":` + exec(addTool, `{}`) + `}`,
		"id is null":               `{"jsonrpc":"2.0","id":null,"method":"tools/list"}`,
		"cancels nothing":          `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`,
		"cancels what is no id":    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}`,
		"cancels nothing at all":   `{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		"answer to nothing":        `{"jsonrpc":"2.0","id":99,"result":{}}`,
		"error about nothing":      `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
		"answer of 20 MB":          `{"jsonrpc":"2.0","id":5,"result":"` + strings.Repeat("x", 20<<20) + `"}`,
		"answer without an id":     `{"jsonrpc":"2.0","result":{}}`,
		"answer in no version":     `{"id":1,"result":{}}`,
		"batch of notifications":   `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`,
		"batch with an old answer": `[{"jsonrpc":"2.0","id":5,"result":{}}]`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.dial(t).open("2025-03-26", `{}`)
			c.send(line)
			c.lives() // its answer is the next line
			c.ends()
			assert.Check(t, len(w.added) <= 0, "a notification made a call")
		})
	}
}

// TestWrongRequests checks that valid messages with wrong requests are answered under their id.
func TestWrongRequests(t *testing.T) {
	for name, c := range map[string]struct {
		method, params string
		code           int
	}{
		"unknown method":         {"tools/forget", `{}`, -32601},
		"empty method":           {"", `{}`, -32601},
		"no params":              {"tools/call", `null`, -32600},
		"params are a list":      {"tools/call", `[]`, -32602},
		"params are a number":    {"tools/call", `7`, -32602},
		"no name":                {"tools/call", `{}`, -32602},
		"name is a number":       {"tools/call", `{"name":1}`, -32602},
		"odd input response":     {"tools/call", `{"name":"aai_exec","inputResponses":{"consent":{}}}`, -32602},
		"input response is text": {"tools/call", `{"name":"aai_exec","inputResponses":"yes"}`, -32602},
		"cursor of nobody":       {"tools/list", `{"cursor":"AAAA"}`, -32602},
		"resource without URI":   {"resources/read", `{}`, -32602},
		"second handshake":       {"initialize", `{"protocolVersion":"2025-06-18","capabilities":{}}`, -32600},
		"notification with id":   {"notifications/initialized", `{}`, -32600},
	} {
		t.Run(name, func(t *testing.T) {
			client := newWorld(t).dial(t).open("2025-06-18", `{}`)
			m := client.ask(c.method, c.params)
			assert.Assert(t, m.Error != nil, "%+v %+v", m, m.Error)
			assert.Equal(t, m.Error.Code, c.code, "%+v %+v", m, m.Error)
			client.lives()
		})
	}
}

// TestArguments tests the arguments of aai_exec, and the results.
func TestArguments(t *testing.T) {
	deep := strings.Repeat("[", 500) + strings.Repeat("]", 500)
	for name, c := range map[string]struct{ args, code string }{
		"object":                    {`{"text":"x"}`, ""},
		"none":                      {`null`, ""},
		"object as a string":        {`"{\"text\":\"x\"}"`, ""},
		"null as a string":          {`"null"`, ""},
		"string in a string":        {`"\"{}\""`, "INVALID_PARAMS"},
		"empty string":              {`""`, "INVALID_PARAMS"},
		"text":                      {`"text=x"`, "INVALID_PARAMS"},
		"two objects as a string":   {`"{}{}"`, "INVALID_PARAMS"},
		"object and more":           {`"{} x"`, "INVALID_PARAMS"},
		"list":                      {`[{}]`, "INVALID_PARAMS"},
		"number":                    {`1`, "INVALID_PARAMS"},
		"true":                      {`true`, "INVALID_PARAMS"},
		"10 MB":                     {`{"text":"` + strings.Repeat("x", 10<<20) + `"}`, "INVALID_PARAMS"},
		"10 MB as a string":         {`"{\"text\":\"` + strings.Repeat("x", 10<<20) + `\"}"`, "INVALID_PARAMS"},
		"500 deep":                  {`{"text":` + deep + `}`, "INVALID_PARAMS"},
		"100000 deep in a string":   {`"` + strings.Repeat("[", 100_000) + `"`, "INVALID_PARAMS"},
		"a million small values":    {`{"text":[` + strings.Repeat("0,", 1_000_000) + `0]}`, "INVALID_PARAMS"},
		"refused by the app's tool": {`{"wrong":1}`, "INVALID_PARAMS"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			client := w.dial(t).open("2025-06-18", `{}`)
			result := client.ask("tools/call", exec(addTool, c.args)).result(t)
			if c.code == "" {
				result.succeeds(t)
			} else {
				result.fails(t, c.code)
				text := result.Content[0].Text
				assert.Assert(t, len(text) <= 1000, "a model should not have to read %q", text)
				assert.Assert(t, !strings.Contains(text, "json:"), "a model should not have to read %q", text)
			}
			got := w.journal.outcomes(addTool)
			assert.Check(t, is.Equal(got[aai.Code(c.code)], 1), got)
		})
	}
}

// TestLongNumbersArrive checks that numbers keep their digits on the way to the app.
func TestLongNumbersArrive(t *testing.T) {
	w := newWorld(t)
	w.dial(t).open("2025-06-18", `{}`).ask("tools/call", exec(addTool, `{"text":12345678901234567890123}`)).result(t).succeeds(t)
	call := <-w.added
	if n, ok := call.Args["text"].(json.Number); !ok || n != "12345678901234567890123" {
		t.Errorf("the tool got %v", call.Args["text"])
	}
}

// TestCutsAndLineEnds checks that the splitting of bytes and the kind of line end do not matter.
func TestCutsAndLineEnds(t *testing.T) {
	line := `{"jsonrpc":"2.0","id":"é","method":"tools/call","params":` + exec(sayTool, `{}`) + `}`
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "blank lines": "\r\n\r\n\n"} {
		t.Run(name, func(t *testing.T) {
			c := newWorld(t).dial(t).open("2025-06-18", `{}`)
			for i := range len(line) {
				c.write(line[i : i+1])
			}
			c.write(end)
			m := c.receive()
			assert.Check(t, is.Equal(string(m.ID), `"é"`), "the answer has the id %s", m.ID)
			m.result(t).succeeds(t)
			c.lives()
		})
	}
}

// TestManyLinesInOneWrite: several requests in one write are several requests.
func TestManyLinesInOneWrite(t *testing.T) {
	c := newWorld(t).dial(t).open("2025-06-18", `{}`)
	var all strings.Builder
	for i := range 100 {
		fmt.Fprintf(&all, `{"jsonrpc":"2.0","id":"n%d","method":"ping"}`+"\n", i)
	}
	c.write(all.String())
	answered := map[string]bool{}
	for range 100 {
		answered[string(c.receive().ID)] = true
	}
	assert.Check(t, is.Len(answered, 100), "%d of 100 were answered", len(answered))
}

// TestIDs checks that an answer has the id of its request.
func TestIDs(t *testing.T) {
	c := newWorld(t).dial(t).open("2025-06-18", `{}`)
	for sent, back := range map[string]string{
		`"a"`: `"a"`, `""`: `""`, `"1"`: `"1"`, `1`: `1`, `0`: `0`, `-7`: `-7`, `7.0`: `7`,
		`9007199254740991`: `9007199254740991`, `9007199254740994`: `9007199254740994`,
	} {
		c.send(`{"jsonrpc":"2.0","id":` + sent + `,"method":"ping"}`)
		m := c.receive()
		assert.Check(t, is.Equal(string(m.ID), back), "the request %s was answered as %s", sent, m.ID)
	}
}

// TestAnIDInUse checks that an id in use is refused, and that its request is not affected.
func TestAnIDInUse(t *testing.T) {
	w := newWorld(t)
	c := w.dial(t).open("2025-03-26", `{}`)
	block := `{"jsonrpc":"2.0","id":"same","method":"tools/call","params":` + exec(blockTool, `{}`) + `}`
	c.send(block)
	<-w.entered
	c.send(block)
	m := c.receive()
	assert.Equal(t, string(m.ID), "null", "%+v", m)
	assert.Assert(t, m.Error != nil, "expected a refusal, got %+v", m)
	assert.Equal(t, m.Error.Code, -32600, "%+v", m)
	c.send(`[` + block + `]`)
	m = c.receive()
	assert.Equal(t, string(m.ID), "null", "%+v", m)
	assert.Assert(t, m.Error != nil, "expected a refusal, got %+v", m)
	close(w.release)
	m = c.receive()
	assert.Equal(t, string(m.ID), `"same"`, "expected the answer to the first, got %+v", m)
	c.send(block) // the id is free again
	m = c.receive()
	assert.Equal(t, string(m.ID), `"same"`, "expected the answer to the last, got %+v", m)
	c.ends()
	n := w.journal.outcomes(blockTool)[""]
	assert.Check(t, is.Equal(n, 2), "%d calls are on record", n)
}
