# What listens is systemd; the first client wakes the program up, which answers it.
cd "$HOME"
address=$(sed -n 's/^ListenStream=//p' /usr/lib/systemd/user/aai-gateway.socket)
command=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/user/aai-gateway.service)
systemd-socket-activate --setenv=HOME="$HOME" --listen="$address" $command >said 2>&1 &
server=$!
trap 'kill $server; cat said' EXIT
until grep -q Listening said; do
	kill -0 $server || { cat said; exit 1; }
	sleep 0.1
done
timeout 60 python3 - "$address" <<'P'
import socket, sys
host, port = sys.argv[1].split(":")
s = socket.create_connection((host, int(port)))
s.sendall(b"POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % sys.argv[1].encode())
answer = s.makefile().readline().strip()
print("on the socket of the unit:", answer)
assert " 401 " in answer, answer  # it is ours: it wants a token
P
