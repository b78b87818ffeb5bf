package bench

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// axTools is the number of tools that the gateway lists in the profile "desktop".
const axTools = 26

// scene is a private desktop with a gateway and its client.
type scene struct {
	*linuxtest.Session
	gateway *session
}

// newScene starts a desktop, and a gateway that may see and operate the programs with these ids.
func (w *desktopBench) newScene(b *testing.B, ids ...string) *scene {
	b.Helper()
	s := &scene{Session: linuxtest.StartAccessible(b)}
	s.gateway = w.openOn(b, s.Session, ids...)
	return s
}

// openOn starts a gateway on the desktop.
func (w *desktopBench) openOn(b *testing.B, s *linuxtest.Session, ids ...string) *session {
	b.Helper()
	return w.openWithin(b, s, noLimits, ids...)
}

// openWithin is openOn with limits.
func (w *desktopBench) openWithin(b *testing.B, s *linuxtest.Session, limits string, ids ...string) *session {
	b.Helper()
	h, apps := newHome(b, 0), []string{"desktop"}
	for _, id := range ids {
		apps = append(apps, "desktop/"+id)
	}
	h.configure(b, limits, apps...)
	return open(b, append(s.Env, "HOME="+h.folder), w.program, axTools, "mcp", "serve", "--profile", "desktop", "--log-level", "error")
}

// toolCall returns the params of tools/call.
func toolCall(b *testing.B, tool string, args map[string]any) string {
	b.Helper()
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": args})
	assert.NilError(b, err)
	return string(params)
}

// reply is a tool's result: the text for the model, and the data.
type reply struct {
	Result struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage // the data of a tool that is called by its own name
	}
}

// text returns the text for the model.
func (a answer) text(b *testing.B) string {
	b.Helper()
	var r reply
	assert.NilError(b, json.Unmarshal(a.line, &r))
	var text strings.Builder
	for _, part := range r.Result.Content {
		text.WriteString(part.Text)
	}
	return text.String()
}

// isVerified reports whether the reply of a tool that acts has no doubt about the effect.
func (a answer) isVerified(b *testing.B) bool {
	b.Helper()
	return !strings.Contains(a.text(b), "delivered, but ")
}

// data decodes the tool's data.
func (a answer) data(b *testing.B, into any) {
	b.Helper()
	var r reply
	assert.NilError(b, json.Unmarshal(a.line, &r))
	assert.NilError(b, json.Unmarshal(r.Result.StructuredContent, into), a.line)
}

// await polls until the element exists, and returns its ref.
func (s *scene) await(b *testing.B, pid int, query string) string {
	b.Helper()
	call := toolCall(b, "ax_find", map[string]any{"app": strconv.Itoa(pid), "query": query})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		a, err := s.gateway.try("tools/call", call)
		if err != nil && time.Now().Before(end) {
			continue
		}
		assert.NilError(b, err)
		var found struct {
			Ref string `json:"element_ref"`
		}
		a.data(b, &found)
		assert.Assert(b, refs.Is(found.Ref), "ax_find gave the ref %q", found.Ref)
		return found.Ref
	}
}

// awaitSettled waits until a page is complete: a browser exposes a long one in parts, and a
// comparison with another reader must not begin earlier.
func (s *scene) awaitSettled(b *testing.B, app any) {
	b.Helper()
	s.gateway.ask(b, "tools/call", toolCall(b, "ax_wait_idle", map[string]any{"app": app, "poll_ms": 500}))
}

// medianAndP95 formats the median and the 95th percentile.
func medianAndP95(s samples) string {
	return fmt.Sprintf("%s (p95 %s)", millis(s.median()), millis(s.quantile(0.95)))
}
