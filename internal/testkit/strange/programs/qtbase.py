"""The common parts of strange windows in Qt 6: qt.py FOLDER."""

import sys

from PyQt6 import sip
from PyQt6.QtCore import QDate, QEvent, QObject, QRegularExpression, QStringListModel, Qt, QTimer
from PyQt6.QtGui import QAction, QIcon, QPainter, QRegularExpressionValidator
from PyQt6.QtWidgets import (
    QAbstractItemView, QApplication, QCalendarWidget, QCheckBox, QComboBox, QDateEdit, QDialog, QFrame, QGridLayout, QGroupBox, QHBoxLayout,
    QHeaderView, QLabel, QLineEdit, QListView, QListWidget, QListWidgetItem, QMainWindow, QMenu, QMenuBar, QPlainTextEdit, QPushButton,
    QRadioButton, QScrollArea, QSlider, QSpinBox, QSplitter, QStackedWidget, QStyle, QTableWidget, QTableWidgetItem, QTabWidget, QToolBar,
    QToolButton, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget)

from state import State, accepted, cell, delay, habit, normal

S = State(sys.argv[1])
MAKERS = {}
SHOWN = {}  # "window" is the main window


def timer(ms, do):
    """Runs do after the time, if the window is still the same."""
    name = S.name
    QTimer.singleShot(ms, lambda: name == S.name and do())


def later(node, do):
    """Runs do after the node's delay."""
    timer(delay(node), do) if delay(node) else do()


def box(layout, *widgets):
    part = QWidget()
    layout.setContentsMargins(0, 0, 0, 0)
    part.setLayout(layout)
    for widget in widgets:
        layout.addWidget(widget)
    return part


def with_label(node, widget):
    """The widget with its label at the place that the node wants."""
    how, name = node.get("labelling", "own"), node.get("name", "")
    if how == "own":
        widget.setAccessibleName(name)
    if how == "placeholder":
        widget.setPlaceholderText(name)
    if how == "tooltip":
        widget.setToolTip(name)
    if how not in ("relation", "before", "above", "after"):
        return widget
    text = QLabel(name)
    if how == "relation":
        text.setBuddy(widget)
    return box(QVBoxLayout() if how == "above" else QHBoxLayout(), *((widget, text) if how == "after" else (text, widget)))


def over(node, widget):
    if node["labelling"] == "own":
        widget.setAccessibleName(node["name"])
    if node["labelling"] != "above":
        return widget
    return box(QVBoxLayout(), QLabel(node["name"]), widget)


def question(node):
    """A dialog that must be closed."""
    dialog = QDialog(SHOWN["window"], windowTitle="Please note", modal=True)
    layout = QVBoxLayout(dialog)
    layout.addWidget(QLabel(node["name"] + " was used."))
    close = QPushButton("Understood")
    close.clicked.connect(dialog.accept)
    dialog.finished.connect(lambda _: S.ask(None))
    layout.addWidget(close)
    S.ask(node)
    dialog.open()


class Covered(QWidget):
    """A widget below something opaque."""

    def __init__(self, widget):
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(widget)
        self.cover = QLabel("▒▒▒▒▒▒▒▒▒▒▒▒", self)
        self.cover.setAutoFillBackground(True)
        self.cover.raise_()

    def resizeEvent(self, event):
        self.cover.resize(self.size())


def make(node):
    widget = MAKERS[node["kind"]](node)
    if node.get("disabled"):
        widget.setEnabled(False)
    if node.get("covered"):
        widget = Covered(widget)
    if node.get("hidden"):
        widget.setVisible(False)
    return widget
