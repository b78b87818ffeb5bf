package gui_test

import (
	"sync"
	"testing"

	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// stepsPage has a button "Next" that executes one step after the other, like the programs steps_*.py.
const (
	stepsPage = `<p id="saved" hidden>Saved</p><input aria-label="Name" id="name"><label><input type="checkbox" id="agree">Agree</label>
<button id="send" disabled>Send</button><button id="next">Next</button><script>
const of = (id) => document.getElementById(id);
const steps = [() => of("saved").hidden = false, () => of("saved").hidden = true, () => of("name").value = "Ann", () => of("agree").checked = true, () => of("send").disabled = false, () => of("send").remove()];
of("next").onclick = () => steps.shift()();
</script>`
)

// stepsWorld opens the window.
func (w *realWorld) stepsWorld(kind linuxtest.Kind) (app string) {
	w.Helper()
	if kind == linuxtest.Chromium {
		app, _ = w.webPage(web(stepsPage))
		return app
	}
	return w.python("steps_"+string(kind)+".py", "button Next")
}

// TestRealWait: in each toolkit a wait ends when its condition holds, which another call causes
// meanwhile.
func TestRealWait(t *testing.T) {
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.Qt6, linuxtest.Chromium} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			app := w.stepsWorld(kind)
			next := w.ok("ax_find", params{"app": app, "query": "button Next"}).data["element_ref"]
			for _, step := range []struct {
				p    params
				says string
			}{
				{params{"query": "Saved"}, `"Saved" [e`},
				{params{"query": "Saved", "until": "vanishes"}, "Gone after"},
				{params{"query": "textbox Name", "until": "value", "value": "Ann"}, `"Name" [e`},
				{params{"query": "checkbox Agree", "until": "state", "state": "checked"}, `"Agree" [e`},
				{params{"query": "button Send", "until": "state", "state": "enabled"}, `"Send" [e`},
				{params{"query": "button Send", "until": "vanishes"}, "Gone after"},
			} {
				step.p["app"], step.p["timeout_ms"] = app, 60000
				waits := make(chan bool)
				hears := sync.OnceFunc(func() { close(waits) })
				ctx := gateway.WithProgress(w.Context(), func(float64, float64, string) { hears() })
				var all sync.WaitGroup
				all.Go(func() {
					result, err := w.do(ctx, "ax_wait", step.p)
					if hears(); err != nil {
						t.Errorf("%v: %v; candidates %q", step.p, err, err.Candidates)
						return
					}
					w.says(result.Text, step.says)
				})
				<-waits // the condition does not hold yet
				_, err := w.do(w.Context(), "ax_click", params{"app": app, "query": next})
				if err != nil && step.p["query"] != "button Send" { // the last one ends the program
					t.Errorf("before %v: %v", step.p, err)
				}
				all.Wait()
			}
		})
	}
}
