package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// patience limits the time that a test waits for an expected event.
const patience = 30 * time.Second

// A wire is a client without an MCP library: it writes bytes and reads lines.
type wire struct {
	t             *testing.T
	in            *io.PipeWriter
	out           *io.PipeReader
	lines         chan string
	done          chan struct{} // closed when ServeStdio has returned
	err           error         // its error
	next          int
	notifications []string // the methods of earlier list notifications
}

// dial connects a wire to the door, until the end of the test.
func (w *world) dial(t *testing.T) *wire {
	t.Helper()
	return w.dialIn(t, t.Context())
}

func (w *world) dialIn(t *testing.T, ctx context.Context) *wire {
	t.Helper()
	in, write := io.Pipe()
	read, out := io.Pipe()
	c := &wire{t: t, in: write, out: read, lines: make(chan string, 10_000), done: make(chan struct{})}
	go func() {
		c.err = w.door.ServeStdio(ctx, in, out)
		_ = out.Close()
		_ = in.CloseWithError(io.ErrClosedPipe)
		close(c.done)
	}()
	go func() {
		defer close(c.lines)
		scanner := bufio.NewScanner(read)
		scanner.Buffer(nil, 64<<20)
		for scanner.Scan() {
			c.lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() { _ = write.Close(); _ = read.Close(); <-c.done })
	return c
}

// write sends bytes unchanged. It ignores errors of a closed door.
func (c *wire) write(text string) {
	_, _ = io.WriteString(c.in, text)
}

func (c *wire) send(line string) { c.write(line + "\n") }

// line returns the next line from the door.
func (c *wire) line() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		assert.Assert(c.t, ok, "the door has closed its output")
		return line
	case <-time.After(patience):
		c.t.Fatal("nothing comes from the door")
	}
	return ""
}

// A message is one line, read.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (c *wire) receive() message {
	c.t.Helper()
	line := c.line()
	var m message
	assert.NilError(c.t, json.Unmarshal([]byte(line), &m), line)
	return m
}

// request sends a request and returns its id.
func (c *wire) request(method, params string) string {
	c.next++
	id := fmt.Sprintf("%d", c.next)
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return id
}

// ask sends a request and returns its answer; other messages on the way fail.
func (c *wire) ask(method, params string) message {
	c.t.Helper()
	id := c.request(method, params)
	m := c.receive()
	for slices.Contains(c.notifications, m.Method) { // sent twice
		m = c.receive()
	}
	assert.Equal(c.t, string(m.ID), id, "%+v", m)
	assert.Equal(c.t, m.Method, "", "%+v", m)
	return m
}

// open makes the handshake of a client of an older protocol.
func (c *wire) open(version, capabilities string) *wire {
	c.t.Helper()
	m := c.ask("initialize", fmt.Sprintf(
		`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"tester","version":"0"}}`, version, capabilities))
	assert.Assert(c.t, m.Error == nil, "the handshake failed: %+v", m.Error)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// exec returns the parameters of a call of aai_exec.
func exec(tool, args string) string {
	return fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":%q,"tool":%q,"args":%s}}`, notes, tool, args)
}

// A toolResult is the result of tools/call.
type toolResult struct {
	ResultType string `json:"resultType"`
	IsError    bool   `json:"isError"`
	Content    []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	StructuredContent map[string]any `json:"structuredContent"`
	InputRequests     map[string]struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	} `json:"inputRequests"`
	RequestState string `json:"requestState"`
}

// result reads the answer to tools/call.
func (m message) result(t *testing.T) toolResult {
	t.Helper()
	var r toolResult
	if m.Error != nil {
		t.Fatalf("expected a result, got the error %+v", *m.Error)
	}
	assert.NilError(t, json.Unmarshal(m.Result, &r), m.Result)
	return r
}

// fails asserts that the result is an error of the type.
func (r toolResult) fails(t *testing.T, code string) {
	t.Helper()
	assert.Assert(t, r.IsError, "%+v", r)
	assert.Equal(t, r.StructuredContent["type"], code, "%+v", r)
}

// succeeds asserts that the result is no error.
func (r toolResult) succeeds(t *testing.T) {
	t.Helper()
	assert.Assert(t, !r.IsError, "expected success, got %+v", r)
	assert.Assert(t, len(r.Content) != 0, "expected success, got %+v", r)
}

// hangUp closes the input, and returns the remaining lines and the door's error.
func (c *wire) hangUp() ([]string, error) {
	c.t.Helper()
	_ = c.in.Close()
	return c.rest()
}

// ends asserts that the door ends without an error after the end of the input, and writes nothing more.
func (c *wire) ends() {
	c.t.Helper()
	rest, err := c.hangUp()
	assert.Assert(c.t, is.Len(rest, 0))
	assert.NilError(c.t, err)
}

