"""The fields and buttons of strange windows in Qt 6."""

from qtbase import *


class Focus(QObject):
    """Calls left and entered when the focus leaves or enters the widget."""

    def __init__(self, widget, left=None, entered=None):
        super().__init__(widget)
        self.left, self.entered = left, entered
        widget.installEventFilter(self)

    def eventFilter(self, widget, event):
        if event.type() == QEvent.Type.FocusOut and self.left:
            self.left()
        if event.type() == QEvent.Type.FocusIn and self.entered:
            self.entered()
        return False


def entry(node):
    field = QLineEdit()
    if habit(node, "accepts") == "digits":
        field.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d*")))
    if habit(node, "accepts") == "mask":
        field.setInputMask("99-99-99")
    if node["kind"] == "password":
        field.setEchoMode(QLineEdit.EchoMode.Password)
    if node.get("max"):
        field.setMaxLength(node["max"])
    field.setText(node.get("value", ""))
    field.setReadOnly(node["kind"] == "readonly")
    if habit(node, "icon"):
        icon = field.style().standardIcon(QStyle.StandardPixmap.SP_DialogResetButton)
        field.addAction(icon, QLineEdit.ActionPosition.TrailingPosition).triggered.connect(lambda: S.event(node, "icon"))
    S.set(node, field.text())
    asked = []

    def changed(_):
        later(node, lambda: S.set(node, normal(node, field.text())))
        if habit(node, "dialog") and not asked:
            asked.append(True)
            timer(100, lambda: question(node))
    field.textChanged.connect(changed)
    if habit(node, "normalise"):
        def tidy():
            if field.text() != normal(node, field.text()):
                field.setText(normal(node, field.text()))
        Focus(field, tidy)
        field.returnPressed.connect(tidy)
    if habit(node, "steal"):
        Focus(field, entered=lambda: timer(50, field.clearFocus))
    return with_label(node, field)


def day_of(text):
    return QDate.fromString(text, "yyyy-MM-dd")


def date(node):
    field = QDateEdit(day_of(node["value"]))
    field.setDisplayFormat("yyyy-MM-dd")
    S.set(node, node["value"])
    field.dateChanged.connect(lambda day: later(node, lambda: S.set(node, day.toString("yyyy-MM-dd"))))
    return with_label(node, field)


def calendar(node):
    days = QCalendarWidget()
    days.setSelectedDate(day_of(node["value"]))
    S.set(node, node["value"])
    days.selectionChanged.connect(lambda: S.set(node, days.selectedDate().toString("yyyy-MM-dd")))
    return over(node, days)


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
    whole = with_label(node, field)
    if habit(node, "rename"):
        text = whole.findChild(QLabel) if whole is not field else None

        def rename(*_):
            name = f"{node['name']}: {field.value()}"
            text.setText(name) if text else field.setAccessibleName(name)
        rename()
        field.valueChanged.connect(rename)
    field.valueChanged.connect(lambda _: later(node, lambda: S.set(node, field.value())))
    return whole


def check(node):
    part = QCheckBox()
    part.setChecked(bool(node.get("value")))

    def rename(*_):
        if node["kind"] == "check":
            part.setText(node["name"] + ((": on" if part.isChecked() else ": off") if habit(node, "rename") else ""))
    rename()
    S.set(node, part.isChecked())
    part.toggled.connect(rename)
    part.clicked.connect(lambda _: later(node, lambda: S.set(node, part.isChecked())))
    return part if node["kind"] == "check" else with_label(node, part)


def radio(node):
    buttons = []
    for item in node["items"]:
        button = QRadioButton(item)
        button.setChecked(item == node["value"])
        button.clicked.connect(lambda on, item=item: on and later(node, lambda: S.set(node, item)))
        buttons.append(button)
    S.set(node, node["value"])
    return box(QVBoxLayout(), *buttons)


def button(node):
    icon = SHOWN["window"].style().standardIcon(QStyle.StandardPixmap.SP_DialogSaveButton)
    if node.get("labelling") == "tooltip":
        part = QToolButton(icon=icon, toolTip=node["name"])
    elif node.get("labelling") == "none":
        part = QToolButton(icon=icon)
    else:
        part = QPushButton(node["name"])
    times = [0]

    def pressed():
        times[0] += 1
        S.event(node, "clicked")
        if habit(node, "rename"):
            part.setText(f"{node['name']} ({times[0]})")
        if habit(node, "dialog"):
            question(node)
    part.clicked.connect(lambda: later(node, pressed))
    return part


def link(node):
    part = QLabel(f'<a href="x">{node["name"]}</a>')
    part.setTextInteractionFlags(Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard)
    part.linkActivated.connect(lambda _: later(node, lambda: S.event(node, "clicked")))
    return part


class Drawn(QWidget):
    """An area with drawn words."""

    def __init__(self, node):
        super().__init__()
        self.node = node
        self.setMinimumSize(160, 24 * len(node["items"]))

    def paintEvent(self, event):
        painter = QPainter(self)
        for i, item in enumerate(self.node["items"]):
            painter.drawRect(4, 24 * i + 2, 150, 20)
            painter.drawText(10, 24 * i + 16, item)

    def mousePressEvent(self, event):
        i = int(event.position().y() // 24)
        if 0 <= i < len(self.node["items"]):
            S.event(self.node, self.node["items"][i])


MAKERS.update({
    "entry": entry, "password": entry, "readonly": entry, "text": text, "date": date, "calendar": calendar, "combo": combo, "editcombo": combo,
    "spin": number, "slider": number, "switch": check, "check": check, "radio": radio, "button": button, "link": link, "drawn": Drawn,
    "note": lambda node: QLabel(node["name"]),
})
