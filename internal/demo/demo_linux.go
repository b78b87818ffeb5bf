package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/sampleapp"
)

// NewDemo returns a function that runs the demo and describes its steps on out. A client of the
// official SDK talks to the MCP server over pipes. The function replaces the environment of this
// process.
func NewDemo(cfg Config) func(ctx context.Context, out io.Writer) error {
	return func(ctx context.Context, out io.Writer) (err error) {
		if err := adoptOrphans(); err != nil {
			return aai.Errorf(aai.Internal, "the demo cannot make its programs end with it: %w", err)
		}
		s, err := startSession(ctx, cfg)
		if err != nil {
			return err
		}
		defer func() {
			s.stop()
			endOrphans() // they may still write into the session's folder
			s.remove()
		}()
		site, err := sampleapp.Serve(ctx)
		if err != nil {
			return err
		}
		defer site.Close()
		a, err := connectAgent(ctx, s, out)
		if err != nil {
			return err
		}
		defer a.close()
		for _, step := range []func(context.Context) error{
			a.lookAround, a.calculate, a.notify, a.files, a.music, a.demonstrateWindows(s), a.web(s, site), a.mistakes,
		} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		a.close()
		return a.showRecord(ctx, s)
	}
}

// agent is the demo's MCP client. It prints its calls.
type agent struct {
	session     *mcp.ClientSession
	home        string
	desktop     *privateSession
	served      chan struct{} // closed when the gateway has ended
	out         io.Writer
	screenshots []screenshot
}

// callTimeout is longer than the timeout of any tool.
const callTimeout = time.Minute

func connectAgent(ctx context.Context, s *privateSession, out io.Writer) (*agent, error) {
	a := &agent{desktop: s, home: s.Home, out: out}
	client := mcp.NewClient(&mcp.Implementation{Name: "demo-agent", Version: s.cfg.Version}, &mcp.ClientOptions{ElicitationHandler: a.answerQuestion})
	toServer, fromServer, err := a.serve(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	a.session, err = client.Connect(ctx, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the gateway did not start: %w", err)
	}
	return a, nil
}

func (a *agent) close() {
	if a.session != nil {
		_ = a.session.Close() // the server ends with its input
		<-a.served
		a.session = nil
	}
}

// print writes to the user and ignores write errors.
func (a *agent) print(format string, args ...any) {
	_, _ = fmt.Fprintf(a.out, format, args...)
}

func (a *agent) title(text string) {
	a.print("\n── %s\n", text)
}

func (a *agent) line(mark, text string) {
	for i, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i > 0 && !strings.HasSuffix(mark, "┆") {
			mark = " "
		}
		a.print("  %s %s\n", mark, aai.CleanText(l, 400))
	}
}

// answerQuestion answers a question of the gateway as a user might: permanently and for the entire
// app if offered, else for this session.
func (a *agent) answerQuestion(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	a.print("    the gateway asks the person at this computer:\n")
	a.line("  ┆", req.Params.Message)
	var form struct {
		Properties struct {
			Decision struct {
				Enum      []string `json:"enum"`
				EnumNames []string `json:"enumNames"`
			} `json:"decision"`
		} `json:"properties"`
	}
	if err := remarshal(req.Params.RequestedSchema, &form); err != nil {
		return nil, err
	}
	choices := form.Properties.Decision
	for _, decision := range []string{"all", "session", "once"} {
		if i := slices.Index(choices.Enum, decision); i >= 0 && i < len(choices.EnumNames) {
			a.print("    the person (played by this demo) chooses: %s\n", choices.EnumNames[i])
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision}}, nil
		}
	}
	a.print("    the person (played by this demo) does not know this question, and refuses\n")
	return &mcp.ElicitResult{Action: "decline"}, nil
}

// remarshal converts a decoded JSON value to the type of to.
func remarshal(from, to any) error {
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "the gateway's answer cannot be understood: %w", err)
	}
	return nil
}

// textOf returns the text of a result.
func textOf(result *mcp.CallToolResult) string {
	var texts []string
	for _, c := range result.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// request prints the next call.
func (a *agent) request(name string, args map[string]any) {
	shown := ""
	if len(args) > 0 {
		if b, err := json.Marshal(args); err == nil {
			shown = string(b)
		}
	}
	a.line("→", name+" "+shown)
}

// call calls one MCP tool and prints the request and the answer.
func (a *agent) call(ctx context.Context, name string, args map[string]any, show func(string) string) (*mcp.CallToolResult, error) {
	a.request(name, args)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	result, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the gateway did not answer %s: %w", name, err)
	}
	mark := "←"
	if result.IsError {
		mark = "✗"
	}
	answer := textOf(result)
	if !result.IsError {
		answer = show(answer)
	}
	a.line(mark, answer)
	if command := a.consentCommand(result); command != nil {
		if err := a.runCommand(ctx, command); err != nil {
			return nil, err
		}
		return a.call(ctx, name, args, show)
	}
	return result, nil
}

func fullText(s string) string { return s }

// firstLines returns the first lines of a long text.
func firstLines(s string) string {
	lines := strings.SplitAfter(s, "\n")
	if len(lines) > 24 {
		return strings.Join(lines[:24], "") + fmt.Sprintf("… and %d more lines", len(lines)-24)
	}
	return s
}

