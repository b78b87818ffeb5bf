# As root in a clean Debian: npm, and the packages of this processor from their files.
apt-get install -qq -y --no-install-recommends npm >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
cpu=$(node -p process.arch)
npm i -g --no-audit --no-fund --loglevel=error "/given/aai-gateway-$VERSION.tgz" "/given/aai-gateway-linux-$cpu-$VERSION.tgz"
aai-gateway --version | grep -F "$VERSION"
rm -rf /home/person/.local /home/person/.aai /home/person/.config
su person -s /bin/sh -c 'sh -eu /given/person.sh aai-gateway'
npm uninstall -g --loglevel=error aai-gateway "aai-gateway-linux-$cpu" >/dev/null
! command -v aai-gateway || exit 1
