"""Strange windows in Qt 6: qt.py FOLDER."""

from qtbase import *
import qtfields
import qtrows


def children(node):
    return [make(child) for child in node.get("children", [])]


def column(node):
    return box(QHBoxLayout() if node["kind"] == "row" else QVBoxLayout(), *children(node))


def toolbar(node):
    bar = QToolBar()
    for child in children(node):
        bar.addWidget(child)
    return bar


def grid(node):
    cells = QGridLayout()
    for child, i in zip(children(node), node.get("places") or range(len(node.get("children", [])))):
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


def pages(node):
    inner = QStackedWidget()
    for child in children(node):
        inner.addWidget(child)
    S.set(node, 0)
    inner.currentChanged.connect(lambda n: S.set(node, n))
    return inner


def stack(node):
    """A list whose current row is the page, as in most preferences."""
    choices, inner = QListWidget(), pages(node)
    choices.addItems(node["items"])
    choices.setMaximumWidth(160)
    choices.setCurrentRow(0)
    choices.currentRowChanged.connect(inner.setCurrentIndex)
    return box(QHBoxLayout(), choices, inner)


def wizard(node):
    inner = pages(node)
    buttons = []
    for title, step in (("Back", -1), ("Next", 1)):
        button = QPushButton(title)
        button.clicked.connect(lambda _, step=step: inner.setCurrentIndex(max(0, min(inner.currentIndex() + step, inner.count() - 1))))
        buttons.append(button)
    return box(QVBoxLayout(), inner, box(QHBoxLayout(), *buttons))


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


class Front(QDialog):
    """A window in front, which says when it is shown and hidden."""

    def __init__(self, node, title, **more):
        super().__init__(SHOWN["window"], windowTitle=title, **more)
        self.node = node
        self.setLayout(QVBoxLayout())
        for child in children(node):
            self.layout().addWidget(child)
        S.set(node, False)

    def showEvent(self, event):
        S.set(self.node, True)

    def hideEvent(self, event):
        S.set(self.node, False)


def popover(node):
    part, over = QPushButton(node["name"]), Front(node, "")
    over.setWindowFlags(Qt.WindowType.Popup)

    def opened():
        over.move(part.mapToGlobal(part.rect().bottomLeft()))
        over.show()
    part.clicked.connect(opened)
    return part


def dialog(node):
    part, front = QPushButton(node["name"]), Front(node, "Details", modal=node.get("modal", False))
    close = QPushButton("Dismiss")
    close.clicked.connect(front.reject)
    front.layout().addWidget(close)
    part.clicked.connect(front.show)
    return part


MAKERS.update({
    "column": column, "row": column, "toolbar": toolbar, "grid": grid, "frame": frame, "paned": paned, "scrolled": scrolled, "notebook": notebook,
    "stack": stack, "wizard": wizard, "expander": expander, "popover": popover, "dialog": dialog,
})


class Main(QWidget):
    def closeEvent(self, event):
        S.event({"id": "window"}, "closed")


def display(w):
    """Shows the window in the place of the one before."""
    app.setLayoutDirection(Qt.LayoutDirection.RightToLeft if w.get("rtl") else Qt.LayoutDirection.LeftToRight)
    window = SHOWN["window"] = Main(windowTitle=w["title"])
    page = QScrollArea(widgetResizable=True)
    layout = QVBoxLayout(window)
    layout.addWidget(page)
    page.setWidget(make(w["root"]))
    if w.get("status"):
        line = QLabel("0 events")
        layout.addWidget(line)
        S.counted = lambda events: line.setText(f"{events} events")
    window.resize(w["width"], w["height"])
    window.show()


def look():
    """Shows the next window, if there is one."""
    following = S.next()
    if following:
        name, w = following
        S.begin("")
        if "window" in SHOWN:
            SHOWN["window"].hide()
            sip.delete(SHOWN.pop("window"))
        S.begin(name)
        display(w)
        timer(250, lambda: S.start(name))


app = QApplication(sys.argv[:1])
app.setQuitOnLastWindowClosed(False)
clock = QTimer(interval=30)
clock.timeout.connect(look)
clock.start()
app.exec()
