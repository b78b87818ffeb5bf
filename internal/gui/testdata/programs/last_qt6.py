import os
from PyQt6.QtWidgets import *
app = QApplication([]); window = QWidget(windowTitle="Last"); entry = QLineEdit(); entry.textChanged.connect(lambda *_: os._exit(0))
QFormLayout(window).addRow("Last word", entry); window.show()
app.exec()
