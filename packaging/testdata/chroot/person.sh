# As a person who has just installed it: a descriptor, a call, and a client's first words.
cd "$HOME"
mkdir -p .aai/org.example.Names
cat >.aai/org.example.Names/aai.json <<'J'
{
  "schema_version": "1.0", "appId": "org.example.Names", "name": "Names", "description": "Who is on the session bus.",
  "platforms": {"linux": {
    "automation": "dbus", "service": "org.freedesktop.DBus", "object": "/org/freedesktop/DBus", "interface": "org.freedesktop.DBus",
    "tools": [{"name": "names", "description": "The names on the bus.", "parameters": {"type": "object", "properties": {}},
      "method": "ListNames", "effect": "reads"},
      {"name": "bus", "description": "The id of the bus.", "parameters": {"type": "object", "properties": {}},
      "method": "GetId", "effect": "reads"}]
  }}
}
J
aai-gateway scan
# Nobody sits here to be asked. What root's policy allows beforehand runs, the rest does not.
if dbus-run-session -- aai-gateway exec org.example.Names bus >refused 2>&1; then cat refused; exit 1; fi
grep -q CONSENT_REQUIRED refused
head -3 refused
dbus-run-session -- aai-gateway exec org.example.Names names | grep -F org.freedesktop.DBus
# Every way works on a desktop.
xvfb-run -a dbus-run-session -- aai-gateway doctor </dev/null >examined || { cat examined; exit 1; }
cat examined
grep -q '^All is well' examined
printf '%s\n' \
	'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"chroot","version":"0"}}}' \
	'{"jsonrpc":"2.0","method":"notifications/initialized"}' \
	'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"aai_exec","arguments":{"app":"org.example.Names","tool":"names","args":{}}}}' >words
: >answers
(cat words; timeout 120 sh -c "until grep -q '\"id\":2' answers; do sleep 0.1; done") | timeout 120 dbus-run-session -- aai-gateway --mcp >answers
grep -q '"serverInfo"' answers
grep '"id":2' answers
grep '"id":2' answers | grep -qF org.freedesktop.DBus
aai-gateway history | head -4
