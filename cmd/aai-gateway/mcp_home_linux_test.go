package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// The app of these tests: a real service on a real bus.
const (
	exampleApp = "org.example.App"

	exampleDescriptor = `{
  "schema_version": "1.0", "appId": "org.example.App", "name": "Example", "description": "An app on the bus.", "version": "1.0",
  "platforms": {"linux": {"automation": "dbus", "service": "org.example.App", "object": "/org/example/Test", "interface": "org.example.Test", "tools": [
    {"name": "echo", "description": "Gives a text back.", "method": "EchoString", "effect": "reads",
     "parameters": {"type": "object", "properties": {"v": {"type": "string"}}, "required": ["v"], "additionalProperties": false}},
    {"name": "nothing", "description": "Does nothing.", "method": "Nothing", "effect": "changes", "parameters": {"type": "object"}},
    {"name": "block", "description": "Waits.", "method": "Block", "timeout": 600, "parameters": {"type": "object"}},
    {"name": "die", "description": "Ends in the middle of it.", "method": "Die", "parameters": {"type": "object"}}
  ]}}
}`
)

// describesExample reports whether the text is the example's descriptor for this platform: its
// section replaces "platforms".
func describesExample(text string) bool {
	type member = map[string]any
	var source, got member
	if json.Unmarshal([]byte(exampleDescriptor), &source) != nil || json.Unmarshal([]byte(text), &got) != nil {
		return false
	}
	want := source["platforms"].(member)["linux"].(member)
	delete(source, "platforms")
	maps.Copy(want, source)
	want["platform"] = "linux"
	return reflect.DeepEqual(got, want)
}

// patience is the limit for waiting. No test waits for it to pass.
const patience = time.Minute

// programPath is the path of the released program.
type programPath string

// TestMCP runs the program with agents of several kinds, as this test binary: its settings count
// as confirmed.
func TestMCP(t *testing.T) {
	b := selfProgram(t)
	for _, c := range []struct {
		name string
		test func(*testing.T, programPath)
	}{
		{"ConsentGivenAtATerminal", mcpConsentGivenAtATerminal},
		{"ListCosts", mcpListCosts},
		{"ManyApps", mcpManyApps},
		{"ThrownAwayLeavesNothing", mcpThrownAwayLeavesNothing},
		{"DescriptorsComeAndGo", mcpDescriptorsComeAndGo},
		{"WithoutTheApp", mcpWithoutTheApp},
		{"AnAppThatDies", mcpWithAnAppThatDies},
		{"Termination", mcpTermination},
		{"ClientThatIsGone", mcpClientThatIsGone},
		{"ClientThatStopsReadingAfterItsInput", mcpClientThatStopsReadingAfterItsInput},
		{"LogThatNobodyReads", mcpLogThatNobodyReads},
		{"IdleMemory", mcpIdleMemory},
		{"Inspector", mcpInspector},
		{"InspectorWaitsForATask", mcpInspectorWaitsForATask},
		{"TypeScriptSDKs", mcpTypeScriptSDKs},
		{"Servers", mcpServers},
		{"ServersOfSDKs", mcpServersOfSDKs},
		{"ServerThatChanges", mcpServerThatChanges},
		{"ToolOfAPage", mcpToolOfAPage},
		{"WordsOfSDKs", mcpWordsOfSDKs},
		{"ModelOfTheClient", mcpModelOfTheClient},
		{"ModelOfAService", mcpModelOfAService},
		{"Composed", mcpComposed}, {"Leases", mcpLeases},
		{"BareClients", mcpBareClients},
		{"InsideItsHost", mcpInsideItsHost},
		{"OverHTTP", mcpOverHTTP},
		{"SocketActivation", mcpSocketActivation},
		{"HTTPToken", mcpHTTPToken},
		{"HTTPTokenOfEachAgent", mcpHTTPTokenOfEachAgent},
		{"CallersToldApart", mcpCallersToldApart},
		{"HTTPRefusesToStart", mcpHTTPRefusesToStart},
		{"Events", mcpEvents},
		{"Follow", mcpFollow}, {"Examples", mcpExamples},
		{"EventsInHardCases", mcpEventsInHardCases},
		{"EventsOfAnothersService", mcpEventsOfAnothersService},
		{"WorkflowOn", mcpWorkflowOn},
		{"EventsOfAServer", mcpEventsOfAServer},
		{"InstalledInto", mcpInstalledInto},
		{"Canaries", mcpCanaries},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, b) })
	}
}

