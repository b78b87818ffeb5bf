package mcp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"

	"gotest.tools/v3/assert"
)

// FuzzStdio checks for every input that the door ends after it, and that every line it wrote is a
// JSON-RPC message or a batch of them.
func FuzzStdio(f *testing.F) {
	opening := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"elicitation":{}}}}` + "\n"
	for _, seed := range []string{
		"", "\n", "{", "[]", opening,
		opening + `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		opening + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + exec(addTool, `{"text":"x"}`) + "}\n",
		opening + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + exec(unknownOutcomeTool, `{}`) + "}\n" + `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`,
		opening + `[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"a","method":"ping"}]`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + modern(exec(unknownOutcomeTool, `{}`), inputs(accepts("once"), `{"consent":"the seal"}`), elicitationCapability) + "}\r\n",
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":` + modern(`{"notifications":{"toolsListChanged":true}}`, "", `{}`) + "}\n",
		opening + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if bytes.Contains(input, []byte(blockTool)) {
			return // it waits for a release by the test
		}
		w := newWorld(t, withGate(asksAboutSend))
		var out bytes.Buffer
		err := w.door.ServeStdio(t.Context(), bytes.NewReader(input), &out)
		assert.NilError(t, err, "the door ended with %v", err)
		lines := bufio.NewScanner(&out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			checkLine(t, lines.Bytes())
		}
	})
}

func checkLine(t *testing.T, line []byte) {
	t.Helper()
	parts := []json.RawMessage{line}
	if line[0] == '[' {
		err := json.Unmarshal(line, &parts)
		assert.NilError(t, err, line)
		assert.Assert(t, len(parts) != 0, "not a batch: %s", line)
	}
	for _, part := range parts {
		var m struct {
			JSONRPC       string
			ID            json.RawMessage
			Method        *string
			Result, Error json.RawMessage
		}
		err := json.Unmarshal(part, &m)
		assert.NilError(t, err, part)
		assert.Equal(t, m.JSONRPC, "2.0", part)
		kinds := 0
		for _, there := range []bool{m.Method != nil, m.Result != nil, m.Error != nil} {
			if there {
				kinds++
			}
		}
		assert.Equal(t, kinds, 1, part)
		assert.Assert(t, m.Method != nil || m.ID != nil, "neither a request nor an answer: %s", part)
	}
}
