"""The fields and buttons of strange windows in GTK."""

from gtkbase import *


def entry(node):
    field = Gtk.Entry(text=node.get("value", ""))
    if node["kind"] == "password":
        field.set_visibility(False)
        field.set_input_purpose(Gtk.InputPurpose.PASSWORD)
    if node["kind"] == "readonly":
        field.set_editable(False)
    if node.get("max"):
        field.set_max_length(node["max"])
    if habit(node, "icon"):
        field.set_icon_from_icon_name(Gtk.EntryIconPosition.SECONDARY, "edit-clear-symbolic")
        field.connect("icon-press", lambda *_: S.event(node, "icon"))
    S.set(node, field.get_text())
    asked = []

    def reform():
        if field.get_text() != accepted(node, field.get_text()):
            field.set_text(accepted(node, field.get_text()))
            field.set_position(-1)

    def changed(_):
        later(node, lambda: S.set(node, normal(node, field.get_text())))
        if habit(node, "accepts"):
            GLib.idle_add(lambda: reform() and False)
        if habit(node, "dialog") and not asked:
            asked.append(True)
            timer(100, lambda: question(node))
    field.connect("changed", changed)
    if habit(node, "normalise"):
        def tidy():
            if field.get_text() != normal(node, field.get_text()):
                field.set_text(normal(node, field.get_text()))
        watch_focus(field, tidy)
        field.connect("activate", lambda _: tidy())
    if habit(node, "steal"):
        watch_focus(field, entered=lambda: timer(50, lambda: SHOWN["window"].set_focus(None)))
    return with_label(node, field)


def date(node):
    field = Gtk.Entry(text=node["value"])
    S.set(node, node["value"])

    def tidy():
        parts = field.get_text().split("-")
        if [len(p) for p in parts] == [4, 2, 2] and all(p.isdigit() for p in parts):
            S.set(node, field.get_text())
        else:
            field.set_text(S.values[node["id"]])
    field.connect("activate", lambda _: tidy())
    watch_focus(field, tidy)
    field.connect("changed", lambda _: later(node, lambda: len(field.get_text()) == 10 and tidy()))
    return with_label(node, field)


def calendar(node):
    days = Gtk.Calendar()
    year, month, day = (int(p) for p in node["value"].split("-"))
    if NEW:
        days.select_day(GLib.DateTime.new_local(year, month, day, 0, 0, 0))
    else:
        days.select_month(month - 1, year)
        days.select_day(day)

    def value():
        if NEW:
            return days.get_date().format("%Y-%m-%d")
        now = days.get_date()
        return f"{now.year:04}-{now.month + 1:02}-{now.day:02}"
    S.set(node, value())
    days.connect("day-selected", lambda _: S.set(node, value()))
    return over(node, days, days)


def text(node):
    area = Gtk.TextView()
    buffer = area.get_buffer()
    buffer.set_text(node.get("value", ""))

    def content():
        return buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), True)
    S.set(node, content())
    buffer.connect("changed", lambda _: later(node, lambda: S.set(node, content())))
    box = with_label(node, area)
    return scrolling(area, 60) if box is area else box


def combo(node):
    free = node["kind"] == "editcombo"
    box = Gtk.ComboBoxText.new_with_entry() if free else Gtk.ComboBoxText()
    for item in node["items"]:
        box.append_text(item)
    if free:
        inner = box.get_child()
        inner.set_text(node.get("value", ""))
        S.set(node, inner.get_text())
        inner.connect("changed", lambda _: later(node, lambda: S.set(node, inner.get_text())))
    else:
        box.set_active(node["items"].index(node["value"]))
        S.set(node, node["value"])
        box.connect("changed", lambda _: later(node, lambda: S.set(node, box.get_active_text())))
    return with_label(node, box)


def dropdown(node):
    down = Gtk.DropDown.new_from_strings(node["items"])
    down.set_selected(node["items"].index(node["value"]))
    S.set(node, node["value"])
    down.connect("notify::selected", lambda *_: later(node, lambda: S.set(node, node["items"][down.get_selected()])))
    return with_label(node, down)


