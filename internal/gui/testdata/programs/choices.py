# A window with Qt combo boxes, which log each of their values in a file, one line each.
import sys, time
from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import *
app = QApplication([])
def work():
    until = time.monotonic() + 0.1
    while time.monotonic() < until: pass
slow = QTimer(interval=50, timeout=work)
if sys.argv[2:]: slow.start()
window = QWidget(windowTitle="Choices")
lines = QFormLayout(window)
lines.addRow("Name", QLineEdit())
def tell(text):
    with open(sys.argv[1], "a") as f: f.write(text + "\n")
def combo(label, items):
    box = QComboBox()
    box.addItems(items)
    box.currentTextChanged.connect(tell)
    lines.addRow(label, box)
    return box
combo("Fruit", ["Apple", "Banana", "Cherry", "Date", "Elder", "Fig"])
twice = combo("Twice", ["One", "Two", "One"])
bars = combo("Bars", ["First"])
bars.insertSeparator(1)
bars.addItem("Off")
bars.model().item(2).setEnabled(False)
bars.addItems(["Third", "Fourth"])
window.show()
app.exec()
