package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// A client that is gone has closed one end or both, as a killed one does. Its active calls end in
// the journal, and the program ends.
func mcpClientThatIsGone(t *testing.T, b programPath) {
	const calls = 8
	for name, leave := range map[string]func(p *process){
		"both ends":        func(p *process) { _ = p.in.Close(); _ = p.out.Close() },
		"output first":     func(p *process) { _ = p.out.Close(); _ = p.in.Close() },
		"the output alone": func(p *process) { _ = p.out.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			bus := testkit.StartBus(t)
			app := testkit.ServeOnBus(t, bus, exampleApp)
			h := b.home(t, bus)
			p := h.start(t).open()
			for range calls {
				p.request("tools/call", runTool(exampleApp, "block", `{}`))
			}
			app.WaitBlocked(calls)
			leave(p)
			_, err := p.end()
			assert.Check(t, err == nil || p.cmd.ProcessState.Exited(), "the program was ended: %v", err)
			_ = p.in.Close()
			past := h.journal(t)
			assert.Check(t, is.Len(past, calls), "%d calls are on record", len(past))
			for _, c := range past {
				assert.Check(t, is.Equal(c.result, "AUTOMATION_FAILED"), "%+v", c)
				assert.Check(t, is.Equal(c.delivery, "unknown"), "%+v", c)
			}
		})
	}
}

// A client that closes only its input still gets the results of its calls, and then the program
// ends; if it stops reading meanwhile, the program ends at once.
func mcpClientThatStopsReadingAfterItsInput(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	h := b.home(t, bus)
	p := h.start(t).open()
	p.request("tools/call", runTool(exampleApp, "block", `{}`))
	app.WaitBlocked(1)
	_ = p.in.Close()
	select {
	case err := <-p.ended:
		t.Fatalf("the program ended with a call under way: %v", err)
	case <-time.After(time.Second):
	}
	_ = p.out.Close()
	_, err := p.end()
	assert.Check(t, err == nil || p.cmd.ProcessState.Exited(), "the program was ended: %v", err)
	h.expectJournal(t, "org.example.App block AUTOMATION_FAILED")
}

// A log without a reader ends nothing.
func mcpLogThatNobodyReads(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	testkit.ServeOnBus(t, bus, exampleApp)
	h := b.home(t, bus)
	h.write(t, ".aai/broken/aai.json", "nonsense") // it causes a log message
	h.env = append(h.env, "AAI_LOG_LEVEL=debug")
	read, write, err := os.Pipe()
	assert.NilError(t, err)
	_ = read.Close()
	cmd := exec.CommandContext(t.Context(), string(b))
	cmd.Env, cmd.Stderr = h.env, write
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + runTool(exampleApp, "echo", `{"v":"x"}`) + `}`)
	var out bytes.Buffer
	cmd.Stdout = &out
	err = cmd.Run()
	assert.Check(t, err, "the program ended with %v", err)
	_ = write.Close()
	assert.Check(t, strings.Count(out.String(), "\n") >= 2, "it said %s", out.String())
	h.expectJournal(t, "org.example.App echo ok")
}
