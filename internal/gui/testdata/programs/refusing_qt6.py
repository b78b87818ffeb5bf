import json, os, sys
from PyQt6.QtWidgets import *
from PyQt6.QtGui import QIntValidator
app = QApplication([])
window = QWidget()
window.setWindowTitle("Refusing")
box = QVBoxLayout(window)
held = {}
def tell(*_):
    with open(sys.argv[2] + ".new", "w") as f: json.dump({name: read() for name, read in held.items()}, f)
    os.rename(sys.argv[2] + ".new", sys.argv[2])
def entry(name, text, **more):
    e = QLineEdit(text, accessibleName=name, **more)
    held[name] = e.text
    e.textChanged.connect(tell)
    box.addWidget(e)
    return e
entry("Code", "abc", maxLength=5)
digits = entry("Digits", "42")
digits.setValidator(QIntValidator(0, 99999))
upper = entry("Upper", "AB")
upper.textChanged.connect(lambda text: upper.setText(text.upper()))
entry("Group", "12", inputMask="999-999")
spin = QSpinBox(maximum=0x7fffffff, value=5, accessibleName="Count")
held["Count"] = spin.text
spin.valueChanged.connect(tell)
box.addWidget(spin)
window.show()
tell()
app.exec()
