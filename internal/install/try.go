package install

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"aai"
)

// patience is how long a server that was just written has for its first answers. Clients
// give it less: Codex ten seconds.
const patience = 20 * time.Second

// Seen is what a server answered.
type Seen struct {
	Command  string
	Server   string
	Version  string
	Protocol string
	Tools    []string
	Took     time.Duration
}

// Try starts what is written in a client's file, as the client does: with a bare environment
// and nothing else, initializes it and lists its tools.
func (r *Room) Try(ctx context.Context, p *Plan) (Seen, error) {
	command, args, err := r.Written(p)
	if err != nil {
		return Seen{}, aai.Errorf(aai.AutomationFailed, "what was written cannot be read back: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	said := new(tail)
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Env, cmd.Dir, cmd.Stderr = r.bare(), r.cfg.Home, said
	began := time.Now()
	seen, err := ask(ctx, cmd)
	if err == nil {
		seen.Command, seen.Took = command, time.Since(began)
		return seen, nil
	}
	e := aai.Errorf(aai.AutomationFailed, "%s does not start as %s starts it: %w", aai.CleanLabel(command, 300), p.Client.Name, err)
	if ctx.Err() != nil {
		e.Message = fmt.Sprintf("%s did not answer within %v, started as %s starts it", aai.CleanLabel(command, 300), patience, p.Client.Name)
	}
	if last := said.last(); last != "" {
		e.Message += ". It said: " + aai.CleanLabel(last, 500)
	}
	e.Hint = fmt.Sprintf("Run it yourself with as little: env -i %s %s %s. \"aai-gateway install --rollback --client %s\" takes the change back.",
		strings.Join(shellWords(r.bare()), " "), command, strings.Join(args, " "), p.Client.ID)
	return Seen{}, e
}

// ask begins a conversation and ends it.
func ask(ctx context.Context, cmd *exec.Cmd) (seen Seen, err error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "aai-gateway-install", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: 3 * time.Second}, nil)
	if err != nil {
		return Seen{}, err
	}
	defer func() { _ = session.Close() }() // it has said what was asked
	begun := session.InitializeResult()
	if begun == nil || begun.ServerInfo == nil {
		return Seen{}, errors.New("it does not say what it is")
	}
	seen = Seen{Server: begun.ServerInfo.Name, Version: begun.ServerInfo.Version, Protocol: begun.ProtocolVersion}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return Seen{}, err
		}
		seen.Tools = append(seen.Tools, tool.Name)
	}
	if len(seen.Tools) == 0 {
		return Seen{}, errors.New("it has no tools")
	}
	return seen, nil
}

// bare is the environment that clients give to servers: the MCP SDKs pass these variables
// on, and no others.
func (r *Room) bare() []string {
	names := []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}
	if r.cfg.System == windows {
		names = []string{"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "PROGRAMFILES"}
	}
	var env []string
	for _, name := range names {
		if value := r.cfg.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// shellWords are words as a shell takes them.
func shellWords(words []string) []string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if strings.ContainsAny(w, " \t\"'$`\\|&;<>()*?[]#~!") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return quoted
}

// A tail keeps the end of what is written to it.
type tail struct {
	lock sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	const most = 4 << 10
	t.lock.Lock()
	defer t.lock.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text) - most; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(p), nil
}

// last is the last line that says something.
func (t *tail) last() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
