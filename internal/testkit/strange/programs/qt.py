"""A strange window in Qt 6: qt.py WINDOW STATE."""

import sys

from PyQt6.QtCore import QEvent, QObject, Qt, QTimer
from PyQt6.QtGui import QAction, QIcon
from PyQt6.QtWidgets import (
    QApplication, QCheckBox, QComboBox, QDialog, QGridLayout, QGroupBox, QHBoxLayout, QHeaderView, QLabel, QLineEdit, QListWidget,
    QMenu, QPlainTextEdit, QPushButton, QRadioButton, QScrollArea, QSlider, QSpinBox, QSplitter, QStyle, QTableWidget, QTableWidgetItem,
    QTabWidget, QToolButton, QVBoxLayout, QWidget)

from state import State, delay, normal, window

W = window()
S = State(sys.argv[2])


def later(node, do):
    """Runs do after the node's delay."""
    QTimer.singleShot(delay(node), do) if delay(node) else do()


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


def children(node):
    return [make(child) for child in node.get("children", [])]


def column(node):
    return box(QHBoxLayout() if node["kind"] == "row" else QVBoxLayout(), *children(node))


def grid(node):
    cells = QGridLayout()
    for i, child in enumerate(children(node)):
        cells.addWidget(child, i // 2, i % 2)
    return box(cells)


def frame(node):
    group = QGroupBox(node["name"])
    layout = QVBoxLayout(group)
    for child in children(node):
        layout.addWidget(child)
    return group


def scrolled(node):
    area = QScrollArea(widgetResizable=True)
    area.setMinimumHeight(120)
    area.setWidget(column(node))
    return area


def paned(node):
    both = QSplitter(Qt.Orientation.Horizontal)
    for child in children(node):
        both.addWidget(child)
    return both


def notebook(node):
    book = QTabWidget()
    for child, title in zip(children(node), node["items"]):
        book.addTab(child, title)
    S.set(node, 0)
    book.currentChanged.connect(lambda n: S.set(node, n))
    return book


def expander(node):
    """A button that shows and hides what is below it."""
    head = QToolButton(text=node["name"], checkable=True, checked=bool(node.get("value")))
    head.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    body = column(node)
    body.setVisible(head.isChecked())
    S.set(node, head.isChecked())

    def toggled(is_open):
        body.setVisible(is_open)
        S.set(node, is_open)
    head.toggled.connect(toggled)
    return box(QVBoxLayout(), head, body)


class Leaving(QObject):
    """Calls do when the focus leaves the widget."""

    def __init__(self, widget, do):
        super().__init__(widget)
        self.do = do
        widget.installEventFilter(self)

    def eventFilter(self, widget, event):
        if event.type() == QEvent.Type.FocusOut:
            self.do()
        return False


def entry(node):
    field = QLineEdit(node.get("value", ""))
    if node["kind"] == "password":
        field.setEchoMode(QLineEdit.EchoMode.Password)
    field.setReadOnly(node["kind"] == "readonly")
    if node.get("habits", {}).get("icon"):
        icon = field.style().standardIcon(QStyle.StandardPixmap.SP_DialogResetButton)
        field.addAction(icon, QLineEdit.ActionPosition.TrailingPosition).triggered.connect(lambda: S.event(node, "icon"))
    S.set(node, field.text())
    field.textChanged.connect(lambda _: later(node, lambda: S.set(node, normal(node, field.text()))))
    if node.get("habits", {}).get("normalise"):
        def tidy():
            if field.text() != normal(node, field.text()):
                field.setText(normal(node, field.text()))
        Leaving(field, tidy)
        field.returnPressed.connect(tidy)
    return with_label(node, field)


def text(node):
    area = QPlainTextEdit(node.get("value", ""))
    area.setMinimumHeight(60)
    S.set(node, area.toPlainText())
    area.textChanged.connect(lambda: later(node, lambda: S.set(node, area.toPlainText())))
    return with_label(node, area)


def combo(node):
    choices = QComboBox()
    choices.addItems(node["items"])
    if node["kind"] == "editcombo":
        choices.setEditable(True)
        choices.setEditText(node.get("value", ""))
        S.set(node, choices.currentText())
        choices.editTextChanged.connect(lambda _: later(node, lambda: S.set(node, choices.currentText())))
    else:
        choices.setCurrentText(node["value"])
        S.set(node, choices.currentText())
        choices.currentTextChanged.connect(lambda _: later(node, lambda: S.set(node, choices.currentText())))
    return with_label(node, choices)


def number(node):
    field = QSpinBox() if node["kind"] == "spin" else QSlider(Qt.Orientation.Horizontal)
    field.setRange(0, node["max"])
    field.setValue(node.get("value", 0))
    S.set(node, field.value())
    field.valueChanged.connect(lambda _: later(node, lambda: S.set(node, field.value())))
    return with_label(node, field)


def check(node):
    part = QCheckBox(node["name"] if node["kind"] == "check" else "")
    part.setChecked(bool(node.get("value")))
    S.set(node, part.isChecked())
    part.toggled.connect(lambda _: later(node, lambda: S.set(node, part.isChecked())))
    return part if node["kind"] == "check" else with_label(node, part)


def radio(node):
    buttons = []
    for item in node["items"]:
        button = QRadioButton(item)
        button.setChecked(item == node["value"])
        button.toggled.connect(lambda on, item=item: on and later(node, lambda: S.set(node, item)))
        buttons.append(button)
    S.set(node, node["value"])
    return box(QVBoxLayout(), *buttons)


def question(node):
    """A dialog that must be closed."""
    dialog = QDialog(WINDOW, windowTitle="Please note", modal=True)
    layout = QVBoxLayout(dialog)
    layout.addWidget(QLabel(node["name"] + " was pressed."))
    close = QPushButton("Understood")
    close.clicked.connect(dialog.accept)
    dialog.finished.connect(lambda _: S.ask(None))
    layout.addWidget(close)
    S.ask(node)
    dialog.open()


def button(node):
    if node.get("labelling") == "tooltip":
        part = QToolButton(icon=WINDOW.style().standardIcon(QStyle.StandardPixmap.SP_DialogSaveButton), toolTip=node["name"])
    else:
        part = QPushButton(node["name"])
    times = [0]

    def pressed():
        times[0] += 1
        S.event(node, "clicked")
        if node.get("habits", {}).get("rename"):
            part.setText(f"{node['name']} ({times[0]})")
        if node.get("habits", {}).get("dialog"):
            question(node)
    part.clicked.connect(lambda: later(node, pressed))
    return part


def link(node):
    part = QLabel(f'<a href="x">{node["name"]}</a>')
    part.setTextInteractionFlags(Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard)
    part.linkActivated.connect(lambda _: later(node, lambda: S.event(node, "clicked")))
    return part


def menu(node):
    part = QPushButton(node["name"])
    choices = QMenu(part)
    for item in node["items"]:
        action = QAction(item, choices)
        action.triggered.connect(lambda _, item=item: S.event(node, item))
        choices.addAction(action)
    part.setMenu(choices)
    return part


def over(node, widget):
    if node["labelling"] == "own":
        widget.setAccessibleName(node["name"])
    if node["labelling"] != "above":
        return widget
    return box(QVBoxLayout(), QLabel(node["name"]), widget)


def rows(node):
    choices = QListWidget()
    choices.addItems(node["items"])
    choices.setMinimumHeight(110)
    S.set(node, "")

    def selected():
        items = choices.selectedItems()
        if not items:
            return
        chosen = items[0].text()
        later(node, lambda: S.set(node, chosen))
        if node.get("habits", {}).get("redraw"):
            QTimer.singleShot(0, again)

    def again():
        choices.blockSignals(True)
        choices.clear()
        choices.addItems(node["items"])
        choices.blockSignals(False)
    choices.itemSelectionChanged.connect(selected)
    return over(node, choices)


def table(node):
    cells = QTableWidget(len(node["items"]), len(node["columns"]))
    cells.setHorizontalHeaderLabels(node["columns"])
    cells.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
    cells.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    cells.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    cells.setMinimumHeight(120)
    for i, item in enumerate(node["items"]):
        for j, text in enumerate([item] + [f"{c.lower()} {i + 1}" for c in node["columns"][1:]]):
            cells.setItem(i, j, QTableWidgetItem(text))
    S.set(node, "")

    def selected():
        chosen = cells.selectedItems()
        if chosen:
            later(node, lambda: S.set(node, node["items"][chosen[0].row()]))
    cells.itemSelectionChanged.connect(selected)
    return over(node, cells)


MAKERS = {
    "column": column, "row": column, "grid": grid, "frame": frame, "paned": paned, "scrolled": scrolled, "notebook": notebook,
    "expander": expander, "entry": entry, "password": entry, "readonly": entry, "text": text, "combo": combo, "editcombo": combo,
    "spin": number, "slider": number, "switch": check, "check": check, "radio": radio, "button": button, "link": link, "menu": menu,
    "list": rows, "table": table, "note": lambda node: QLabel(node["name"]),
}


def make(node):
    widget = MAKERS[node["kind"]](node)
    if node.get("disabled"):
        widget.setEnabled(False)
    return widget


app = QApplication(sys.argv[:1])
WINDOW = QScrollArea(widgetResizable=True, windowTitle=W["title"])
WINDOW.setWidget(make(W["root"]))
WINDOW.resize(W["width"], W["height"])
WINDOW.show()
QTimer.singleShot(300, S.start)
app.exec()
