package main_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

func mcpEventsInHardCases(t *testing.T, b programPath) {
	t.Run("lost", func(t *testing.T) { mcpEventsLost(t, b) })
	t.Run("flood", func(t *testing.T) { mcpEventsFlood(t, b) })
}

// mcpEventsLost: a follower learns that the accessibility bus was restarted, and that its program was killed.
func mcpEventsLost(t *testing.T, b programPath) {
	desk := linuxtest.StartAccessible(t)
	program := desk.Changer(t)
	h := b.home(t, nil)
	h.env = append(slices.Clone(desk.Env), "HOME="+h.folder)
	h.write(t, ".aai/config.json", followConfig)
	p := h.start(t).open()
	uri := "axterminator://app/" + strconv.Itoa(program.PID) + "/events"
	p.ask("resources/subscribe", fmt.Sprintf(`{"uri":%q}`, uri))
	desk.RestartA11y(t)
	p.awaitUpdate(uri)
	p.readUntil(uri, `\"type\":\"events_lost\"`)
	assert.NilError(t, syscall.Kill(program.PID, syscall.SIGKILL))
	p.awaitUpdate(uri)
	p.readUntil(uri, `\"type\":\"program_ended\"`)
	p.hangUp()
}

// floodSize is the number of signals of a flood, and maxFloodMemory bounds the gateway's memory after it, in KiB.
const (
	floodSize      = 50_000
	maxFloodMemory = 400 << 10
)

// mcpEventsFlood: a service that sends signals as fast as it can hangs nothing, and a reader learns that events are missing.
func mcpEventsFlood(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	h := b.home(t, bus)
	h.write(t, ".aai/org.example.App/aai.json", eventfulDescriptor)
	h.allow(t, exampleApp, "events")
	p := h.start(t).open()
	p.ask("resources/subscribe", `{"uri":"app:org.example.App/events"}`)
	for n := range floodSize {
		assert.NilError(t, app.Conn.Emit(testkit.ServicePath, testkit.ServiceInterface+".Added", int32(n), "Milk"))
	}
	p.awaitUpdate("app:org.example.App/events")
	text := p.readUntil("app:org.example.App/events", fmt.Sprintf(`\"id\":%d,`, floodSize-1))
	assert.Check(t, strings.Contains(text, fmt.Sprintf(`\"last\":%d,`, floodSize)) || strings.Contains(text, `events_lost`), "events are missing, and nothing says so: %.300s", text)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	assert.NilError(t, err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	if kib, err := strconv.Atoi(strings.Fields(peak)[0]); err != nil || kib > maxFloodMemory {
		t.Errorf("the gateway used %s KiB", strings.Fields(peak)[0])
	}
	p.hangUp()
}

// readUntil reads a resource again and again until the answer has the text. An answer may be an error meanwhile.
func (p *process) readUntil(uri, text string) string {
	p.t.Helper()
	line := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		p.next++
		id := fmt.Sprintf("read %d", p.next)
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"resources/read","params":{"uri":%q}}`, id, uri))
		for line = range p.lines {
			if strings.Contains(line, fmt.Sprintf(`"id":%q`, id)) {
				break
			}
		}
		if strings.Contains(line, text) {
			return line
		}
	}
	p.t.Fatalf("no %s in %.2000s", text, line)
	return ""
}
