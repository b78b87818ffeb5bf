package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/platform/linux/session"
)

// fakeOsascript keeps its arguments and input, and answers as the script tells.
const fakeOsascript = `#!/bin/sh
folder=$(dirname "$0")
for arg; do printf '%s|' "$arg"; done > "$folder/args"
cat > "$folder/stdin"
case "$(cat "$folder/stdin")" in
*'"refuse'*) echo '0:5: execution error: Not authorized to send Apple events to Post. (-1743)' >&2; exit 1;;
*'"hang'*) exec sleep 60;;
*'"crash'*) kill -SEGV $$;;
*'"flood'*) exec yes;;
*JSON.parse*) echo '{"ok":true,"value":{"added":"Tea","minutes":30}}';;
*'AAI call'*) id=$(sed -n 's/.*request_id[^:]*:[^"]*"\([^"\\]*\).*/\1/p' "$folder/stdin"); printf '"{\\"version\\":\\"1.0\\",\\"request_id\\":\\"%s\\",\\"status\\":\\"success\\",\\"result\\":{\\"id\\":7}}"\n' "$id";;
*) sed -n 's/^return \(".*"\)$/\1/p' "$folder/stdin";;
esac
`

// fakeXcrun has one simulator.
const fakeXcrun = `#!/bin/sh
folder=$(dirname "$0")
for arg; do printf '%s|' "$arg"; done >> "$folder/log"
echo >> "$folder/log"
case "$2" in
list) echo '{"devices": {"com.apple.CoreSimulator.SimRuntime.iOS-18-2": [{"udid": "0AF0C2A5-8DC9-4F1C-A1E1-1111111111AA", "name": "iPhone", "state": "Booted"}]}}';;
get_app_container) echo "$folder/group";;
openurl) mkdir "$folder/group"; echo '{"success": true}' > "$folder/group/aai-result.json";;
esac
`

// mac is a home folder and the system programs of a Mac.
type mac struct {
	folder string
	env    []string
}

func newMac(t *testing.T) *mac {
	t.Helper()
	home, m := t.TempDir(), &mac{folder: t.TempDir()}
	for _, name := range []string{"post", "pocket", "calendar", "notes"} {
		text, err := os.ReadFile(filepath.Join("testdata", "mac", name+".json"))
		assert.NilError(t, err)
		writeFile(t, home, ".aai/"+name+"/aai.json", string(text))
	}
	writeFile(t, home, ".aai/config.json", `{"defaultTimeout": 3, "rate_limits": {"script_rpm": 60}, "consent": {"preapproved": `+grants("com.example.post", "com.example.mail", "com.example.calendar add_event", "com.example.notes")+`}}`)
	for name, text := range map[string]string{"osascript": fakeOsascript, "xcrun": fakeXcrun} {
		assert.NilError(t, os.WriteFile(filepath.Join(m.folder, name), []byte(text), 0o700))
	}
	m.env = append(os.Environ(), "HOME="+home, "MAC="+m.folder, session.PrivateMark+"=1", "TERM_PROGRAM=Apple_Terminal", "__CFBundleIdentifier=com.apple.Terminal")
	return m
}

func (m *mac) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "aai-gateway", args...)
	cmd.Env = m.env
	return cmd
}

// exec runs a tool at the command line.
func (m *mac) exec(t *testing.T, app, tool, args string) string {
	t.Helper()
	out, err := m.command(t, "exec", app, tool, args).CombinedOutput()
	if err != nil {
		return err.Error() + "\n" + string(out)
	}
	return string(out)
}

func (m *mac) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.folder, name))
	assert.NilError(t, err)
	return string(text)
}

// TestMacAtTheCommandLine runs descriptors for macOS and iOS with programs in the place of the system's, byte for byte.
func TestMacAtTheCommandLine(t *testing.T) {
	m := newMac(t)
	out := m.exec(t, "com.example.post", "send_email", `{"to": "al@example.com", "subject": "Hi \"you\" \\ ${to}", "body": "one\ntwo"}`)
	assert.Check(t, is.Contains(out, `{"success":true, "message_id":"generated"}`))
	assert.Equal(t, m.read(t, "args"), "-s|s|-|")
	assert.Equal(t, m.read(t, "stdin"), `property |aai 1| : "Hi \"you\" \\ ${to}"
property |aai 2| : "one\ntwo"
property |aai 3| : "al@example.com"
tell application "Post"
  set newMessage to make new outgoing message with properties {subject:|aai 1|, content:|aai 2|, visible:false}
  tell newMessage
    make new to recipient at beginning of to recipients with properties {address:|aai 3|}
    send
  end tell
end tell
return "{\"success\":true, \"message_id\":\"generated\"}"`)
	out = m.exec(t, "com.example.calendar", "add_event", `{"title": "Tea", "minutes": 30}`)
	assert.Check(t, is.Contains(out, "Tea"))
	assert.Equal(t, m.read(t, "args"), "-l|JavaScript|-|")
	assert.Check(t, is.Contains(m.read(t, "stdin"), `summary: (aaiValues[0]), minutes: aaiValues[1]});`))
	out = m.exec(t, "com.example.notes", "add_note", `{"text": "Tea"}`)
	assert.Check(t, is.Contains(out, "7"))
	assert.Check(t, is.Contains(m.read(t, "stdin"), `tell application id "com.example.notes" to «event AAI call» |aai 1|`))
	out = m.exec(t, "com.example.mail", "send_email", `{"to": "a&b", "subject": "é", "body": "x"}`)
	assert.Check(t, is.Contains(out, "success"))
	assert.Check(t, is.Contains(m.read(t, "log"), "simctl|openurl|0AF0C2A5-8DC9-4F1C-A1E1-1111111111AA|mailapp://send?to=a%26b&subject=%C3%A9&body=x|\n"))
	out = m.exec(t, "com.example.calendar", "run_report", `{}`)
	assert.Check(t, is.Contains(out, "CONSENT_REQUIRED"))
}

// TestMacByMCP calls the same tools by MCP, with the faults of osascript: a refusal of macOS, a hang, a crash and a flood.
func TestMacByMCP(t *testing.T) {
	m := newMac(t)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "0"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: m.command(t)}, nil)
	assert.NilError(t, err)
	defer client.Close() //nolint:errcheck // it ends with the test
	call := func(app, tool, args string) string {
		given, err := json.Marshal(map[string]any{"app": app, "tool": tool, "args": json.RawMessage(args)})
		assert.NilError(t, err)
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: json.RawMessage(given)})
		if err != nil {
			return err.Error()
		}
		text, err := json.Marshal(r)
		assert.NilError(t, err)
		return string(text)
	}
	for query, want := range map[string][]string{
		"x":      {`result1`},
		"refuse": {"PERMISSION_DENIED", "macOS does not let Terminal control the app", "tccutil reset AppleEvents com.apple.Terminal", "not_delivered"},
		"hang":   {"TIMEOUT", "did not end by the deadline", `unknown`},
		"crash":  {"AUTOMATION_FAILED", "osascript has ended: signal: segmentation fault", `unknown`},
		"flood":  {"AUTOMATION_FAILED", "it has more than 8 MiB"},
	} {
		got := call("com.example.post", "search_emails", `{"query": "`+query+`"}`)
		for _, part := range want {
			assert.Check(t, is.Contains(got, part), query)
		}
	}
	assert.Check(t, is.Contains(call("com.example.calendar", "add_event", `{"title": "Tea", "minutes": 30}`), "Tea"))
	assert.Check(t, !strings.Contains(call("com.example.notes", "add_note", `{"text": "Tea"}`), "isError"))
}
