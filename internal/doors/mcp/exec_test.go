package mcp_test

import (
	"fmt"
	"strings"
	"testing"
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
			if got := string(m.Result); want == "" && strings.Contains(got, `"isError":true`) || want != "" && !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), want) {
				t.Errorf("want %q, got %s %+v", want, got, m.Error)
			}
		})
	}
	client := newWorld(t).dial(t).open("2025-06-18", `{}`)
	client.request("tools/call", `{"name":"aai_exec","arguments":{`+target+`,"args":{"text":"a"}},"arguments":{}}`)
	if m := client.receive(); m.Error == nil || !strings.Contains(m.Error.Message, "arguments twice") {
		t.Errorf("got %s %+v", m.Result, m.Error)
	}
}
