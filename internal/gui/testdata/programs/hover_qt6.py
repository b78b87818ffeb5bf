import sys
from PyQt6.QtWidgets import *
app = QApplication([])
word = QLabel("nothing")
class Button(QPushButton):
    def enterEvent(self, e): word.setText("over " + self.text())
window = QWidget(windowTitle="Hover")
box = QVBoxLayout(window)
for name in ("More", "Ready"): box.addWidget(Button(name))
box.addWidget(word)
window.show()
app.exec()
