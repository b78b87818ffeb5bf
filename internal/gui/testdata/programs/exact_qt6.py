import sys
from PyQt6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget
app, window = QApplication(sys.argv[:1]), QWidget()
window.setWindowTitle("exact qt6")
box = QVBoxLayout(window)
for name in sys.argv[2:]:
    button = QPushButton(name)
    button.clicked.connect(lambda _, name=name: open(sys.argv[1], "a").write(name + "\n"))
    box.addWidget(button)
window.show()
app.exec()
