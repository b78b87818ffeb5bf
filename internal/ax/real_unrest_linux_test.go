package ax_test

import (
	"testing"
	"time"
)

// TestRealClock: on a page where a clock runs and messages come in, a button that
// does nothing is not said to have done something.
func TestRealClock(t *testing.T) {
	t.Parallel() // it waits most of the time
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
	w.ok("ax_get_tree", params{"app": app})
	for range 3 {
		time.Sleep(time.Second) // an agent thinks
		dead := w.ok("ax_click", params{"app": app, "query": "role:button title:Dead"})
		if dead.data["verified"] != false {
			t.Errorf("the dead button: %v", dead.data)
		}
		work := w.ok("ax_click", params{"app": app, "query": "role:button title:Work"})
		if work.data["verified"] != true {
			t.Errorf("the working button: %v", work.data)
		}
	}
}
