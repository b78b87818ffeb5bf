"""A form in Qt 6. Its state is written to the file of the first argument after each change. With "changed" as second
argument some elements have moved, or have other names."""
import json
import os
import sys

from PyQt6.QtWidgets import (
    QApplication, QCheckBox, QComboBox, QDialog, QFormLayout, QLabel, QLineEdit, QListWidget, QMainWindow, QPlainTextEdit,
    QPushButton, QSpinBox, QTabWidget, QVBoxLayout, QWidget)

changed = len(sys.argv) > 2 and sys.argv[2] == "changed"
state = {}


def put(key, value):
    state[key] = value
    with open(sys.argv[1] + ".new", "w") as f:
        json.dump(state, f)
    os.replace(sys.argv[1] + ".new", sys.argv[1])


app = QApplication(["tickets"])
window = QMainWindow()
window.setWindowTitle("Tickets")
window.resize(640, 620)
menu = window.menuBar().addMenu("Ticket")
for name in ("Print this ticket" if changed else "Print ticket", "Refund"):
    menu.addAction(name).triggered.connect(lambda _, n=name.replace("this ", ""): put("menu", n))
body = QWidget()
window.setCentralWidget(body)
column = QVBoxLayout(body)
rows = []


def row(name, widget):
    label = QLabel(name)
    label.setBuddy(widget)
    widget.setAccessibleName(name)
    rows.append((label, widget))


def entry(key, name):
    e = QLineEdit()
    e.textChanged.connect(lambda text: put(key, text))
    row(name, e)


entry("passenger", "Full passenger name" if changed else "Passenger name")
entry("seat", "Seat")
seats = QSpinBox()
seats.valueChanged.connect(lambda n: put("seats", n))
row("Travellers", seats)
kind = QComboBox()
kind.addItems(["Standard", "First", "Sleeper"])
kind.currentTextChanged.connect(lambda text: put("class", text))
row("Class", kind)
form = QFormLayout()
for label, widget in reversed(rows) if changed else rows:
    form.addRow(label, widget)
column.addLayout(form)

bicycle = QCheckBox("Bring my own bicycle" if changed else "Bring my bicycle")
bicycle.toggled.connect(lambda on: put("bicycle", on))
tabs = QTabWidget()
remarks = QPlainTextEdit()
remarks.setAccessibleName("Remarks")
remarks.textChanged.connect(lambda: put("remarks", remarks.toPlainText()))
stations = QListWidget()
stations.addItems(["Aarhus", "Basel", "Calais"])
stations.currentTextChanged.connect(lambda text: put("station", text))
stations.itemDoubleClicked.connect(lambda item: put("opened", item.text()))
for name, page in (("Remarks", remarks), ("Stations", stations)):
    tabs.addTab(page, name)
tabs.currentChanged.connect(lambda n: put("tab", n))


def button(name, do):
    b = QPushButton(name)
    b.clicked.connect(lambda: do())
    return b


def ask():
    d = QDialog(window)
    d.setWindowTitle("Book")
    box = QVBoxLayout(d)
    box.addWidget(QLabel("Book this trip?"))
    for name, does in (("Back", False), ("Book now", True)):
        box.addWidget(button(name, lambda yes=does: (put("booked", yes), d.close())))
    d.open()


buttons = [button("Book trip", ask)]
for name in ("Add luggage before", "Add luggage after") if changed else ("Add luggage",):
    buttons.append(button(name, lambda n=name: put("luggage", n)))
parts = [bicycle, tabs, *buttons]
for part in reversed(parts) if changed else parts:
    column.addWidget(part)
window.show()
put("ready", True)
app.exec()