def number(node):
    adjustment = Gtk.Adjustment(value=node.get("value", 0), upper=node["max"], step_increment=1, page_increment=10)
    if node["kind"] == "spin":
        field = Gtk.SpinButton(adjustment=adjustment)
    else:
        field = Gtk.Scale(adjustment=adjustment, digits=0)
        field.set_size_request(140, -1)
    S.set(node, round(adjustment.get_value()))
    box = with_label(node, field)
    if habit(node, "rename"):
        def rename(*_):
            name = f"{node['name']}: {round(adjustment.get_value())}"
            if box is field:
                named(field, name)
            else:
                (box.get_first_child() if NEW else box.get_children()[0]).set_label(name)
        rename()
        adjustment.connect("value-changed", rename)
    adjustment.connect("value-changed", lambda a: later(node, lambda: S.set(node, round(a.get_value()))))
    return box


def switch(node):
    toggle = Gtk.Switch(active=node.get("value", False), halign=Gtk.Align.START)
    S.set(node, toggle.get_active())
    toggle.connect("notify::active", lambda *_: later(node, lambda: S.set(node, toggle.get_active())))
    return with_label(node, toggle)


def check(node):
    box = Gtk.CheckButton(active=node.get("value", False))

    def rename(*_):
        box.set_label(node["name"] + ((": on" if box.get_active() else ": off") if habit(node, "rename") else ""))
    rename()
    S.set(node, box.get_active())
    box.connect("toggled", rename)
    box.connect("toggled", lambda _: later(node, lambda: S.set(node, box.get_active())))
    return box


def radio(node):
    group = Gtk.Box(orientation=V)
    one = None
    for item in node["items"]:
        if NEW:
            button = Gtk.CheckButton(label=item, group=one)
        else:
            button = Gtk.RadioButton.new_with_label_from_widget(one, item)
        one = one or button
        button.set_active(item == node["value"])
        button.connect("toggled", lambda b, item=item: b.get_active() and later(node, lambda: S.set(node, item)))
        put(group, button)
    S.set(node, node["value"])
    return group


def button(node):
    if node.get("labelling") in ("tooltip", "none"):
        part = Gtk.Button.new_from_icon_name("document-save-symbolic") if NEW else Gtk.Button.new_from_icon_name("document-save-symbolic", Gtk.IconSize.BUTTON)
        if node["labelling"] == "tooltip":
            part.set_tooltip_text(node["name"])
    else:
        part = Gtk.Button(label=node["name"])
    times = [0]

    def pressed():
        times[0] += 1
        S.event(node, "clicked")
        if habit(node, "rename"):
            part.set_label(f"{node['name']} ({times[0]})")
        if habit(node, "dialog"):
            question(node)
    part.connect("clicked", lambda _: later(node, pressed))
    return part


def link(node):
    part = Gtk.LinkButton.new_with_label("http://127.0.0.1:1/", node["name"])
    part.connect("activate-link", lambda _: later(node, lambda: S.event(node, "clicked")) or True)
    return part


def drawn(node):
    area = Gtk.DrawingArea()
    area.set_size_request(160, 24 * len(node["items"]))

    def draw(_, context, *__):
        for i, item in enumerate(node["items"]):
            context.rectangle(4, 24 * i + 2, 150, 20)
            context.stroke()
            context.move_to(10, 24 * i + 16)
            context.show_text(item)

    def pressed(y):
        if 0 <= y < 24 * len(node["items"]):
            S.event(node, node["items"][int(y // 24)])
    if NEW:
        area.set_draw_func(draw)
        click = Gtk.GestureClick()
        click.connect("pressed", lambda _, n, x, y: pressed(y))
        area.add_controller(click)
    else:
        area.connect("draw", draw)
        area.add_events(Gdk.EventMask.BUTTON_PRESS_MASK)
        area.connect("button-press-event", lambda _, e: pressed(e.y))
    return area


MAKERS.update({
    "entry": entry, "password": entry, "readonly": entry, "text": text, "date": date, "calendar": calendar, "combo": dropdown if NEW else combo,
    "editcombo": combo, "spin": number, "slider": number, "switch": switch, "check": check, "radio": radio, "button": button, "link": link,
    "drawn": drawn, "note": lambda node: label(node["name"]),
})
