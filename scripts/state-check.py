#!/usr/bin/env python3
"""Fills a home with all state by one gateway, then uses it by another and by the first again. See scripts/state-check."""
import json, os, pty, re, subprocess, sys

old, new, home = sys.argv[1:4]
env = {k: os.environ[k] for k in ("PATH", "DBUS_SESSION_BUS_ADDRESS") if k in os.environ}
env |= {"HOME": home, "LANG": "C.UTF-8", "AAI_INSECURE_STORAGE": "1"}
PHRASE = "a phrase of this person"
APP = "org.example.Names"
failed = []


def run(program, *args, text=""):
    """Runs a command without a terminal; returns its exit code and all output."""
    p = subprocess.run([program, *args], env=env, input=text, capture_output=True, text=True, timeout=120)
    return p.returncode, p.stdout + p.stderr


def typed(program, *args, lines):
    """Runs a command at a terminal, and types a line at each prompt."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(program, [program, *args], env)
    said, at, left = "", 0, list(lines)
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        said += part.decode(errors="replace")
        if re.search(r"\[1\]: |gateway: |Once more: |\[y/N\] |(key|Key|token|password)[^\n]*: $", said[at:]):
            at = len(said)
            os.write(terminal, (left.pop(0) if left else "\x04").encode() + b"\n")
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said


def check(name, ok, said):
    print(("ok      " if ok else "FAILED  ") + name)
    if not ok:
        failed.append(name)
        print("        " + said.strip().replace("\n", "\n        ")[:1500])


def knows(program, *args):
    """Reports whether the gateway has the command: an older one shows its general help."""
    code, said = run(program, *args, "--help")
    return code == 0 and f"aai-gateway {' '.join(args)}" in said


def write(name, value):
    path = os.path.join(home, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(value if isinstance(value, str) else json.dumps(value, indent=2))


def tool(name, method, effect, **more):
    return {"name": name, "description": name, "parameters": {"type": "object", "properties": {}}, "method": method, "effect": effect, **more}


def fill(program):
    write(f".aai/{APP}/aai.json", {"schema_version": "1.0", "appId": APP, "name": "Names", "description": "The session bus.", "platforms": {"linux": {
        "automation": "dbus", "service": "org.freedesktop.DBus", "object": "/org/freedesktop/DBus", "interface": "org.freedesktop.DBus", "tools": [
            tool("names", "ListNames", "reads"), tool("bus", "GetId", "reads")]}}})
    write(".aai/config.json", {"logLevel": "error", "net": {"allowPrivate": ["10.0.0.1"]}})
    os.chmod(os.path.join(home, ".aai"), 0o700)
    code, said = typed(program, "consent", "passphrase", lines=["2", PHRASE, PHRASE])
    check("fill: passphrase", code == 0, said)
    code, said = typed(program, "consent", "confirm", lines=["2", PHRASE])
    check("fill: a confirmed setting", code == 0, said)
    code, said = typed(program, "consent", "grant", APP, "names", "bus", "--caller", "cli:terminal", lines=["2", PHRASE])
    check("fill: consent", code == 0, said)
    code, said = run(program, "exec", APP, "names")
    check("fill: a call", code == 0, said)
    code, said = typed(program, "mode", "safe", lines=["2", PHRASE])
    code, said = typed(program, "mode", "normal", lines=["2", PHRASE])
    check("fill: mode", code == 0, said)
    code, said = run(program, "mcp", "token")
    check("fill: the token", code == 0, said)
    if knows(program, "mcp", "token", "add"):
        code, said = typed(program, "mcp", "token", "add", "work", lines=["2", PHRASE])
        check("fill: an agent's token", code == 0, said)
    if knows(program, "workflow", "run"):
        write(".aai/workflows/ids.json", {"name": "Ids", "description": "The id of the bus.", "steps": [{"app": APP, "tool": "bus"}]})
        typed(program, "consent", "grant", "workflows", "ids", "--caller", "cli:terminal", lines=["2", PHRASE])
        code, said = run(program, "workflow", "run", "ids")
        check("fill: a workflow and its run", code == 0, said)
    if knows(program, "mcp", "pin"):
        code, said = typed(program, "mcp", "pin", APP, "bus", lines=["2", PHRASE])
        check("fill: a pin", code == 0, said)
    if knows(program, "rate"):
        code, said = run(program, "rate", APP, "4")
        check("fill: a rating", code == 0, said)
    if knows(program, "import"):
        write("openapi.yaml", "openapi: 3.0.0\ninfo: {title: Shop, version: '1'}\nservers: [{url: https://shop.example.com}]\npaths:\n  /things:\n"
              "    get: {operationId: listThings, summary: List things, responses: {'200': {description: ok}}}\n")
        code, said = typed(program, "import", "openapi", os.path.join(home, "openapi.yaml"), "--yes", lines=["2", PHRASE])
        check("fill: an imported API", code == 0, said)
        write(".cursor/mcp.json", {"mcpServers": {"things": {"command": "true", "env": {"THINGS_TOKEN": "secret-of-things"}}}})
        code, said = typed(program, "import", "--from", "cursor", "--yes", lines=["2", PHRASE])
        check("fill: an imported server with a secret", code == 0, said)


def state(program):
    """Returns what a gateway reads of each kind of state that it has a command for, as lists of facts."""
    def fact(kind, *command, words=()):
        code, said = run(program, *command)
        got[kind] = (code == 0 and all(w in said for w in words), said)

    got = {}
    fact("consents", "consent", "list", words=[APP])
    fact("the journal", "history", words=[APP, "names"])
    fact("the journal's chain", "audit", "verify")
    fact("settings", "config", words=["10.0.0.1"])
    fact("a call by consent", "exec", APP, "names")
    fact("keychain", "keychain", "status")
    fact("the token", "mcp", "token", words=[facts.setdefault("token", run(program, "mcp", "token")[1].strip().split("\n")[-1])])
    if knows(old, "mcp", "token", "add"):
        fact("tokens of agents", "mcp", "token", "list", words=["work"])
    if knows(old, "workflow", "run"):
        fact("workflows and runs", "workflow", "list", words=["ids"])
    if knows(old, "import"):
        fact("imported apps", "apps", words=["com.example.shop", "things"])
    code, said = typed(program, "consent", "grant", APP, "bus", "--caller", "mcp:" + os.path.basename(program), "--identity", program, lines=["2", PHRASE])
    got["the passphrase, and a further consent"] = (code == 0, said)
    return got


def add(program):
    """Writes what an older gateway may not know: settings, a kept result, a pin."""
    for key, value in (("desktop.actingSign", "false"), ("journal.answers", '["*"]')):
        code, said = typed(program, "settings", "set", key, value, lines=["2", PHRASE])
        check(f"new: sets {key}", code == 0, said)
    code, said = run(program, "exec", APP, "names")
    check("new: keeps a result", code == 0, said)
    code, said = typed(program, "mcp", "pin", APP, "bus", lines=["2", PHRASE])
    check("new: pins a tool", code == 0, said)


def compare(name, program):
    for kind, (ok, said) in state(program).items():
        check(f"{name}: {kind}", ok, said)


facts = {}
fill(old)
compare("old", old)
compare("new", new)
add(new)
code, said = run(old, "config")
check("old: works, or names the file and a setting of the new one", code == 0 or 'config.json: there is no setting "' in said, said)
with open(os.path.join(home, ".aai/config.json")) as f:
    kept = json.load(f)
if code != 0:  # as its message asks
    write(".aai/config.json", {k: v for k, v in kept.items() if k not in ("desktop", "journal", "mcp")})
compare("old again", old)
if code != 0:
    write(".aai/config.json", kept)
compare("new again", new)
code, said = run(new, "mcp", "pins")
check("new again: the pin", "bus" in said, said)
code, said = run(new, "consent", "list")
check("new again: the consents of both", all("mcp:" + os.path.basename(p) in said for p in (old, new)), said)
sys.exit(1 if failed else 0)
