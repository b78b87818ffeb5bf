package gui_test

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealClock: on a page with a running clock and incoming messages, a button without effect is
// not reported to have one.
func TestRealClock(t *testing.T) {
	t.Parallel() // it mostly waits
	w := newRealWorld(t)
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
	t.Parallel() // it mostly waits
	w := newRealWorld(t)
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
