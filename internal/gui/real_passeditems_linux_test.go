package gui_test

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// A window with a list that logs each current item in a file.
const currentItemsQt = `
import sys
from PyQt6.QtWidgets import *
app = QApplication([])
window = QWidget(windowTitle="Pages")
lines = QVBoxLayout(window)
rows = QListWidget()
rows.addItems(["Alpha", "Beta", "Delete all", "Gamma", "Delta"])
rows.setCurrentRow(0)
def tell(row):
    with open(sys.argv[1], "a") as f: f.write(rows.item(row).text() + "\n")
rows.currentRowChanged.connect(tell)
lines.addWidget(rows)
window.show()
app.exec()
`

// TestRealPassedItems: arrow keys make each item on their way current, so the gates judge these too.
func TestRealPassedItems(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "items")
	app := w.python("pages.py", currentItemsQt, "option Alpha", file)
	w.ok("ax_click", params{"app": app, "query": "Beta"})
	w.eventually("Beta is current", func() bool { said, _ := os.ReadFile(file); return string(said) == "Beta\n" })
	w.ok("ax_click", params{"app": app, "query": "Gamma"})
	w.eventually("Gamma is current", func() bool { said, _ := os.ReadFile(file); return string(said) == "Beta\nDelete all\nGamma\n" })
	on := w.record.last(aai.Outcome).Element
	assert.Check(t, is.Contains(on.Name, "Delete all"), "the record names %q", on.Name)
}
