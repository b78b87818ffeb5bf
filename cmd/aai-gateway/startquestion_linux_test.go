package main_test

import (
	"bufio"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// startDev starts the gateway with --dev as this test's process, lists the tools, and leaves after the gateway has
// reported the words, or after the list if there are none. It returns the report.
func startDev(t *testing.T, v *victim, words string, env ...string) string {
	t.Helper()
	cmd := v.command(t.Context(), "--dev")
	cmd.Env = append(slices.Clone(v.env), env...)
	in, noIn := cmd.StdinPipe()
	out, noOut := cmd.StdoutPipe()
	report, noReport := cmd.StderrPipe()
	assert.NilError(t, noIn)
	assert.NilError(t, noOut)
	assert.NilError(t, noReport)
	assert.NilError(t, cmd.Start())
	_, err := io.WriteString(in, `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
		"capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}`+"\n"+
		`{"jsonrpc": "2.0", "method": "notifications/initialized"}`+"\n"+`{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}`+"\n")
	assert.NilError(t, err)
	answers := bufio.NewReader(out)
	for range 2 {
		_, err := answers.ReadString('\n')
		assert.NilError(t, err)
	}
	go func() { _, _ = io.Copy(io.Discard, answers) }()
	var said strings.Builder
	for lines := bufio.NewScanner(report); ; {
		if strings.Contains(said.String(), words) {
			_ = in.Close()
		}
		if !lines.Scan() {
			break
		}
		said.WriteString(lines.Text() + "\n")
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, said.String())
	}
	return said.String()
}

// TestDevOfAClient checks that the first start by a client with --dev in its configuration asks the person, that the
// answer yes holds for this client alone, and that without an answer the gateway names the command that confirms.
func TestDevOfAClient(t *testing.T) {
	const unconfirmed = ": dev does not hold, since nobody has confirmed it; run: aai-gateway --dev consent confirm"
	v := newVictim(t)
	v.write(t, "key", strings.Repeat("0123456789abcdef", 4))
	v.env = append(v.env, "AAI_MASTER_KEY_FILE="+filepath.Join(v.folder, "key"))
	said := startDev(t, v, "")
	assert.Check(t, is.Contains(said, unconfirmed), "without a person: %s", said)
	said = startDev(t, v, "--dev is confirmed and holds from the next start", "PERSON=yes")
	assert.Check(t, is.Contains(said, unconfirmed), "the first start has dev already: %s", said)
	said = startDev(t, v, "")
	assert.Check(t, !strings.Contains(said, "does not hold"), "the next start: %s", said)
	_, said = v.run(nil, "--dev", "apps")
	assert.Check(t, is.Contains(said, "--dev"+unconfirmed), "a command has dev by the confirmation for a client: %s", said)
	past := v.journal(t)
	assert.Check(t, past[len(past)-1].consent != "", "on record: %+v", past)
}
