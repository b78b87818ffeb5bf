import sys
from PyQt6.QtWidgets import *
app = QApplication([])
window = QWidget(windowTitle="Tabbed")
box = QVBoxLayout(window)
text = QPlainTextEdit("hello")
def tell():
    with open(sys.argv[2], "w") as f: f.write(text.toPlainText())
text.textChanged.connect(tell)
tell()
for w in text, QLabel("Words"), QPushButton("Count"): box.addWidget(w)
window.show()
text.setFocus()
app.exec()
