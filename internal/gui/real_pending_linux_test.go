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

// lateProgram returns a window of each toolkit with a button without effect, and others: one shows
// "saved" 300 ms after its work, one "worked" after as much busy time, and one "has come" after 1.5
// s of work in which it still answers.
func lateProgram(kind linuxtest.Kind) string {
	const (
		work = `
import sys, threading, time
def burn(say):
    end = time.monotonic() + 0.3
    while time.monotonic() < end: pass
    say("worked")
def long(say):
    def work():
        end = time.monotonic() + 1.5
        while time.monotonic() < end: pass
        say("has come")
    threading.Thread(target=work).start()
`
		gtk = `
import gi
gi.require_version("Gtk", VERSION)
from gi.repository import Gtk, GLib
status = Gtk.Label(label="idle")
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
put = box.append if VERSION == "4.0" else box.add
for name, do in ("Late", lambda *_: GLib.timeout_add(300, status.set_label, "saved")), ("Busy", lambda *_: GLib.timeout_add(1, burn, status.set_label)), ("Long", lambda *_: long(lambda word: GLib.idle_add(status.set_label, word))), ("Dead", lambda *_: None):
    b = Gtk.Button(label=name); b.connect("clicked", do); put(b)
put(status)
`
	)
	switch kind {
	case linuxtest.GTK3:
		return work + strings.Replace(gtk, "VERSION", `"3.0"`, 2) + `
window = Gtk.Window(title="Late"); window.add(box); window.show_all()
Gtk.main()
`
	case linuxtest.GTK4:
		return work + strings.Replace(gtk, "VERSION", `"4.0"`, 2) + `
def up(app):
    window = Gtk.ApplicationWindow(application=app, title="Late"); window.set_child(box); window.present()
app = Gtk.Application(application_id="org.example.late"); app.connect("activate", up); app.run()
`
	}
	return work + `
from PyQt6.QtCore import QObject, QTimer, pyqtSignal
from PyQt6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget
app = QApplication(sys.argv)
status = QLabel("idle")
class News(QObject): came = pyqtSignal(str)
news = News(); news.came.connect(status.setText)
window = QWidget(); window.setWindowTitle("Late"); box = QVBoxLayout(window)
for name, do in ("Late", lambda: QTimer.singleShot(300, lambda: status.setText("saved"))), ("Busy", lambda: QTimer.singleShot(1, lambda: burn(status.setText))), ("Long", lambda: long(news.came.emit)), ("Dead", lambda: None):
    b = QPushButton(name); b.clicked.connect(do); box.addWidget(b)
box.addWidget(status)
window.show(); app.exec()
`
}

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
	return w.python("late.py", lateProgram(kind), "button Dead")
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
