"""A window of Qt 6 with one control of every kind."""

import ctypes
import ctypes.util
import signal
import sys

from PyQt6.QtCore import QEvent, QObject, QPoint, QStringListModel, Qt, QTimer
from PyQt6.QtGui import QWindow
from PyQt6.QtWidgets import (
    QApplication, QCheckBox, QComboBox, QDialog, QDialogButtonBox, QFrame, QGridLayout, QHBoxLayout, QLabel, QLineEdit,
    QListView, QListWidget, QMainWindow, QPlainTextEdit, QPushButton, QSlider, QSpinBox, QTabWidget, QVBoxLayout, QWidget)

from oracle import Oracle, arguments

x11 = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
x11.XKeysymToString.restype = ctypes.c_char_p
x11.XKeysymToString.argtypes = [ctypes.c_ulong]


def named(widget, name):
    widget.setAccessibleName(name)
    return widget


def row(*widgets):
    box = QHBoxLayout()
    for widget in widgets:
        box.addWidget(widget)
    if not isinstance(widgets[-1], (QLineEdit, QSlider, QSpinBox, QComboBox)):
        box.addStretch()
    return box


class Keys(QObject):
    """Sees the key presses that come to the window, whatever control has the focus."""

    def __init__(self, oracle):
        super().__init__()
        self.oracle = oracle

    def eventFilter(self, receiver, event):
        if event.type() == QEvent.Type.KeyPress and isinstance(receiver, QWindow):
            has, held = event.modifiers(), Qt.KeyboardModifier
            name = x11.XKeysymToString(event.nativeVirtualKey()) or b""
            self.oracle.key(name.decode(), event.text(), {
                "ctrl": bool(has & held.ControlModifier), "alt": bool(has & held.AltModifier),
                "shift": bool(has & held.ShiftModifier), "super": bool(has & held.MetaModifier)})
        return False


class Canvas(QFrame):
    def __init__(self, oracle):
        super().__init__(frameShape=QFrame.Shape.StyledPanel)
        self.oracle, self.count, self.last = oracle, 0, None
        self.setMinimumHeight(120)
        named(self, "Canvas")

    def press(self, event, count):
        number = {Qt.MouseButton.LeftButton: 1, Qt.MouseButton.MiddleButton: 2, Qt.MouseButton.RightButton: 3}
        self.number = number.get(event.button(), 0)
        self.oracle.press(self.number, count, event.position().x(), event.position().y())

    def mousePressEvent(self, event):
        self.press(event, 1)

    def mouseDoubleClickEvent(self, event):
        self.press(event, 2)

    def mouseReleaseEvent(self, event):
        self.oracle.release(self.number, event.position().x(), event.position().y())


