import os, sys
from PyQt6.QtWidgets import *
app = QApplication([])
rows = QListWidget(selectionMode=QAbstractItemView.SelectionMode.ExtendedSelection, windowTitle="Rows")
for n in range(8): rows.addItem("Row %d" % n)
def tell(*_):
    with open(sys.argv[1] + ".new", "w") as f: f.write(" ".join(sorted(str(rows.row(i)) for i in rows.selectedItems())))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
rows.itemSelectionChanged.connect(tell)
rows.show()
tell()
app.exec()
