package gui_test

import (
	"os"
	"path/filepath"
	"testing"
)

// activatedBox is a tool bar with an editable combo box on which the program acts when an option is activated, and then
// moves the keyboard away.
const activatedBox = `
import sys
from PyQt6.QtWidgets import *
app = QApplication([])
window = QMainWindow(windowTitle="Zoom")
box = QComboBox()
box.setEditable(True)
box.addItems(["50 %", "100 %", "150 %", "200 %"])
box.setCurrentIndex(1)
page = QTextEdit("page")
def activated(i):
    with open(sys.argv[1], "a") as f:
        f.write(box.itemText(i) + "\n")
    page.setFocus()
box.activated.connect(activated)
window.addToolBar("View").addWidget(box)
window.setCentralWidget(page)
window.show()
page.setFocus()
app.exec()
`

// TestRealActivatedBox: the option of an editable combo box is activated, and no other one on the way.
func TestRealActivatedBox(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "activated")
	app := w.python("zoom.py", activatedBox, "role:combobox", file)
	p := w.somebody()
	w.done("ax_set_value", params{"app": app, "query": "role:combobox", "value": "200 %"})
	w.eventually("the program acts", func() bool {
		b, err := os.ReadFile(file)
		return err == nil && string(b) == "200 %\n"
	})
	a := w.ok("ax_set_value", params{"app": app, "query": "role:combobox", "value": "137 %"})
	w.says(a.Warning, "only after return")
	p.undisturbed(t)
}
