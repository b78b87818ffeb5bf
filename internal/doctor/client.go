package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients/mcpprobe"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// bareEnvironment returns the environment of a client that passes on only the variables that programs need: HOME and
// PATH, on Windows the variables that the SDKs of the protocol pass on.
func (d *Doctor) bareEnvironment() []string {
	if runtime.GOOS != "windows" {
		return []string{"HOME=" + d.cfg.Home, "PATH=" + d.cfg.Getenv("PATH")}
	}
	environ := []string{"USERPROFILE=" + d.cfg.Home}
	for _, name := range []string{"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME"} {
		if value := d.cfg.Getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	return environ
}

// bareCommand returns the command that runs this program as such a client does, for the person.
func (d *Doctor) bareCommand(word string) string {
	command := sanitize.ShellJoin(d.cfg.Executable, word)
	if runtime.GOOS == "windows" {
		return "& " + command // PowerShell; the variables are in every process there
	}
	return "env -i " + sanitize.ShellJoin(d.bareEnvironment()...) + " " + command
}

// client starts this program with HOME and PATH alone, as some clients do, and lists its tools.
// It compares the session variables found there with those found here.
func (d *Doctor) client(ctx context.Context, f *Finding) {
	if d.cfg.ConfigError != nil {
		f.setSkipped("it needs valid settings; see configuration")
		return
	}
	tools, err := d.listTools(ctx)
	if err != nil {
		f.setBroken("it does not serve: "+err.Error(), "This command shows its startup messages:",
			d.bareCommand("apps"))
		return
	}
	f.setOK("it lists %s", aai.Count(tools, "tool"))
	there, err := d.facts.gatewayCheck()
	if err != nil {
		return // another examination reports it
	}
	alone, err := d.checkBare(ctx)
	if err != nil {
		f.setBroken("it lists its tools, and its check fails: "+err.Error(), "This command shows its messages:",
			d.bareCommand("check"))
		return
	}
	if lost := missingVariables(alone, there); len(lost) > 0 {
		d.suggestForBareClient(ctx, f, there, lost)
	}
}

// missingVariables returns the session variables in there that are missing in alone. A cookie
// counts only with its display, and options after a bus's path do not count.
func missingVariables(alone, there gatewayCheck) []string {
	var lost []string
	for _, name := range []string{"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"} {
		known, _, _ := strings.Cut(there.value(name), ",")
		found, _, _ := strings.Cut(alone.value(name), ",")
		if known != "" && strings.TrimSuffix(found, ".0") != strings.TrimSuffix(known, ".0") {
			lost = append(lost, name)
		}
	}
	if slices.Contains(lost, "DISPLAY") && there.value("XAUTHORITY") != "" {
		lost = append(lost, "XAUTHORITY")
	}
	return lost
}

// checkBare returns the result of the check command in a bare environment.
func (d *Doctor) checkBare(ctx context.Context) (gatewayCheck, error) {
	cmd := exec.CommandContext(ctx, d.cfg.Executable, "check", "--format", "json")
	cmd.Env, cmd.WaitDelay = d.bareEnvironment(), time.Second
	out, err := cmd.Output()
	var answer struct{ Result gatewayCheck }
	if bad := json.Unmarshal(out, &answer); bad != nil {
		if err == nil {
			err = bad
		}
		return gatewayCheck{}, err
	}
	return answer.Result, nil // the exit code repeats the result
}

// listTools returns the number of tools listed for an agent.
func (d *Doctor) listTools(ctx context.Context) (int, error) {
	cmd := exec.CommandContext(ctx, d.cfg.Executable)
	cmd.Env, cmd.WaitDelay = d.bareEnvironment(), time.Second
	server, said, err := mcpprobe.Run(ctx, cmd)
	if err != nil && said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return len(server.Tools), err
}
