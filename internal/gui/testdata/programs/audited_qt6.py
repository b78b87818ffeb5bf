from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import *
import sys
faulty = sys.argv[1] == "faulty"
app = QApplication([]); window = QWidget(); window.setWindowTitle("Audited"); box = QVBoxLayout(window); box.setSpacing(30)
icon = QPushButton(); icon.setFixedSize(60, 40); box.addWidget(icon)
lone = QLineEdit(); box.addWidget(lone)
named = QPushButton("pushButton_3" if faulty else "Send"); box.addWidget(named)
text = QLabel("The price includes shipping"); text.setStyleSheet("color: %s; background: #ffffff" % ("#b0b0b0" if faulty else "#222222")); box.addWidget(text)
deaf = QPushButton("Reload"); deaf.setFocusPolicy(Qt.FocusPolicy.NoFocus if faulty else Qt.FocusPolicy.StrongFocus); box.addWidget(deaf)
if not faulty:
    icon.setAccessibleName("Add a row"); lone.setAccessibleName("Country")
window.show(); app.exec()
