package main_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// sdkServer is an MCP server as an app: a process of a third-party SDK, over standard input and
// output.
type sdkServer struct {
	process *exec.Cmd
	session *mcp.ClientSession
}

func startChild(t *testing.T) *sdkServer {
	t.Helper()
	sdks, err := filepath.Abs("../../.cache/sdks")
	assert.NilError(t, err)
	c := &sdkServer{process: exec.Command("node", "testdata/sdks/server.mjs", sdks)}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	c.session, err = client.Connect(t.Context(), &mcp.CommandTransport{Command: c.process}, nil)
	assert.NilError(t, err)
	t.Cleanup(func() {
		c.signal(t, syscall.SIGCONT)
		_ = c.session.Close()
	})
	return c
}

func (c *sdkServer) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	assert.Check(t, c.process.Process.Signal(s))
}

// app returns the server as an app of the gateway.
func (c *sdkServer) app(id string) *aai.App {
	run := func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		said, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: call.Args})
		if err != nil {
			return nil, err
		}
		text, _ := said.Content[0].(*mcp.TextContent)
		return &aai.Result{Text: text.Text}, nil
	}
	return &aai.App{ID: id, Digest: "d", Tools: []*aai.Tool{{Name: "echo", Effect: aai.Reads, Params: aai.Schema{Check: func(v any) (any, error) { return v, nil }}, Limits: aai.Limits{Timeout: 3 * time.Second}, Run: run}}}
}

// sdkServers is a catalog of them.
type sdkServers struct{ apps []*aai.App }

func (c sdkServers) Apps() []*aai.App              { return c.apps }
func (c sdkServers) OnChange(func()) (stop func()) { return func() {} }
func (c sdkServers) Find(_ context.Context, name string) (*aai.App, error) {
	for _, app := range c.apps {
		if app.ID == name {
			return app, nil
		}
	}
	return nil, aai.Errorf(aai.AppNotFound, "there is no %s", name)
}

// discardingJournal is a journal that discards its entries.
type discardingJournal struct{}

func (discardingJournal) Record(context.Context, *aai.Entry) error { return nil }

// TestHungChild: three hundred calls to a stopped MCP server do not affect the same caller's calls
// to another one, with the program's limits; when it continues, it works again.
func TestHungChild(t *testing.T) {
	hung, well := startChild(t), startChild(t)
	g := &gateway.Gateway{
		Catalog: sdkServers{[]*aai.App{hung.app("hung"), well.app("well")}},
		Gates:   []aai.Gate{policy.NewLimits(policy.DefaultLimits())},
		Journal: discardingJournal{},
	}
	echo := func(app string) error {
		result, err := g.Do(t.Context(), &aai.Call{
			Caller: aai.Caller{Door: aai.DoorMCP, Name: "agent"}, App: app, Tool: "echo", Args: map[string]any{"text": "hello"},
		})
		if err == nil && result.Text != "hello" {
			t.Errorf("%s answered %q", app, result.Text)
		}
		return err
	}
	assert.NilError(t, echo("hung"))
	hung.signal(t, syscall.SIGSTOP)
	var all sync.WaitGroup
	full := make(chan struct{}) // the caller's limit of concurrent calls is reached
	isFull := sync.OnceFunc(func() { close(full) })
	for range 300 {
		all.Go(func() {
			err := aai.AsError(echo("hung"))
			if err == nil {
				t.Error("what is stopped has answered")
				return
			}
			switch err.Code {
			case aai.RateLimited:
				isFull()
			case aai.Timeout:
			default:
				t.Error(err)
			}
		})
	}
	<-full
	for range 50 {
		err := echo("well")
		assert.Check(t, err, "a call to another server: %v", err)
	}
	all.Wait()
	for range 10 {
		err := echo("well")
		assert.Check(t, err, "a call to another server, afterwards: %v", err)
	}
	hung.signal(t, syscall.SIGCONT)
	for begun := time.Now(); echo("hung") != nil; time.Sleep(100 * time.Millisecond) {
		if time.Since(begun) > 2*time.Minute {
			t.Fatal("it goes on, but is used no more: ", echo("hung"))
		}
	}
}
