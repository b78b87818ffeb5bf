package install

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"aai"
	"aai/internal/greet"
	"aai/internal/hygiene"
)

// patience is how long a server that was just written has for its first answers. Clients
// give it less: Codex ten seconds.
const patience = 20 * time.Second

// Seen is what a server answered that a client's file names.
type Seen struct {
	greet.Server
	Command string
	Took    time.Duration
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
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Env, cmd.Dir = r.bare(), r.cfg.Home
	began := time.Now()
	server, said, err := greet.Greet(ctx, cmd)
	if err == nil {
		return Seen{Server: server, Command: command, Took: time.Since(began)}, nil
	}
	e := aai.Errorf(aai.AutomationFailed, "%s does not start as %s starts it: %w", aai.CleanLabel(command, 300), p.Client.Name, err)
	if ctx.Err() != nil {
		e.Message = fmt.Sprintf("%s did not answer within %v, started as %s starts it", aai.CleanLabel(command, 300), patience, p.Client.Name)
	}
	if said != "" {
		e.Message += ". It said: " + aai.CleanLabel(said, 500)
	}
	e.Hint = fmt.Sprintf("Run it yourself with as little: env -i %s %s %s. \"aai-gateway install --rollback --client %s\" takes the change back.",
		hygiene.ShellWords(r.bare()...), hygiene.ShellWords(command), hygiene.ShellWords(args...), p.Client.ID)
	return Seen{}, e
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
		value := r.cfg.Getenv(name)
		if name == "PATH" && len(r.cfg.Launch) > 1 {
			value = withoutNPX(value)
		}
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}
