package demo

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// setEnvironment sets this process's environment to the session's, which the gateway's programs
// inherit. It is not restored.
func (s *privateSession) setEnvironment() error {
	os.Clearenv()
	for _, variable := range s.Env {
		name, value, _ := strings.Cut(variable, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command of the gateway in the demo's own process.
func (s *privateSession) run(ctx context.Context, in io.Reader, out, said io.Writer, args ...string) int {
	return s.cfg.RunGateway(ctx, Home{Folder: s.Home, Passphrase: s.passphrase}, in, out, said, args...)
}

// gateway runs a short command of the gateway and returns its output.
func (s *privateSession) gateway(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var out, said bytes.Buffer
	if code := s.run(ctx, strings.NewReader(""), &out, &said, args...); code != 0 {
		return "", aai.Errorf(aai.AutomationFailed, "aai-gateway %s ended with %d: %s", strings.Join(args, " "), code, aai.CleanLabel(said.String(), 400))
	}
	return out.String(), nil
}

// serve starts the gateway for the agent. The gateway ends with its input.
func (a *agent) serve(ctx context.Context) (to io.WriteCloser, from io.ReadCloser, err error) {
	in, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	from, out, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	a.served = make(chan struct{})
	go func() {
		defer close(a.served)
		if code := a.desktop.run(ctx, in, out, os.Stderr, "mcp", "serve", "--profile", "all", "--log-level", "error"); code != 0 {
			_, _ = fmt.Fprintf(os.Stderr, "the gateway ended with %d\n", code)
		}
		_ = out.Close()
		_ = in.Close()
	}()
	return to, from, nil
}

// adoptOrphans makes this program the parent of orphaned descendants (prctl(2),
// PR_SET_CHILD_SUBREAPER): an agent's programs outlive the gateway, but must not outlive the demo.
func adoptOrphans() error {
	const setChildSubreaper = 36
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
		return errno
	}
	return nil
}

// endOrphans kills all children of this program. Children of killed processes become its children
// too.
func endOrphans() {
	for until := time.Now().Add(startTimeout); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		children := childrenOf(os.Getpid())
		if len(children) == 0 {
			return
		}
		for _, child := range children {
			_ = syscall.Kill(child, syscall.SIGKILL)
			_, _ = syscall.Wait4(child, nil, syscall.WNOHANG, nil)
		}
	}
}

// childrenOf lists the processes with the given parent (proc(5)).
func childrenOf(parent int) []int {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	var children []int
	for _, stat := range stats {
		b, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, may hold anything; state and parent follow it.
		fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(fields) < 2 || string(fields[1]) != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat))); err == nil {
			children = append(children, pid)
		}
	}
	return children
}

// files are a web page, and the look of the demo's screen.
//
//go:embed files
var files embed.FS

func file(name string) []byte {
	b, err := files.ReadFile("files/" + name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return b
}

// consentCommand returns the command that grants the consent a call lacked, or nil. A client
// cannot ask for consent to irreversible acts, and the demo's screen has no user for a dialog. So
// the simulated user grants it at a terminal.
func (a *agent) consentCommand(result *mcp.CallToolResult) []string {
	var refusal struct {
		Type  aai.Code `json:"type"`
		AppID string   `json:"app_id"`
		Tool  string   `json:"tool"`
		Hint  string   `json:"suggestion"` // names the agent's identity
	}
	if !result.IsError || remarshal(result.StructuredContent, &refusal) != nil || refusal.Type != aai.ConsentRequired {
		return nil
	}
	command := []string{"consent", "grant", refusal.AppID}
	switch {
	case refusal.Tool == aai.PermissionAct:
		command = append(command, aai.PermissionSee, aai.PermissionAct)
	case strings.HasPrefix(refusal.AppID, aai.DesktopApp):
		command = append(command, refusal.Tool)
	default:
		command = append(command, "--all")
	}
	_, who, _ := strings.Cut(refusal.Hint, " --identity ")
	return append(command, "--caller", "mcp:demo-agent", "--identity", strings.Trim(who, "'"))
}

// runCommand runs a command of this program as the user would at a terminal.
func (a *agent) runCommand(ctx context.Context, command []string) error {
	a.print("    the person (played by this demo) types: aai-gateway %s, and their passphrase\n", strings.Join(command, " "))
	_, err := a.desktop.gateway(ctx, command...)
	return err
}
