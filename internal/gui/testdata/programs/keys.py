# A Qt window with a spin box, a check box, buttons, and a text in which tab is a character. They
# log their events in a file, one line each.
import sys
from PyQt6.QtWidgets import *
app = QApplication([])
window = QWidget(windowTitle="Keys")
lines = QFormLayout(window)
def tell(what):
    with open(sys.argv[1], "a") as f: f.write(what + "\n")
lines.addRow("Name", QLineEdit())
lines.addRow("Notes", QPlainTextEdit())
count = QSpinBox(maximum=100, value=50)
count.valueChanged.connect(lambda n: tell("count %d" % n))
lines.addRow("Count", count)
agree = QCheckBox("Agree")
agree.toggled.connect(lambda on: tell("agree %s" % on))
lines.addRow(agree)
apply = QPushButton("Apply")
apply.clicked.connect(lambda: tell("apply"))
lines.addRow(apply)
window.show()
app.exec()
