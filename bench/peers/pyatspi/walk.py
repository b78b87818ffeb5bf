"""Reads the tree of a program as most tools do: node by node, by pyatspi. A line on
standard input is the program's process; a line on standard output is
{"ms", "nodes"}."""

import json
import sys
import time

import pyatspi

# LibreOffice says that a sheet has two thousand million cells.
MOST_CHILDREN = 2000


def walk(node):
    """Reads what a snapshot tells of a node, and returns how many nodes there are."""
    _ = node.name, node.getRole(), node.getState().getStates()
    if "Component" in (interfaces := pyatspi.listInterfaces(node)):
        _ = node.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
    if "Action" in interfaces:
        action = node.queryAction()
        _ = [action.getName(i) for i in range(action.nActions)]
    count = node.childCount
    if count > MOST_CHILDREN:
        return 1
    return 1 + sum(walk(child) for i in range(count) if (child := node.getChildAtIndex(i)))


def program(pid):
    for app in pyatspi.Registry.getDesktop(0):
        if app and app.get_process_id() == pid:
            return app
    raise LookupError(f"process {pid} is not on the accessibility bus")


def read(pid):
    app = program(pid)
    begun = time.perf_counter()
    nodes = walk(app)
    return {"ms": 1000 * (time.perf_counter() - begun), "nodes": nodes}


for line in sys.stdin:
    try:
        told = read(int(line))
    except Exception as e:  # whatever it is, it is told
        told = {"error": repr(e)}
    print(json.dumps(told), flush=True)
