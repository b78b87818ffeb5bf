package gui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// office is LibreOffice, in lists of toolkits.
const office linuxtest.Kind = "libreoffice"

// lateMacros returns the buttons in LibreOffice.
func lateMacros() []linuxtest.Macro {
	const until = "begun = GetSystemTicks()\nDo While GetSystemTicks() - begun < %s\n%s\nLoop\nSay \"%s\""
	const works = "slice = GetSystemTicks()\nDo While GetSystemTicks() - slice < 20\nLoop\nWait 1" // busy, but still answering
	return []linuxtest.Macro{
		{Button: "Late", Basic: "Wait 300\nSay \"saved\""},
		{Button: "Busy", Basic: fmt.Sprintf(until, "300", "", "worked")},
		{Button: "Long", Basic: fmt.Sprintf(until, "1500", works, "has come")},
		{Button: "Dead"},
	}
}

// lateWorld opens the window.
func (w *realWorld) lateWorld(kind linuxtest.Kind) (app string) {
	w.Helper()
	if kind == office {
		app = w.process(w.Writer(w.T, "idle", lateMacros()...))
		w.awaitElement(app, "button Dead")
		return app
	}
	if kind == linuxtest.Chromium {
		app, _ = w.webPage(web(`<p id="status">idle</p><button id="late">Late</button><button id="busy">Busy</button><button id="long">Long</button><button>Dead</button>
			<script>
			late.onclick = () => setTimeout(() => status_.textContent = "saved", 300);
			busy.onclick = () => setTimeout(() => { for (const end = Date.now() + 300; Date.now() < end;); status_.textContent = "worked"; }, 1);
			const work = URL.createObjectURL(new Blob(["for (const end = Date.now() + 1500; Date.now() < end;); postMessage('')"]));
			long.onclick = () => new Worker(work).onmessage = () => status_.textContent = "has come";
			const status_ = document.getElementById("status");
			</script>`))
		return app
	}
	return w.pythonOf(kind, "late", "button Dead")
}

// TestRealLater: in each toolkit, an effect 300 ms after a click is in its own reply or in the next
// one, whatever the next call is and whenever it comes. A click without effect never gets the
// effect of another.
func TestRealLater(t *testing.T) {
	for _, kind := range append(linuxtest.Kinds(), office) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			app := w.lateWorld(kind)
			w.ok("ax_wait_idle", params{"app": app, "poll_ms": 500})
			for i, thinks := range []time.Duration{0, time.Second} {
				w.ok("ax_get_tree", params{"app": app})
				begun := time.Now()
				dead := w.ok("ax_click", params{"app": app, "query": "button Dead"})
				t.Logf("a click without effect took %s", time.Since(begun))
				assert.Check(t, is.Equal(dead.data["verified"], false), "the dead button: %s %v", dead.Text, dead.data)
				begun = time.Now()
				late := w.ok("ax_click", params{"app": app, "query": "button Late"})
				t.Logf("a click with a late effect took %s: %v %s", time.Since(begun), late.data["verified"], late.Warning)
				time.Sleep(thinks)
				next := w.ok("ax_click", params{"app": app, "query": "button Dead"})
				assert.Check(t, is.Equal(next.data["verified"], false), "round %d: the dead button is believed: %s %v", i, next.Text, next.data)
				if i == 0 && late.data["verified"] != true && !strings.Contains(next.Text, `"idle" → "saved"`) {
					t.Errorf("the late effect is told by nobody: %q, then %q", late.Text, next.Text)
				}
				begun = time.Now()
				busy := w.ok("ax_click", params{"app": app, "query": "button Busy"})
				t.Logf("a click that works 300 ms took %s", time.Since(begun))
				if !strings.Contains(busy.Text, "worked") { // the computer itself is busy
					w.eventually("it is told that it worked", func() bool {
						text := w.ok("ax_get_tree", params{"app": app}).Text
						return strings.Contains(text, "Since then") && strings.Contains(text, "worked")
					})
				}
			}
			long := w.ok("ax_click", params{"app": app, "query": "button Long"})
			next := w.ok("ax_click", params{"app": app, "query": "button Dead"})
			if next.data["verified"] != false || !strings.Contains(long.Text+next.Text, `→ "has co`) { // LibreOffice may be read during the change
				t.Errorf("what was worked at: %q, then %q %v", long.Text, next.Text, next.data)
			}
		})
	}
}
