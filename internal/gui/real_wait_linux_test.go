package gui_test

import (
	"sync"
	"testing"

	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// stepsGTK and stepsQt are windows with a button "Next" that executes one step after the other.
const (
	stepsGTK = `
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window, box = Gtk.Window(title="Steps"), Gtk.VBox()
status, name, agree, send, step = Gtk.Label(label="Saved"), Gtk.Entry(), Gtk.CheckButton(label="Agree"), Gtk.Button(label="Send"), Gtk.Button(label="Next")
name.get_accessible().set_name("Name")
send.set_sensitive(False)
steps = iter([lambda: status.show(), lambda: status.hide(), lambda: name.set_text("Ann"), lambda: agree.set_active(True), lambda: send.set_sensitive(True), Gtk.main_quit])
step.connect("clicked", lambda *_: next(steps)())
for each in (status, name, agree, send, step): box.add(each)
window.add(box); window.show_all(); status.hide()
Gtk.main()
`
	stepsQt = `
import sys
from PyQt6.QtWidgets import QApplication, QCheckBox, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget
app = QApplication(sys.argv)
window = QWidget(); window.setWindowTitle("Steps"); box = QVBoxLayout(window)
status, name, agree, send, step = QLabel("Saved"), QLineEdit(), QCheckBox("Agree"), QPushButton("Send"), QPushButton("Next")
name.setAccessibleName("Name")
send.setEnabled(False)
steps = iter([status.show, status.hide, lambda: name.setText("Ann"), lambda: agree.setChecked(True), lambda: send.setEnabled(True), app.quit])
step.clicked.connect(lambda: next(steps)())
for each in (status, name, agree, send, step): box.addWidget(each)
status.hide()
window.show(); app.exec()
`
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
	text := stepsQt
	if kind == linuxtest.GTK3 {
		text = stepsGTK
	}
	return w.python("steps.py", text, "button Next")
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
