# A save dialog of Qt with a file selected and the keyboard in the list of files.
import sys
from PyQt6.QtWidgets import *
app = QApplication([])
dialog = QFileDialog(None, "Save", sys.argv[1])
dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
dialog.selectFile("p.png")
dialog.show()
dialog.findChild(QTreeView, "treeView").setFocus()
app.exec()
