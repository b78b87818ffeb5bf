package doctor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// bare is the environment of a client that passes on nothing of the session.
func (d *Doctor) bare() []string {
	return []string{"HOME=" + d.cfg.Home, "PATH=" + d.cfg.Getenv("PATH")}
}

// client starts this program as an agent's client does that passes on HOME and PATH alone,
// has it list its tools, and compares what it finds of the session with what is found here.
func (d *Doctor) client(ctx context.Context, f *Finding) {
	f.Did = "started " + d.short(d.cfg.Self) + " with HOME and PATH alone, as some clients do"
	if d.cfg.Configured != nil {
		f.skip("it starts with the settings, see there")
		return
	}
	tools, err := d.listTools(ctx)
	if err != nil {
		f.broken("it does not serve: "+err.Error(), "What it says when it starts is shown by:", strings.Join(append([]string{"env", "-i"}, quotedAll(append(d.bare(), d.cfg.Self, "apps"))...), " "))
		return
	}
	f.well("it lists %s", count(tools, "tool"))
	there, err := d.facts.check()
	if err != nil {
		return // said elsewhere
	}
	alone, err := d.checkAlone(ctx)
	if err != nil {
		f.broken("it lists its tools, and its check fails: "+err.Error(), "What it says is shown by:", strings.Join(append([]string{"env", "-i"}, quotedAll(append(d.bare(), d.cfg.Self, "check"))...), " "))
		return
	}
	if lost := lostIn(alone, there); len(lost) > 0 {
		d.forgetful(ctx, f, there, lost)
	}
}

// lostIn are the variables of the session that are known there and not to one that is
// alone. A cookie counts only with its screen, and what follows a bus's path not at all.
func lostIn(alone, there checked) []string {
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

func quotedAll(words []string) []string {
	all := slices.Clone(words)
	for i := range all {
		all[i] = quoted(all[i])
	}
	return all
}

// checkAlone is what the check of a program says that was started so.
func (d *Doctor) checkAlone(ctx context.Context) (checked, error) {
	cmd := exec.CommandContext(ctx, d.cfg.Self, "check", "--format", "json")
	cmd.Env, cmd.WaitDelay = d.bare(), time.Second
	out, err := cmd.Output()
	var answer struct{ Result checked }
	if bad := json.Unmarshal(out, &answer); bad != nil {
		if err == nil {
			err = bad
		}
		return checked{}, err
	}
	return answer.Result, nil // its exit code says again what it says
}

// listTools counts the tools that an agent is offered.
func (d *Doctor) listTools(ctx context.Context) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // it ends the program
	cmd := exec.CommandContext(ctx, d.cfg.Self)
	var said bytes.Buffer
	cmd.Env, cmd.Stderr, cmd.WaitDelay = d.bare(), &said, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, err = fmt.Fprintln(in, strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"doctor","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	}, "\n"))
	tools := -1
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16*megabyte)
	for err == nil && tools < 0 && lines.Scan() {
		var message struct {
			ID     int
			Result struct{ Tools []json.RawMessage }
			Error  *struct{ Message string }
		}
		if json.Unmarshal(lines.Bytes(), &message) != nil || message.ID != 2 {
			continue
		}
		if message.Error != nil {
			err = fmt.Errorf("tools/list: %s", message.Error.Message)
		}
		tools = len(message.Result.Tools)
	}
	_ = in.Close() // it ends when nobody speaks to it any more
	ended := cmd.Wait()
	switch {
	case err != nil:
		return 0, err
	case tools < 0:
		return 0, fmt.Errorf("no answer: %w: %s", ended, firstLines(said.String()))
	}
	return tools, nil
}

// firstLines is the beginning of what a program said.
func firstLines(s string) string {
	s = strings.TrimSpace(s)
	return s[:min(len(s), 300)]
}
