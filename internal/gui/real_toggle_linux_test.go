package gui_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
)

// heardClicks is a window of Qt in which each button with a state writes a line when it is clicked, and none when its
// state is only set. One is out of view.
const heardClicks = `
import sys
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import *
app = QApplication([])
window = QMainWindow(windowTitle="Heard")
def heard(name):
    def write(on=None):
        with open(sys.argv[1], "a") as f:
            f.write(f"{name} {on}\n")
    return write
compact = QAction("Compact", window, checkable=True)
compact.triggered.connect(heard("Compact"))
window.addToolBar("Bar").addAction(compact)
whole = QWidget()
rows = QVBoxLayout(whole)
for kind, name in (QCheckBox, "Signal"), (QRadioButton, "Night"), (QPushButton, "Bold"):
    part = kind(name)
    part.setCheckable(True)
    part.clicked.connect(heard(name))
    rows.addWidget(part)
for i in range(30):
    rows.addWidget(QLabel(f"Line {i}"))
far = QCheckBox("Far")
far.clicked.connect(heard("Far"))
rows.addWidget(far)
area = QScrollArea()
area.setWidget(whole)
window.setCentralWidget(area)
window.resize(400, 300)
window.show()
app.exec()
`

// TestRealHeardClicks: buttons with a state are clicked, not only set, since programs of Qt act on the click alone.
func TestRealHeardClicks(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "heard")
	app := w.python("heard.py", heardClicks, "checkbox Signal", file)
	p := w.somebody()
	var want []string
	heard := func(line string) {
		t.Helper()
		want = append(want, line)
		w.eventually("the program acts: "+line, func() bool {
			b, err := os.ReadFile(file)
			return err == nil && slices.Equal(strings.Split(strings.TrimSpace(string(b)), "\n"), want)
		})
	}
	for tool, p := range map[string]params{"ax_click": {}, "ax_set_value": {"value": "true"}} {
		p["app"], p["query"] = app, "Compact"
		e := w.refused(aai.AutomationNotSupported, tool, p)
		w.says(e.Message, "without a click")
		w.says(e.Hint, `mode "focus"`)
	}
	for _, name := range []string{"Signal", "Bold", "Far"} {
		w.done("ax_click", params{"app": app, "query": name})
		heard(name + " True")
		w.done("ax_set_value", params{"app": app, "query": name, "value": "false"})
		heard(name + " False")
	}
	w.done("ax_set_value", params{"app": app, "query": "Night", "value": "true"})
	heard("Night True")
	p.undisturbed(t)
	w.done("ax_click", params{"app": app, "query": "Compact", "mode": "focus"})
	heard("Compact True")
}
