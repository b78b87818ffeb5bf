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

// probeTimeout limits the first answers of a newly installed server. Clients allow less: Codex
// ten seconds.
const probeTimeout = 20 * time.Second

// ProbeResult describes a server that [Installer.Probe] started: its answers, its command and the time taken.
type ProbeResult struct {
	mcpprobe.Server
	Command string
	Took    time.Duration
}

// Probe starts the entry in a client's file as the client does, in a minimal environment,
// initializes the server and lists its tools.
func (r *Installer) Probe(ctx context.Context, p *Plan) (ProbeResult, error) {
	command, args, err := r.WrittenCommand(p)
	if err != nil {
		return ProbeResult{}, aai.Errorf(aai.AutomationFailed, "the written file cannot be read back: %w", err)
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
	e := aai.Errorf(aai.AutomationFailed, "%s does not start as %s starts it: %w", aai.CleanLabel(command, 300),
		p.Client.Name, err)
	if ctx.Err() != nil {
		e.Message = fmt.Sprintf("%s did not answer within %v, started as %s starts it", aai.CleanLabel(command, 300),
			probeTimeout, p.Client.Name)
	}
	if said != "" {
		e.Message += ". Its output: " + aai.CleanLabel(said, 500)
	}
	e.Hint = fmt.Sprintf("Run it yourself with as little: env -i %s %s %s. \"aai-gateway install --rollback --client "+
		"%s\" undoes the change.",
		sanitize.ShellJoin(r.minimalEnv()...), sanitize.ShellJoin(command), sanitize.ShellJoin(args...), p.Client.ID)
	return ProbeResult{}, e
}

// minimalEnv returns the environment that clients give to servers: the MCP SDKs pass on only
// these variables.
func (r *Installer) minimalEnv() []string {
	names := []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}
	if r.cfg.System == windows {
		names = []string{"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE",
			"SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "PROGRAMFILES"}
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