// rest returns all lines to the end of the output, and the door's error.
func (c *wire) rest() ([]string, error) {
	c.t.Helper()
	var lines []string
	deadline := time.After(patience)
	for {
		select {
		case line, ok := <-c.lines:
			if ok {
				lines = append(lines, line)
				continue
			}
		case <-deadline:
			c.t.Fatal("the door does not end")
		}
		select {
		case <-c.done:
			return lines, c.err
		case <-deadline:
			c.t.Fatal("the door does not return")
		}
	}
}

// lives asserts that the door answers.
func (c *wire) lives() {
	c.t.Helper()
	c.ask("tools/call", exec(sayTool, `{}`)).result(c.t).succeeds(c.t)
}

// connect connects the SDK's own client, with the version.
func (w *world) connect(t *testing.T, version string, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	return w.connectClient(t, version, mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "0"}, options))
}

func (w *world) connectClient(t *testing.T, version string, client *mcp.Client) *mcp.ClientSession {
	t.Helper()
	in, write := io.Pipe()
	read, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- w.door.ServeStdio(context.WithoutCancel(t.Context()), in, out) }()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: read, Writer: write}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	assert.NilError(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		// A client that closes both ends at once may miss a last answer.
		err := <-done
		assert.Check(t, err == nil || errors.Is(err, io.ErrClosedPipe), "the door ended with %v", err)
	})
	return session
}

// withDesktop adds the real desktop app, with a program in memory.
func withDesktop(w *world) {
	d := fakedesktop.New()
	d.Program("Editor").Window("Untitled").Button("Save", func() {})
	backend := d.Backend()
	w.catalog.apps = append(w.catalog.apps, newDesktop(func() desktop.Backend { return backend }))
}

// newDesktop returns the desktop with the names of the tools that other packages add to it.
func newDesktop(open func() desktop.Backend) *aai.App {
	var more []*aai.Tool
	for _, name := range []string{"ax_workflow", "ax_undo"} {
		more = append(more, &aai.Tool{Name: name, Run: func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }})
	}
	return gui.New(gui.Config{Open: open, ExtraTools: more})
}

// withProfile sets the profile: "apps", "desktop" or "all".
func withProfile(profile string) change {
	return with(func(c *door.Config) {
		if profile != "apps" {
			c.DirectApps = []string{aai.DesktopApp}
		}
		c.OnlyDirect = profile == "desktop"
		c.ListWebDiscovery = true // in profiles with apps
	})
}

// withWeb lists the tool that finds web apps.
func withWeb(w *world) { w.set(func(c *door.Config) { c.ListWebDiscovery = true }) }

func withResources(resources ...door.Resource) change {
	return with(func(c *door.Config) { c.Resources = resources })
}

// A silentDialog is a window of the gateway that gets no answer.
type silentDialog func()

// Ask implements aai.Asker.
func (d silentDialog) Ask(context.Context, aai.Question) (aai.Answer, error) {
	d()
	return aai.Answer{}, errors.New("nobody is there")
}

func withDialog(asked func()) change { return func(w *world) { w.dialog = silentDialog(asked) } }

// asksByDialog is a gate that asks about every call, also by a dialog.
func asksByDialog(r *aai.Request) ([]aai.Question, error) {
	questions, err := asks(r)
	questions[0].Channels = append(questions[0].Channels, aai.DesktopDialog)
	return questions, err
}

// adding adds apps to the catalog.
func adding(apps ...*aai.App) change {
	return func(w *world) { w.catalog.apps = append(w.catalog.apps, apps...) }
}

// get decodes the result of a request into v.
func (c *wire) get(method, params string, v any) {
	c.t.Helper()
	m := c.ask(method, params)
	if m.Error != nil {
		c.t.Fatalf("%s %s: %+v", method, params, *m.Error)
	}
	assert.NilError(c.t, json.Unmarshal(m.Result, v), "%s %s %s", method, params, m.Result)
}

// refused asserts that a request results in a protocol error that contains a word, and returns its message.
func (c *wire) refused(code int, word, method, params string) string {
	c.t.Helper()
	m := c.ask(method, params)
	if m.Error == nil || m.Error.Code != code || !strings.Contains(m.Error.Message, word) {
		c.t.Fatalf("%s %s: expected the error %d with %q, got %+v %s", method, params, code, word, m.Error, m.Result)
	}
	return m.Error.Message
}

// until returns the messages before the answer to the request, and the answer.
func (c *wire) until(id string) (news []message, answer message) {
	c.t.Helper()
	for {
		m := c.receive()
		if string(m.ID) == id && m.Method == "" {
			return news, m
		}
		news = append(news, m)
	}
}

// textOf returns the text of a resource.
func (c *wire) textOf(uri string) string {
	c.t.Helper()
	var read struct {
		Contents []struct{ URI, MIMEType, Text, Blob string }
	}
	c.get("resources/read", fmt.Sprintf(`{"uri":%q}`, uri), &read)
	assert.Assert(c.t, is.Len(read.Contents, 1), "%+v", read)
	assert.Equal(c.t, read.Contents[0].URI, uri, "%+v", read)
	return read.Contents[0].MIMEType + " " + read.Contents[0].Text + read.Contents[0].Blob
}
