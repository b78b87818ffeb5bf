package main_test

import (
	"context"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// mcpSocketActivation: systemd opens the socket, and starts the program for the first client,
// which it serves. Then it ends on request.
func mcpSocketActivation(t *testing.T, b programPath) {
	h := b.home(t, nil)
	activate := func(ctx context.Context, sockets []string, args ...string) *exec.Cmd {
		before := []string{}
		for _, s := range sockets {
			before = append(before, "--listen="+s)
		}
		for _, v := range h.env {
			before = append(before, "--setenv="+v)
		}
		cmd := exec.CommandContext(ctx, "systemd-socket-activate", append(append(before, string(b), "mcp", "serve", "--http"), args...)...)
		cmd.Env = h.env
		return cmd
	}
	free := func(host string) string {
		t.Helper()
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", host+":0")
		assert.NilError(t, err)
		defer l.Close() //nolint:errcheck // another process listens there next
		return l.Addr().String()
	}
	arrive := func(address string) {
		t.Helper()
		for {
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
			if err == nil {
				_ = c.Close()
				return
			}
			assert.NilError(t, t.Context().Err(), err)
			time.Sleep(5 * time.Millisecond)
		}
	}

	token, err := h.command(t.Context(), "mcp", "token").Output()
	assert.NilError(t, err)
	address := free("127.0.0.1")
	s := &httpProgram{url: "http://" + address + "/mcp", token: strings.TrimSpace(string(token)), ended: make(chan error, 1)}
	// A port in the arguments is ignored.
	s.cmd = activate(context.WithoutCancel(t.Context()), []string{address}, "--port", "1")
	assert.NilError(t, s.cmd.Start())
	go func() { s.ended <- s.cmd.Wait(); close(s.ended) }()
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); <-s.ended })
	arrive(address)
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		tools, err := s.connect(t, version).ListTools(t.Context(), nil)
		assert.NilError(t, err, "%s %+v", version, tools)
		assert.Assert(t, len(tools.Tools) != 0, "%s: the tools are %+v, %v", version, tools, err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil { // the program is the same process now
		t.Fatal(err)
	}
	select {
	case err := <-s.ended:
		assert.Check(t, err, "the program ended with %v", err)
	case <-time.After(patience):
		t.Fatal("the program does not end")
	}

	// The socket decides, not the configuration: others can reach this one.
	for _, c := range []struct {
		sockets []string
		args    []string
		says    string
	}{
		{[]string{free("0.0.0.0")}, []string{"--http-auth", "none"}, "other computers can reach"},
		{[]string{free("127.0.0.1"), free("127.0.0.1")}, nil, "systemd has passed 2 sockets; expected one, of TCP"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := activate(ctx, c.sockets, c.args...)
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &said
		assert.NilError(t, cmd.Start())
		arrive(c.sockets[0])
		err := cmd.Wait()
		assert.Assert(t, err != nil, "%q %v", c.sockets, err)
		assert.Assert(t, is.Contains(said.String(), c.says), "%q %v", c.sockets, err)
		cancel()
	}
}
