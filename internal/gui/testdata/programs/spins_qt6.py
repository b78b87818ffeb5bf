import json, os, sys
from PyQt6.QtWidgets import *
from PyQt6.QtCore import Qt
app = QApplication([])
window = QWidget()
window.setWindowTitle("Numbers")
spin = QSpinBox(minimum=-10, maximum=10, value=5, suffix=" m", accessibleName="Depth")
scale = QSlider(Qt.Orientation.Horizontal, minimum=-10, maximum=10, value=5, accessibleName="Gain")
def tell(*_):
    with open(sys.argv[2] + ".new", "w") as f: f.write(json.dumps({"spin": spin.value(), "scale": scale.value()}))
    os.rename(sys.argv[2] + ".new", sys.argv[2])
spin.valueChanged.connect(tell)
scale.valueChanged.connect(tell)
box = QVBoxLayout(window)
box.addWidget(spin)
box.addWidget(scale)
window.show()
tell()
app.exec()
