package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// puppet is a client with a third-party SDK, in its own process. The test controls it. It belongs
// to one goroutine.
type puppet struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan puppetLine
	err   bytes.Buffer
	next  int
	news  []string // resources of its notifications
}

// puppetLine is a message of a puppet; see testdata/sdks/puppet.mjs.
type puppetLine struct {
	ID       int
	Result   json.RawMessage
	Failed   *puppetFailure
	Progress *struct {
		Progress, Total float64
		Message         string
	}
	Message  json.RawMessage
	Method   string
	Question json.RawMessage
	News     string
}

// puppetFailure is an error of the SDK.
type puppetFailure struct {
	Code    int
	Message string
}

// nodeIn returns the Node.js that a package.json installed.
func nodeIn(t *testing.T, cache, script string) (node, modules string) {
	t.Helper()
	modules, err := filepath.Abs(filepath.Join("../../.cache", cache, "node_modules"))
	assert.NilError(t, err)
	// The tests' own one: a distribution's may be too old.
	found, err := filepath.Glob(filepath.Join(modules, "node-linux-*", "bin", "node"))
	assert.NilError(t, err, script)
	assert.Assert(t, len(found) != 0, "install the clients: %s (make test does)", script)
	return found[0], modules
}

// newPuppet starts a client that connects to the program.
func newPuppet(t *testing.T, sdk string, target map[string]any) *puppet {
	t.Helper()
	return newPuppetIn(t, nil, os.Environ(), sdk, target)
}

// newPuppetIn is newPuppet with a command in front, and with the environment.
func newPuppetIn(t *testing.T, front, env []string, sdk string, target map[string]any) *puppet {
	t.Helper()
	node, modules := nodeIn(t, "sdks", "scripts/need-sdks")
	reach, err := json.Marshal(target)
	assert.NilError(t, err)
	p := &puppet{t: t, lines: make(chan puppetLine, 1000)}
	command := slices.Concat(front, []string{node, filepath.Join("testdata", "sdks", sdk+".mjs"), filepath.Dir(modules), string(reach)})
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Stderr = env, &p.err
	client := testkit.StartProcess(t, cmd)
	p.in = client.In
	ended := make(chan error, 1)
	go func() {
		scanner := bufio.NewScanner(client.Out)
		scanner.Buffer(nil, 64<<20)
		for scanner.Scan() {
			var line puppetLine
			if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
				break
			}
			p.lines <- line
		}
		close(p.lines)
		ended <- cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.in.Close()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Error("the client does not end")
			_ = cmd.Process.Kill()
		}
	})
	return p
}

func (p *puppet) receive() puppetLine {
	p.t.Helper()
	for {
		if line := p.line(); line.News == "" {
			return line
		}
	}
}

// line returns the next line, and records change notifications.
func (p *puppet) line() (line puppetLine) {
	p.t.Helper()
	var ok bool
	select {
	case line, ok = <-p.lines:
		if !ok {
			p.t.Fatalf("the client has ended: %s", p.err.String())
		}
	case <-time.After(patience):
		p.t.Fatal("nothing comes from the client")
	}
	if line.News != "" {
		p.news = append(p.news, line.News)
	}
	return line
}

// hears waits for n change notifications.
func (p *puppet) hears(n int) {
	p.t.Helper()
	for len(p.news) < n {
		line := p.line()
		assert.Assert(p.t, line.News != "", "expected news, got %+v with %s", line, line.Result)
	}
}

func (p *puppet) send(line map[string]any) {
	p.t.Helper()
	text, err := json.Marshal(line)
	if err == nil {
		_, err = p.in.Write(append(text, '\n'))
	}
	if err != nil {
		p.t.Fatalf("%v: %s", err, p.err.String())
	}
}

// begin starts an action of the client, and returns its number.
func (p *puppet) begin(do string, with ...any) int {
	p.t.Helper()
	p.next++
	if with == nil {
		with = []any{}
	}
	p.send(map[string]any{"id": p.next, "do": do, "with": with, "progress": do == "callTool"})
	return p.next
}

// end waits for the end of an action, and skips its progress.
func (p *puppet) end(id int) puppetLine {
	p.t.Helper()
	for {
		line := p.receive()
		if line.ID == id && (line.Result != nil || line.Failed != nil) {
			return line
		}
		assert.Equal(p.t, line.ID, id, "%+v %s", line, line.Question)
		assert.Assert(p.t, line.Progress != nil, "expected the end of %d, got %+v with %s", id, line, line.Question)
	}
}

// do runs an action that must succeed, and decodes its result.
func (p *puppet) do(into any, do string, with ...any) {
	p.t.Helper()
	line := p.end(p.begin(do, with...))
	assert.Assert(p.t, line.Failed == nil, "%s failed: %+v", do, line.Failed)
	p.read(line.Result, into)
}

func (p *puppet) read(from json.RawMessage, into any) {
	p.t.Helper()
	assert.NilError(p.t, json.Unmarshal(from, into), from)
}

// execParams returns a call of one of the app's tools, as params of tools/call.
func execParams(tool string, args map[string]any) map[string]any {
	return map[string]any{"name": "aai_exec", "arguments": map[string]any{"app": exampleApp, "tool": tool, "args": args}}
}

// call runs a tool of the app to its end.
func (p *puppet) call(tool string, args map[string]any) (r toolResult) {
	p.t.Helper()
	p.do(&r, "callTool", execParams(tool, args))
	return r
}

// asked waits for a question of the server, and answers it.
func (p *puppet) asked(method string, say any) (question string) {
	p.t.Helper()
	for {
		line := p.receive()
		if line.Progress != nil {
			continue
		}
		assert.Equal(p.t, line.Method, method, "%+v %s", line, line.Result)
		p.send(map[string]any{"say": say})
		return string(line.Question)
	}
}

// names returns the names in a list.
func names[T any](all []T, name func(T) string) []string {
	found := make([]string, len(all))
	for i, one := range all {
		found[i] = name(one)
	}
	slices.Sort(found)
	return found
}