// selfProgram returns this test binary under the name of the program.
func selfProgram(t *testing.T) programPath {
	t.Helper()
	b := filepath.Join(t.TempDir(), "aai-gateway")
	self, err := os.Executable()
	assert.NilError(t, err)
	assert.NilError(t, os.Symlink(self, b))
	return programPath(b)
}

// home is the folder and the environment of a user, with the app's descriptor.
type home struct {
	binary programPath
	folder string
	env    []string
}

func (b programPath) home(t *testing.T, bus *testkit.Bus) home {
	t.Helper()
	h := home{binary: b, folder: t.TempDir()}
	h.env = []string{session.PrivateMark + "=1", "HOME=" + h.folder, "PATH=" + os.Getenv("PATH"), "XDG_DATA_DIRS=" + filepath.Join(h.folder, "share")}
	if bus != nil {
		h.env = append(h.env, "DBUS_SESSION_BUS_ADDRESS="+bus.Address)
	}
	h.allow(t, "org.example.App echo block die", "org.example.Later echo") // everything but "nothing"
	h.write(t, ".aai/org.example.App/aai.json", exampleDescriptor)
	return h
}

// withApp returns a home with the app on a bus.
func (b programPath) withApp(t *testing.T) (home, *testkit.BusService) {
	t.Helper()
	bus := testkit.StartBus(t)
	return b.home(t, bus), testkit.ServeOnBus(t, bus, exampleApp)
}

func (h home) write(t *testing.T, name, text string) {
	t.Helper()
	writeFile(t, h.folder, name, text)
}

// allow replaces the configuration by one with the permissions.
func (h home) allow(t *testing.T, permissions ...string) {
	t.Helper()
	h.write(t, ".aai/config.json", allowing(permissions...))
}

// everything lists all files in the home folder.
func (h home) everything(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(h.folder, func(path string, _ fs.DirEntry, err error) error {
		found = append(found, path)
		return err
	})
	assert.NilError(t, err)
	return found
}

// journalCall is a call in the journal.
type journalCall struct{ caller, app, tool, consent, result, delivery string }

// journal reads the calls from the file, in the order they were received.
func (h home) journal(t *testing.T) []journalCall {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.folder, ".local/share/aai-gateway/audit.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	assert.NilError(t, err)
	calls := map[string]*journalCall{}
	var order []string
	for line := range strings.Lines(string(text)) {
		var l struct{ Kind, Call, Caller, App, Tool, Consent, Result, Delivery string }
		err := json.Unmarshal([]byte(line), &l)
		assert.NilError(t, err, "the journal has the line %q: %v", line, err)
		if l.Call == "" {
			continue // of the journal itself
		}
		if calls[l.Call] == nil {
			calls[l.Call] = &journalCall{caller: l.Caller, app: l.App, tool: l.Tool}
			order = append(order, l.Call)
		}
		if l.Consent != "" {
			calls[l.Call].consent = l.Consent
		}
		if l.Kind == "outcome" {
			calls[l.Call].result, calls[l.Call].delivery = l.Result, l.Delivery
		}
	}
	var found []journalCall
	for _, id := range order {
		found = append(found, *calls[id])
	}
	return found
}