// exec runs a tool of an app; the demo ends if it fails.
func (a *agent) exec(ctx context.Context, app, tool string, args map[string]any) error {
	call := map[string]any{"app": app, "tool": tool}
	if len(args) > 0 {
		call["args"] = args
	}
	result, err := a.call(ctx, "aai_exec", call, fullText)
	if err == nil && result.IsError {
		err = aai.Errorf(aai.AutomationFailed, "%s of %s failed", tool, app)
	}
	return err
}

func (a *agent) lookAround(ctx context.Context) error {
	a.title("What apps are there?")
	a.line("→", "tools/list")
	listing, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := a.session.ListTools(listing, nil)
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "the gateway did not list its tools: %w", err)
	}
	var forWindows []string
	for _, tool := range list.Tools {
		if strings.HasPrefix(tool.Name, "ax_") {
			forWindows = append(forWindows, tool.Name)
			continue
		}
		a.line("←", tool.Name+": "+tool.Description)
	}
	a.line("←", fmt.Sprintf("and %d tools for the windows of any program: %s", len(forWindows), strings.Join(forWindows, ", ")))
	a.title("How is the calculator used?")
	_, err = a.call(ctx, "app_org_gnome_Calculator", nil, firstLines)
	return err
}

func (a *agent) calculate(ctx context.Context) error {
	a.title("GNOME Calculator computes; D-Bus starts it, no window opens")
	return a.exec(ctx, "org.gnome.Calculator", "calculate", map[string]any{"results": []string{"2^64/3"}})
}

func (a *agent) notify(ctx context.Context) error {
	a.title("Dunst shows a notification")
	return a.exec(ctx, "org.freedesktop.Notifications", "notify",
		map[string]any{"summary": "Hello from an agent", "body": "2^64/3 is computed.", "expire_timeout": 0})
}

func (a *agent) files(ctx context.Context) error {
	a.title("Thunar shows a folder")
	return a.exec(ctx, "org.xfce.Thunar", "show_folders", map[string]any{"URIs": []string{"file://" + filepath.Join(a.home, "Documents")}})
}

func (a *agent) music(ctx context.Context) error {
	const mpv = "io.mpv.Mpv"
	a.title("mpv plays, at half the volume")
	if err := a.exec(ctx, mpv, "set_volume", map[string]any{"value": 0.5}); err != nil {
		return err
	}
	if err := a.waitForText(ctx, mpv, "volume", "0.5"); err != nil {
		return err
	}
	if err := a.exec(ctx, mpv, "play", nil); err != nil {
		return err
	}
	return a.waitForText(ctx, mpv, "status", "Playing")
}

// waitForText polls until the tool returns the text: mpv answers before it acts.
func (a *agent) waitForText(ctx context.Context, app, tool, want string) error {
	for range 20 {
		result, err := a.call(ctx, "aai_exec", map[string]any{"app": app, "tool": tool}, fullText)
		if err != nil {
			return err
		}
		if strings.TrimSpace(textOf(result)) == want {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	return aai.Errorf(aai.AutomationFailed, "%s of %s did not become %s", tool, app, want)
}

// mistakes shows that errors name the next step.
func (a *agent) mistakes(ctx context.Context) error {
	a.title("What if the agent is wrong?")
	for _, call := range []map[string]any{
		{"app": "org.gnome.Calculator", "tool": "calcluate", "args": map[string]any{}},
		{"app": "io.mpv.Mpv", "tool": "set_volume", "args": map[string]any{"value": "loud"}},
	} {
		if _, err := a.call(ctx, "aai_exec", call, fullText); err != nil {
			return err
		}
	}
	return nil
}

// showRecord shows the gateway's records, and the screen.
func (a *agent) showRecord(ctx context.Context, s *privateSession) error {
	a.title("What is on record? (aai-gateway history)")
	b, err := s.gateway(ctx, "history", "--limit", "200", "--format", "json")
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "the history cannot be read: %w", err)
	}
	var calls []struct{ App, Target, Tool, Effect, Consent, Result string }
	if err := json.Unmarshal([]byte(b), &calls); err != nil {
		return aai.Errorf(aai.AutomationFailed, "the history cannot be understood: %w", err)
	}
	for _, c := range calls {
		a.line("·", fmt.Sprintf("%-18s %-30s %-14s %-8s %s", c.Result, cmp.Or(c.Target, c.App), c.Tool, c.Effect, c.Consent))
	}
	picture, err := s.screenshot()
	if err != nil {
		return err
	}
	pages := 0
	if hasBrowser() {
		shown, err := s.takePagePictures(ctx)
		if err != nil {
			return err
		}
		a.screenshots, pages = append(a.screenshots, shown...), len(shown)
	}
	files, err := a.writeScreenshots()
	if err != nil {
		return err
	}
	windows := len(files) - pages
	if pages > 0 {
		a.print("\nThe page, invisible to agents: %s", strings.Join(files[windows:], " "))
	}
	a.print("\nWindows as the agent saw them: %s\nThe desktop at the end: %s\n", strings.Join(files[:windows], " "), picture)
	return nil
}