class Window(QMainWindow):
    def __init__(self, args):
        super().__init__()
        self.places = {}
        self.oracle = Oracle(args, self.where)
        self.keys = Keys(self.oracle)
        QApplication.instance().installEventFilter(self.keys)
        self.setWindowTitle(args.title)
        self.resize(700, 600)
        if args.rows:
            self.setCentralWidget(self.rows(args.rows))
        else:
            self.menu()
            self.setCentralWidget(self.controls())

    def event(self, event):
        if event.type() in (QEvent.Type.WindowActivate, QEvent.Type.WindowDeactivate):
            self.oracle.set(focused=self.isActiveWindow())
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize, QEvent.Type.Show):
            QTimer.singleShot(0, self.oracle.write)
        if event.type() == QEvent.Type.Paint:
            QTimer.singleShot(0, self.oracle.appear)
        return super().event(event)

    def where(self):
        places = {}
        for name, place in self.places.items():
            widget, rect = place()
            if widget.isVisible():
                at = widget.mapTo(self, rect.topLeft())
                places[name] = (at.x(), at.y(), rect.width(), rect.height())
        return places

    def place(self, widget, name):
        self.places[name] = lambda: (widget, widget.rect())
        return widget

    def button(self, name, do, place=None):
        button = QPushButton(name)
        button.clicked.connect(lambda: do())
        return self.place(button, place or name)

    def adds(self, name, key):
        return self.button(name, lambda: self.oracle.add(key))

    def labelled(self, name, widget):
        """A control, named twice: Qt names a combo box by its value, so the label has to do."""
        label = QLabel(name)
        label.setBuddy(widget)
        return row(label, self.place(named(widget, name), name))

    # The controls, from the top.

    def menu(self):
        file = self.menuBar().addMenu("File")
        for name in "New", "Quit-not":
            file.addAction(name).triggered.connect(lambda _, name=name: self.oracle.set(menu=name))
        self.places["File"] = lambda: (self.menuBar(), self.menuBar().actionGeometry(file.menuAction()))

    def controls(self):
        both = QWidget()
        columns = QGridLayout(both)
        for n, things in enumerate((self.left(), self.right())):
            column = QVBoxLayout()
            for thing in things:
                (column.addWidget if isinstance(thing, QWidget) else column.addLayout)(thing)
            if isinstance(things[-1], Canvas):
                column.setStretchFactor(things[-1], 1)
            else:
                column.addStretch()
            columns.addLayout(column, 0, n)
            columns.setColumnStretch(n, 1)
        return both

    def left(self):
        times = QLabel("Pressed 0 times")

        def press():
            self.oracle.add("presses")
            times.setText(f"Pressed {self.oracle.state['presses']} times")

        disabled = self.adds("Disabled", "presses")
        disabled.setEnabled(False)
        twins = [self.button("Twin", lambda n=n: self.oracle.set(twin=n), f"Twin {n}") for n in (1, 2)]
        agree = self.place(QCheckBox("Agree"), "Agree")
        agree.toggled.connect(lambda on: self.oracle.set(agree=on))

        def slowly():
            self.oracle.add("slow")
            times.setText(f"Slow {self.oracle.state['slow']} times")

        slow = self.button("Slow", lambda: QTimer.singleShot(150, slowly))
        return [row(self.button("Press", press), times), row(disabled, *twins), row(agree), *self.fields(),
                row(slow, self.button("Dead", lambda: None)), QLabel("Status: ready")]

    def fields(self):
        name = self.place(QLineEdit(), "Full name")
        label = QLabel("Full name")
        label.setBuddy(name)
        name.textChanged.connect(lambda text: self.oracle.set(name=text))
        password = QLineEdit(echoMode=QLineEdit.EchoMode.Password)
        password.textChanged.connect(lambda text: self.oracle.set(password=text))
        volume = QSlider(Qt.Orientation.Horizontal, maximum=100, value=30)
        volume.valueChanged.connect(lambda value: self.oracle.set(volume=value))
        count = QSpinBox(maximum=100, value=5)
        count.valueChanged.connect(lambda value: self.oracle.set(count=value))
        colour = QComboBox()
        colour.addItems(["Red", "Green", "Blue"])
        colour.currentTextChanged.connect(lambda text: self.oracle.set(colour=text))
        notes = self.place(named(QPlainTextEdit(tabChangesFocus=True), "Notes"), "Notes")
        notes.setFixedHeight(80)
        notes.textChanged.connect(lambda: self.oracle.set(notes=notes.toPlainText()))
        return [row(label, name), self.labelled("Password", password), self.labelled("Volume", volume),
                self.labelled("Count", count), self.labelled("Colour", colour), QLabel("Notes"), notes]

    def right(self):
        ghost = self.adds("Ghost", "ghost")

        def hide():
            ghost.hide()
            self.oracle.set(hidden=True)

        return [self.tabs(), QLabel("Fruits"), self.fruits(),
                row(self.button("Shuffle", self.shuffle), self.button("Open dialog", self.dialog)),
                row(self.button("Hide", hide), ghost), self.place(Canvas(self.oracle), "Canvas")]

    def tabs(self):
        book = QTabWidget()
        page = QWidget()
        QHBoxLayout(page).addWidget(self.adds("On second", "second"))
        book.addTab(QLabel("This is first"), "First")
        book.addTab(page, "Second")
        for n, name in enumerate(("First", "Second")):
            self.places[name] = lambda n=n: (book.tabBar(), book.tabBar().tabRect(n))
        book.currentChanged.connect(lambda n: self.oracle.set(tab=book.tabText(n)))
        book.setFixedHeight(80)
        return book

    def fruits(self):
        self.list = self.place(named(QListWidget(), "Fruits"), "Fruits")
        self.selected(self.list, "fruit")
        self.list.setFixedHeight(150)
        self.fill(range(1, 41))
        return self.scrolled(self.list)

    def fill(self, numbers):
        for at, n in enumerate(numbers):
            self.list.addItem(f"Fruit {n}")
            self.places[f"Fruit {n}"] = lambda at=at: (self.list.viewport(), self.list.visualItemRect(self.list.item(at)))

    def shuffle(self):
        numbers = [int(self.list.item(i).text().split()[1]) for i in range(self.list.count())]
        self.list.clear()
        self.fill(reversed(numbers))
        self.oracle.add("shuffled")

    def selected(self, view, key):
        def changed():
            indexes = view.selectedIndexes()
            self.oracle.set(**{key: indexes[0].data() if indexes else ""})

        view.selectionModel().selectionChanged.connect(lambda *_: QTimer.singleShot(0, changed))

    def scrolled(self, view):
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        view.verticalScrollBar().valueChanged.connect(lambda value: self.oracle.set(scroll=value))
        return view

    def dialog(self):
        dialog = QDialog(self, windowTitle="Really?")
        buttons = QDialogButtonBox()
        answers = {}
        for name, role in ("Yes", QDialogButtonBox.ButtonRole.YesRole), ("No", QDialogButtonBox.ButtonRole.NoRole):
            answers[buttons.addButton(name, role)] = name.lower()
        column = QVBoxLayout(dialog)
        column.addWidget(QLabel("It cannot be undone."))
        column.addWidget(buttons)

        def answer(text):
            dialog.finished.disconnect()
            dialog.close()
            dialog.deleteLater()
            self.oracle.set(dialog=text)

        buttons.clicked.connect(lambda button: answer(answers[button]))
        dialog.finished.connect(lambda _: answer("closed"))
        dialog.open()
        self.oracle.set(dialog="open")

    def rows(self, n):
        view = QListView(uniformItemSizes=True)
        view.setModel(QStringListModel([f"Row {i}" for i in range(1, n + 1)], view))
        self.selected(view, "row")
        return self.scrolled(self.place(named(view, "Rows"), "Rows"))


args = arguments()
signal.signal(signal.SIGINT, signal.SIG_DFL)
app = QApplication(sys.argv)
app.setApplicationName("fixture-qt6")
window = Window(args)
window.show()
app.exec()
