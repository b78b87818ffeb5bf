import sys
from PyQt6.QtWidgets import QApplication, QCheckBox, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget
app = QApplication(sys.argv)
window = QWidget(); window.setWindowTitle("Steps"); box = QVBoxLayout(window)
status, name, agree, send, step = QLabel("Saved"), QLineEdit(), QCheckBox("Agree"), QPushButton("Send"), QPushButton("Next")
name.setAccessibleName("Name")
send.setEnabled(False)
steps = iter([status.show, status.hide, lambda: name.setText("Ann"), lambda: agree.setChecked(True), lambda: send.setEnabled(True), app.quit])
step.clicked.connect(lambda: next(steps)())
for each in (status, name, agree, send, step): box.addWidget(each)
status.hide()
window.show(); app.exec()
