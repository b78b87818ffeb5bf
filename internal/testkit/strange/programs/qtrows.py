"""The lists, tables, trees and menus of strange windows in Qt 6."""

from qtbase import *


def fill_menu(choices, items, chosen):
    for item in items:
        action = QAction(item, choices)
        action.triggered.connect(lambda _, item=item: chosen(item))
        choices.addAction(action)
    return choices


def menu(node):
    part = QPushButton(node["name"])
    part.setMenu(fill_menu(QMenu(part), node["items"], lambda item: S.event(node, item)))
    return part


def menu_bar(node):
    bar = QMenuBar()
    for title, leaves in zip(node["items"], node["leaves"]):
        fill_menu(bar.addMenu(title), leaves, lambda item: S.event(node, item))
    return bar


def with_choices(node, view):
    """The view with a context menu for its rows."""
    if not node.get("choices"):
        return

    def ask(place):
        index = view.indexAt(place)
        if not index.isValid():
            return
        row = index.data()
        choices = fill_menu(QMenu(view), node["choices"], lambda item: S.event(node, f"{row}: {item}"))
        S.set(node, row, "menu")
        choices.popup(view.viewport().mapToGlobal(place))
    view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    view.customContextMenuRequested.connect(ask)


def rows(node):
    if habit(node, "recycle"):
        return modelled(node)
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
        if habit(node, "redraw"):
            timer(0, lambda: again(chosen))

    def again(chosen):
        choices.blockSignals(True)
        choices.clear()
        choices.addItems(node["items"])
        choices.setCurrentRow(node["items"].index(chosen))
        choices.blockSignals(False)
    choices.itemSelectionChanged.connect(selected)
    with_choices(node, choices)
    return over(node, choices)


def modelled(node):
    """A list view with a model."""
    view, model = QListView(), QStringListModel(node["items"])
    model.setParent(view)
    view.setModel(model)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setMinimumHeight(110)
    S.set(node, "")

    def selected(*_):
        for index in view.selectedIndexes():
            item = index.data()
            later(node, lambda: S.set(node, item))
    view.selectionModel().selectionChanged.connect(selected)
    with_choices(node, view)
    return over(node, view)


def check_list(node):
    choices = QListWidget()
    choices.setMinimumHeight(110)
    for i, text in enumerate(node["items"]):
        item = QListWidgetItem(text, choices)
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(Qt.CheckState.Unchecked)
        S.set(node, False, i)

    def changed(item):
        later(node, lambda: S.set(node, item.checkState() == Qt.CheckState.Checked, choices.row(item)))
    choices.itemChanged.connect(changed)
    return over(node, choices)


def table(node):
    cells = QTableWidget(len(node["items"]), len(node["columns"]))
    cells.setHorizontalHeaderLabels(node["columns"])
    cells.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    cells.setMinimumHeight(120)
    for i in range(len(node["items"])):
        for j in range(len(node["columns"])):
            cells.setItem(i, j, QTableWidgetItem(cell(node, i, j)))
    if node["kind"] == "sheet":
        cells.itemChanged.connect(lambda item: S.set(node, item.text(), f"{item.row()}/{item.column()}"))
        return over(node, cells)
    cells.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
    cells.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    S.set(node, "")

    def selected():
        chosen = cells.selectedItems()
        if chosen:
            item = node["items"][chosen[0].row()]
            later(node, lambda: S.set(node, item))
    cells.itemSelectionChanged.connect(selected)
    return over(node, cells)


def tree(node):
    view = QTreeWidget()
    view.setHeaderHidden(True)
    view.setMinimumHeight(110)
    S.set(node, "")
    for i, (item, leaves) in enumerate(zip(node["items"], node["leaves"])):
        top = QTreeWidgetItem(view, [item])
        for leaf in leaves:
            QTreeWidgetItem(top, [leaf])
        S.set(node, False, i)
    view.itemExpanded.connect(lambda item: S.set(node, True, view.indexOfTopLevelItem(item)))
    view.itemCollapsed.connect(lambda item: S.set(node, False, view.indexOfTopLevelItem(item)))

    def selected():
        for item in view.selectedItems():
            text = item.text(0)
            later(node, lambda: S.set(node, text))
    view.itemSelectionChanged.connect(selected)
    return over(node, view)


MAKERS.update({"menu": menu, "menubar": menu_bar, "list": rows, "checklist": check_list, "table": table, "sheet": table, "tree": tree})
