# A window with a button without effect, and others: one shows "saved" 300 ms after its work, one "worked" after as much
# busy time, and one "has come" after 1.5 s of work in which it still answers.
import sys, threading, time
def burn(say):
    end = time.monotonic() + 0.3
    while time.monotonic() < end: pass
    say("worked")
def long(say):
    def work():
        end = time.monotonic() + 1.5
        while time.monotonic() < end: pass
        say("has come")
    threading.Thread(target=work).start()
from PyQt6.QtCore import QObject, QTimer, pyqtSignal
from PyQt6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget
app = QApplication(sys.argv)
status = QLabel("idle")
class News(QObject): came = pyqtSignal(str)
news = News(); news.came.connect(status.setText)
window = QWidget(); window.setWindowTitle("Late"); box = QVBoxLayout(window)
for name, do in ("Late", lambda: QTimer.singleShot(300, lambda: status.setText("saved"))), ("Busy", lambda: QTimer.singleShot(1, lambda: burn(status.setText))), ("Long", lambda: long(news.came.emit)), ("Dead", lambda: None):
    b = QPushButton(name); b.clicked.connect(do); box.addWidget(b)
box.addWidget(status)
window.show(); app.exec()
