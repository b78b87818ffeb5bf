# A window of Qt in which each button with a state writes a line when it is clicked, and none when its
# state is only set. One is out of view.
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
