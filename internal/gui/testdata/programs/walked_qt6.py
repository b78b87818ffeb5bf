from PyQt6.QtCore import Qt, QEvent
from PyQt6.QtWidgets import *
import sys
fault = sys.argv[1]
class Trap(QLineEdit):
    def event(self, e): return True if e.type() == QEvent.Type.KeyPress and e.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab) else super().event(e)
app = QApplication([]); window = QWidget(); window.setWindowTitle("Walked"); box = QVBoxLayout(window); box.setSpacing(30)
parts = []
for name in ["First", "Second", "Third", "Fourth"]:
    edit = Trap() if fault == "trap" and name == "Second" else QLineEdit()
    edit.setAccessibleName(name); box.addWidget(edit); parts.append(edit)
ready = QPushButton("Ready"); box.addWidget(ready); parts.append(ready)
if fault == "order": QWidget.setTabOrder(parts[0], parts[2]); QWidget.setTabOrder(parts[2], parts[1]); QWidget.setTabOrder(parts[1], parts[4]); parts[3].setFocusPolicy(Qt.FocusPolicy.ClickFocus)
window.show(); app.exec()
