# A tool bar with an editable combo box on which the program acts when an option is activated, and then
# moves the keyboard away.
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
