# As root in a clean Debian: the package, and then a person who uses it.
apt-get update -qq
apt-get install -qq -y --no-install-recommends /given/aai-gateway_*.deb >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
dpkg -s aai-gateway | grep -E '^(Status|Version|Depends|Recommends)'
dpkg -V aai-gateway
aai-gateway --version | grep -F "$VERSION"

# What a desktop has: what the package recommends, a screen (of Xvfb), and a window manager.
apt-get install -qq -y --no-install-recommends zenity at-spi2-core dbus dbus-user-session xvfb xauth openbox \
	systemd python3-minimal man-db bash-completion zsh fish >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
mkdir -p /run/user/0 && XDG_RUNTIME_DIR=/run/user/0 systemd-analyze --user verify /usr/lib/systemd/user/aai-gateway.socket /usr/lib/systemd/user/aai-gateway.service
useradd -m person
mkdir -p /etc/aai-gateway
echo '{"consent": {"preapproved": [{"app": "org.example.Names", "tools": ["names"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}' >/etc/aai-gateway/policy.json
su person -s /bin/sh -c 'sh -eu /given/person.sh aai-gateway'
su person -s /bin/bash -c '. /usr/share/bash-completion/bash_completion; . /usr/share/bash-completion/completions/aai-gateway; COMP_WORDS=(aai-gateway hist); COMP_CWORD=1; COMP_LINE="aai-gateway hist"; COMP_POINT=16; __start_aai-gateway; echo "completed: ${COMPREPLY[*]}"' | grep history
su person -s /usr/bin/fish -c 'complete --do-complete "aai-gateway hist"' | grep history
su person -s /usr/bin/zsh -c 'autoload -Uz compinit; compinit -D; echo "completed by: $_comps[aai-gateway]"' | grep _aai-gateway
su person -s /bin/sh -c 'MANPAGER=cat man aai-gateway-mcp-serve' | grep -m1 -F 127.0.0.1:8741

# The socket that the unit names wakes the program up.
su person -s /bin/sh -c 'sh -eu /given/socket.sh'
apt-get purge -qq -y aai-gateway >/dev/null 2>&1
! command -v aai-gateway || exit 1
