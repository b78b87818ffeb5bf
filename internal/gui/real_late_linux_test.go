package gui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
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
			w := parallelWorld(t)
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

// TestRealClock: on a page with a running clock and incoming messages, a button without effect is
// not reported to have one.
func TestRealClock(t *testing.T) {
	w := parallelWorld(t)
	app, _ := w.webPage(web(`<p id="clock">12:00:00</p><ul id="log"></ul><p id="state">idle</p>
		<button>Dead</button><button id="work">Work</button>
		<script>
		let n = 0, done = 0;
		setInterval(() => {
			n++;
			clock.textContent = "now " + new Date().toISOString();
			const li = document.createElement("li");
			li.textContent = "message " + n;
			log.append(li);
			if (log.children.length > 4) log.firstChild.remove();
		}, 200);
		work.onclick = () => { done++; state.textContent = "done " + ["once", "twice", "thrice"][done - 1]; };
		</script>`))
	seen := w.ok("ax_get_tree", params{"app": app}).Text
	for range 3 {
		time.Sleep(2 * time.Second)                                       // like the pause of an agent; the oldest message has gone before
		w.eventually("what runs by itself was seen to run", func() bool { // a busy Chromium sends no events for a long time
			before := seen
			seen = w.ok("ax_get_tree", params{"app": app}).Text
			return seen != before
		})
		dead := w.ok("ax_click", params{"app": app, "query": "role:button title:Dead"})
		assert.Check(t, is.Equal(dead.data["verified"], false), "the dead button: %v", dead.data)
		work := w.ok("ax_click", params{"app": app, "query": "role:button title:Work"})
		assert.Check(t, is.Equal(work.data["verified"], true), "the working button: %v", work.data)
	}
}

// TestRealCounter: an effect of a button's own clicks never counts as ambient, however quickly they
// follow each other and despite other late effects: the last clicks are verified like the first.
func TestRealCounter(t *testing.T) {
	w := parallelWorld(t)
	app, _ := w.webPage(web(`<p id="count">added 0</p><p id="state">nothing saved</p><button id="add">Add</button><button id="save">Save</button>
		<script>
		let added = 0, saved = 0;
		add.onclick = () => { setTimeout(() => { count.textContent = "added " + ++added; }, 100); };
		save.onclick = () => {
			saved++;
			state.textContent = "saving " + saved;
			setTimeout(() => { state.textContent = "saved " + saved; }, 300);
		};
		</script>`))
	click := func(i int, button string) {
		t.Helper()
		a := w.ok("ax_click", params{"app": app, "query": "role:button title:" + button})
		if a.data["verified"] == true {
			return
		}
		// Chromium may report it after the reply: then the next call reports it.
		late := w.ok("ax_find", params{"app": app, "query": "role:button title:Save"})
		if !strings.Contains(late.Text, "Since then") {
			t.Fatalf("click %d on %s: %v %s; then %s", i+1, button, a.data, a.Warning, late.Text)
		}
	}
	for i := range 30 {
		click(i, "Add")
	}
	for i := range 8 {
		click(i, "Save")
		time.Sleep(500 * time.Millisecond) // like the pauses of an agent
		w.ok("ax_find", params{"app": app, "query": "role:button title:Save"})
		time.Sleep(500 * time.Millisecond)
	}
}

// TestRealServersAnswer: a page change some time after a click, while the page sleeps, belongs to
// that click, and not to the next one without effect. The one after that is verified.
func TestRealServersAnswer(t *testing.T) {
	f := pageOf(t, `<p id="state">idle</p><p id="count">none</p><button onclick="setTimeout(() => state.textContent += '.', after)">Ask</button>
		<button>Dead</button> <button onclick="count.textContent += ' more'">Work</button><button onclick="after += 150">Slower</button><script>let after = 550</script>`)
	for range 3 {
		ask := f.ok("ax_click", f.on("button Ask"))
		dead := f.ok("ax_click", f.on("button Dead"))
		if at(dead.data, "verified") != false || at(ask.data, "verified") != true && !strings.Contains(dead.Text, `Since then (Clicked button "Ask"`) {
			t.Errorf("asked: %s\nthe dead button: %s", ask.Text, dead.Text)
		}
		f.says(f.done("ax_click", f.on("button Work")).Text, `more"`)
		f.ok("ax_click", f.on("button Slower"))
	}
}

// TestRealAtWork: a call waits longer than usual for an element, or for its enabled state, while
// the program works; an absent one is reported when the program rests.
func TestRealAtWork(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]struct{ query, seconds string }{"there": {"Done", "1.5"}, "enabled": {"Enter", "3"}} {
		t.Run(name, func(t *testing.T) {
			w := parallelWorld(t)
			app := w.python("works.py", "button Start", next.seconds)
			w.ok("ax_click", params{"app": app, "query": "button Start"})
			w.ok("ax_click", params{"app": app, "query": "button " + next.query})
			e := w.refused(aai.ElementNotFound, "ax_click", params{"app": app, "query": "button Never"})
			assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered))
		})
	}
}

// TestRealBusyPage: for a field of a page with a busy script, the error reports the busy program
// and advises to retry, and not that the field takes no text.
func TestRealBusyPage(t *testing.T) {
	f := pageOf(t, `<label>Mail <input id="mail"></label>
		<button onclick="setTimeout(() => { const until = Date.now() + 30000; while (Date.now() < until); }, 100)">Spin</button>`)
	f.done("ax_set_value", f.set("textbox Mail", "before"))
	f.comes("mail", "before")
	f.ok("ax_click", f.on("button Spin"))
	e := f.refused(aai.Timeout, "ax_set_value", f.set("textbox Mail", "after"))
	f.says(e.Message, `textbox "Mail"`, "is busy")
	f.says(e.Hint, "again")
	assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered))
}

// TestRealLastAct: an action that ends a program before its reply counts as done, and the program's
// end is its effect, over the program's own socket or over the bus.
func TestRealLastAct(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gtk3", "qt6"} {
		t.Run(name, func(t *testing.T) {
			w := parallelWorld(t)
			for tool, argument := range map[string]string{"ax_set_value": "value", "ax_type": "text"} {
				a := w.ok(tool, params{"app": w.python("last_"+name+".py", "textbox Last word"), "query": "textbox Last word", argument: "farewell"})
				w.says(a.Text, "has ended")
				w.says(a.Warning, "cannot be read back")
				assert.Check(t, is.Equal(at(a.data, "delivered"), true), "%s %v", tool, a.data)
				assert.Check(t, is.Equal(at(a.data, "verified"), false), "%s %v", tool, a.data)
			}
		})
	}
}
