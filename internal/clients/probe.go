package clients

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients/mcpprobe"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// probeTimeout is how long a server that was just written has for its first answers. Clients
// give it less: Codex ten seconds.
const probeTimeout = 20 * time.Second

// ProbeResult is what a server answered that a client's file names.
type ProbeResult struct {
	mcpprobe.Server
	Command string
	Took    time.Duration
}

// Probe starts what is written in a client's file, as the client does: with a bare environment
// and nothing else, initializes it and lists its tools.
func (r *Installer) Probe(ctx context.Context, p *Plan) (ProbeResult, error) {
	command, args, err := r.WrittenCommand(p)
	if err != nil {
		return ProbeResult{}, aai.Errorf(aai.AutomationFailed, "what was written cannot be read back: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Env, cmd.Dir = r.minimalEnv(), r.cfg.Home
	began := time.Now()
	server, said, err := mcpprobe.Run(ctx, cmd)
	if err == nil {
		return ProbeResult{Server: server, Command: command, Took: time.Since(began)}, nil
	}
	e := aai.Errorf(aai.AutomationFailed, "%s does not start as %s starts it: %w", aai.CleanLabel(command, 300), p.Client.Name, err)
	if ctx.Err() != nil {
		e.Message = fmt.Sprintf("%s did not answer within %v, started as %s starts it", aai.CleanLabel(command, 300), probeTimeout, p.Client.Name)
	}
	if said != "" {
		e.Message += ". It said: " + aai.CleanLabel(said, 500)
	}
	e.Hint = fmt.Sprintf("Run it yourself with as little: env -i %s %s %s. \"aai-gateway install --rollback --client %s\" takes the change back.",
		sanitize.ShellJoin(r.minimalEnv()...), sanitize.ShellJoin(command), sanitize.ShellJoin(args...), p.Client.ID)
	return ProbeResult{}, e
}

// minimalEnv is the environment that clients give to servers: the MCP SDKs pass these variables
// on, and no others.
func (r *Installer) minimalEnv() []string {
	names := []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}
	if r.cfg.System == windows {
		names = []string{"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "PROGRAMFILES"}
	}
	var env []string
	for _, name := range names {
		value := r.cfg.Getenv(name)
		if name == "PATH" && len(r.cfg.LaunchCommand) > 1 {
			value = withoutNPX(value)
		}
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}
