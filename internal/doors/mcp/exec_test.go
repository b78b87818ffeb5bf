package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestMembersOfExec checks that aai_exec takes each of its members once, by its exact name, and that no name
// occurs twice in the arguments of a tool, at any depth.
func TestMembersOfExec(t *testing.T) {
	call := func(arguments string) string { return `{"name":"aai_exec","arguments":{` + arguments + `}}` }
	target := fmt.Sprintf(`"app":%q,"tool":%q`, notes, addTool)
	for params, want := range map[string]string{
		call(target + `,"args":{"text":"a"}`):                      "",
		call(target + `,"args":{"text":"a","text":"b"}`):           "text: the name occurs twice",
		call(target + `,"args":{"text":"a","\u0074ext":"b"}`):      "text: the name occurs twice",
		call(target + `,"args":{"text":{"a":[{"b":1,"b":2}]}}`):    "text.a[0].b: the name occurs twice",
		call(target + `,"args":"{\"text\":\"a\",\"text\":\"b\"}"`): "text: the name occurs twice",
		call(target + `,"args":{"text":"a"},"args":{"text":"b"}`):  `the member "args" occurs twice`,
		call(target + `,"args":{"text":"a"},"tool":"other"`):       `the member "tool" occurs twice`,
		call(target + `,"Args":{"text":"a"}`):                      `unknown member "Args"`,
		call(`"APP":"x",` + target + `,"args":{"text":"a"}`):       `unknown member "APP"`,
	} {
		t.Run(params, func(t *testing.T) {
			w := newWorld(t)
			client := w.dial(t).open("2025-06-18", `{}`)
			client.request("tools/call", params)
			m := client.receive()
			got := string(m.Result)
			assert.Check(t, want != "" || !strings.Contains(got, `"isError":true`), "%q %s %+v", want, got, m.Error)
			assert.Check(t, want == "" || strings.Contains(strings.ReplaceAll(got, `\"`, `"`), want), "%q %s %+v", want, got, m.Error)
		})
	}
	client := newWorld(t).dial(t).open("2025-06-18", `{}`)
	client.request("tools/call", `{"name":"aai_exec","arguments":{`+target+`,"args":{"text":"a"}},"arguments":{}}`)
	m := client.receive()
	assert.Assert(t, m.Error != nil, "%s %+v", m.Result, m.Error)
	assert.Assert(t, is.Contains(m.Error.Message, "arguments twice"), "%s %+v", m.Result, m.Error)
}