// expectJournal compares the journal with "app tool result" lines.
func (h home) expectJournal(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, p := range h.journal(t) {
		got = append(got, strings.Join([]string{p.app, p.tool, p.result}, " "))
	}
	assert.Check(t, slices.Equal(got, want), "the journal has\n\t%s\nexpected\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
}

// agentProcess is the program with an agent at its standard input and output that exchanges plain
// lines.
type agentProcess struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.Closer
	lines chan string
	err   bytes.Buffer
	ended chan error
	next  int
}

// environ returns its environment by name.
func (h home) environ() map[string]string {
	env := make(map[string]string)
	for _, variable := range h.env {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	return env
}

func (h home) start(t *testing.T) *agentProcess {
	t.Helper()
	p := &agentProcess{t: t, cmd: exec.Command(string(h.binary)), lines: make(chan string, 1000), ended: make(chan error, 1)}
	p.cmd.Env, p.cmd.Stderr = h.env, &p.err
	in, err := p.cmd.StdinPipe()
	assert.NilError(t, err)
	out, err := p.cmd.StdoutPipe()
	assert.NilError(t, err)
	p.in, p.out = in, out
	assert.NilError(t, p.cmd.Start())
	go func() {
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 64<<20)
		for scanner.Scan() {
			p.lines <- scanner.Text()
		}
		close(p.lines)
		p.ended <- p.cmd.Wait()
	}()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it has ended, unless the test failed
	return p
}

// message is one line of the program.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (p *agentProcess) receive() message {
	p.t.Helper()
	var m message
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.t.Fatalf("the program has closed its output: %s", p.err.String())
		}
		assert.NilError(p.t, json.Unmarshal([]byte(line), &m), "standard output has the line %q", line)
	case <-time.After(patience):
		p.t.Fatal("nothing comes from the program")
	}
	return m
}

// request sends a request and returns its id.
func (p *agentProcess) request(method, params string) string {
	p.t.Helper()
	p.next++
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.next, method, params))
	return fmt.Sprint(p.next)
}

func (p *agentProcess) send(line string) {
	p.t.Helper()
	_, err := io.WriteString(p.in, line+"\n")
	assert.NilError(p.t, err)
}

// ask sends a request and returns its response.
func (p *agentProcess) ask(method, params string) message {
	p.t.Helper()
	id := p.request(method, params)
	m := p.receive()
	assert.Equal(p.t, string(m.ID), id, "%+v %s", m, m.Error)
	assert.Assert(p.t, m.Error == nil, "expected the answer to %s, got %+v with %s", id, m, m.Error)
	return m
}

func (p *agentProcess) open() *agentProcess {
	p.t.Helper()
	p.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"0"}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

// toolResult is the result of a call.
type toolResult struct {
	IsError           bool
	Content           []struct{ Text string }
	StructuredContent struct {
		Type, Delivery, Suggestion string
		Result                     any
	}
}

func runTool(app, tool, args string) string {
	return fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":%q,"tool":%q,"args":%s}}`, app, tool, args)
}

func (p *agentProcess) call(tool, args string) toolResult {
	p.t.Helper()
	return p.toolResult(p.ask("tools/call", runTool(exampleApp, tool, args)))
}

func (p *agentProcess) toolResult(m message) toolResult {
	p.t.Helper()
	var r toolResult
	assert.NilError(p.t, json.Unmarshal(m.Result, &r), "no result of a tool: %s", m.Result)
	return r
}

// hangUp closes the input and returns the remaining output; the program must succeed.
func (p *agentProcess) hangUp() []string {
	p.t.Helper()
	_ = p.in.Close()
	lines, err := p.end()
	if err != nil {
		p.t.Errorf("the program ended with %v: %s", err, p.err.String())
	}
	return lines
}

// end waits for the end of the program and returns the remaining output.
func (p *agentProcess) end() ([]string, error) {
	p.t.Helper()
	var lines []string
	deadline := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if ok {
				lines = append(lines, line)
				continue
			}
		case <-deadline:
			p.t.Fatal("the program does not end")
		}
		select {
		case err := <-p.ended:
			return lines, err
		case <-deadline:
			p.t.Fatal("the program does not end")
		}
	}
}
