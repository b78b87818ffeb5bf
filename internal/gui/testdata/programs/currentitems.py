# A window with a list that logs each current item in a file.
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
