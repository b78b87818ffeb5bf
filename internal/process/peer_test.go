package process

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestIdentity: each kind of program has its own identity, and no two are written alike.
func TestIdentity(t *testing.T) {
	node := "/usr/bin/node"
	for want, f := range map[string]peerFacts{
		"/usr/bin/claude":                                 {executable: "/usr/bin/claude"},
		"/usr/bin/node /home/u/cli.js":                    {executable: node, args: []string{"node", "cli.js"}, script: "/home/u/cli.js"},
		"/usr/bin/python3 /home/u/agent/main.py":          {executable: "/usr/bin/python3.12", args: []string{"python3", "-m", "agent.main"}, script: "/home/u/agent/main.py"},
		"/usr/bin/python3 agent.main /home/u/venv":        {executable: "/usr/bin/python3.12", args: []string{"python", "-m", "agent.main"}, environment: "/home/u/venv"},
		"/usr/lib/electron/electron":                      {executable: "/usr/lib/electron/electron", args: []string{"electron", "--no-sandbox"}},
		"flatpak:com.example.Agent":                       {executable: "/app/bin/agent", flatpak: "com.example.Agent", otherNamespace: true},
		`"/home/u/a b/agent"`:                             {executable: "/home/u/a b/agent"},
		`"/home/u/\u202eagent"`:                           {executable: "/home/u/\u202eagent"},
		"/usr/bin/deno /home/u/a.ts":                      {executable: "/usr/bin/deno", args: []string{"deno", "run", "-A", "a.ts"}, script: "/home/u/a.ts"},
		"/usr/lib/jvm/java-21/bin/java com.example.Agent": {executable: "/usr/lib/jvm/java-21/bin/java", args: []string{"java", "-cp", "x", "com.example.Agent"}},
	} {
		if got := f.identity(); got != want || f.isLauncher() {
			t.Errorf("%+v is %s, launches %v; want %s", f, got, f.isLauncher(), want)
		}
	}
	seen := make(map[string]bool)
	for _, brought := range [][]string{nil, {"LD_PRELOAD=/x.so"}, {"NODE_OPTIONS=--require=/x.js"}, {"--require", "/x.js"}, {"--require", "/y.js"}} {
		f := peerFacts{executable: node, args: []string{"node", "cli.js"}, script: "/home/u/cli.js", injections: brought}
		assert.Assert(t, !seen[f.identity()], "with %q it is %s, as another", brought, f.identity())
		assert.Assert(t, strings.HasPrefix(f.identity(), "/usr/bin/node /home/u/cli.js"), "with %q it is %s, as another", brought, f.identity())
		seen[f.identity()] = true
	}
	at := func(version string) string {
		return peerFacts{executable: node, args: []string{"node", "cli.js"}, script: "/cli.js", injections: []string{"NODE_PATH=/a/b@" + version + "/node_modules:/c"}}.identity()
	}
	assert.Check(t, is.Equal(at("1.0.1"), at("1.0.2")), "%s and %s are an update apart", at("1.0.1"), at("1.0.2"))
	code := make(map[string]peerFacts)
	for _, f := range []peerFacts{
		{executable: node, args: []string{"node", "-e", "1"}, workingDir: "/a"}, {executable: node, args: []string{"node", "-e", "2"}, workingDir: "/a"},
		{executable: node, args: []string{"node", "-e", "1"}, workingDir: "/b"},
		{executable: "/usr/bin/code", args: []string{"code", "1.js"}, asInterpreter: true, workingDir: "/a"},
		{executable: "/usr/bin/code", args: []string{"code", "1.js"}, asInterpreter: true, workingDir: "/b"}, {executable: "/usr/bin/code"},
		{executable: node, args: []string{"node", "c.js"}, script: "/c.js", injections: []string{"-r", "./x"}, workingDir: "/a"},
		{executable: node, args: []string{"node", "c.js"}, script: "/c.js", injections: []string{"-r", "./x"}, workingDir: "/b"},
		{executable: "/bin/java", args: []string{"java", "Main"}, injections: []string{"-cp", "/l:."}, workingDir: "/a"},
		{executable: "/bin/java", args: []string{"java", "Main"}, injections: []string{"-cp", "/l:."}, workingDir: "/b"},
	} {
		id := f.identity()
		other, taken := code[id]
		assert.Assert(t, !taken, "%+v and %+v are both %q", f, other, id)
		assert.Assert(t, id != "", "%+v and %+v are both %q", f, other, id)
		code[id] = f
	}
	absolute := func(folder string) string {
		return peerFacts{executable: node, args: []string{"node", "c.js"}, script: "/c.js", injections: []string{"--import", "file:///x.mjs", "NODE_PATH=/a:/b"}, workingDir: folder}.identity()
	}
	assert.Check(t, is.Equal(absolute("/a"), absolute("/b")), "the working folder counts where no injection is in it")
	for _, f := range []peerFacts{
		{}, {executable: "/usr/bin/agent", otherNamespace: true}, {executable: "/usr/lib/systemd/systemd"}, {executable: "/sbin/docker-init"},
		{executable: "/usr/lib/openssh/sshd-session"},
		// Scripts that cannot be found any more, such as from another folder, and code that is read.
		{executable: node, args: []string{"node", "agent.js"}},
		{executable: "/usr/bin/python3.12", args: []string{"python3", "-", "/opt/agent/cli.py"}},
		{executable: node, args: []string{"node"}}, {executable: node, args: []string{"claude"}},
		{executable: "/usr/bin/python3.12", args: []string{"python3", "-m", "agent.main"}},
		{executable: "/usr/bin/dotnet"}, {executable: "/lib64/ld-linux-x86-64.so.2"}, {executable: "/usr/bin/qemu-aarch64-static"},
		{executable: node, args: []string{"node", "x"}, script: "/usr/lib/node_modules/ts-node/dist/bin.js"},
	} {
		got := f.identity()
		assert.Check(t, is.Equal(got, ""), "%+v is %s, which is uncertain", f, got)
	}
	for _, args := range [][]string{
		{"node", "--eval=1", "/opt/agent/cli.js"}, {"node", "-p", "1", "/opt/agent/cli.js"}, {"python3", "-c1", "/opt/agent/cli.py"},
		{"perl", "-e1", "/opt/agent/cli.pl"}, {"python3", "-", "/opt/agent/cli.py"}, {"node", "--new-option", "/opt/agent/cli.js"},
	} {
		name, path := FindScript(args[0], args)
		assert.Check(t, is.Equal(name, ""), "%q", args)
		assert.Check(t, is.Equal(path, ""), "%q", args)
	}
	for _, f := range []peerFacts{
		{executable: "/bin/dash", args: []string{"sh", "-c", "aai-gateway"}}, {executable: "/usr/bin/env"}, {executable: "/usr/bin/timeout"},
		{executable: "/home/u/.local/bin/uvx"}, {executable: node, args: []string{"npm exec agent"}},
		{executable: node, args: []string{"node", "/usr/bin/npx"}, script: "/usr/lib/node_modules/npm/bin/npx-cli.js"},
	} {
		assert.Check(t, f.isLauncher(), "%+v is taken for who asks", f)
	}
}

// mounts are foldings where snaps and AppImages are mounted.
func mounts() pathFolder {
	f := newPathFolder()
	f.filesystemType = func(path string) string {
		if strings.HasPrefix(path, "/snap/") {
			return "squashfs"
		}
		return "fuse.AppImage"
	}
	return f
}

// TestFakedMountsAreNotFolded: a folder that only resembles a mount point keeps its full path.
func TestFakedMountsAreNotFolded(t *testing.T) {
	f := newPathFolder()
	for _, kind := range []string{"", "tmpfs", "overlay"} {
		f.filesystemType = func(string) string { return kind }
		for _, path := range []string{"/snap/code/171/usr/share/code/code", "/tmp/.mount_Cursor1aB2cD/usr/share/cursor/cursor"} {
			assert.Check(t, is.Equal(f.fold(path), path), "%q", kind)
		}
	}
	f.filesystemType = func(string) string { return "fuse.AppImage" } // any user can mount that
	assert.Check(t, is.Equal(f.fold("/snap/code/171/code"), "/snap/code/171/code"))
}

// TestAnUpdateIsTheSameProgram: parts that change with updates are folded, and parts that
// distinguish programs are not.
func TestAnUpdateIsTheSameProgram(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"/home/u/.local/share/claude/versions/1.0.58", "/home/u/.local/share/claude/versions/2.1.0-beta.3", "/home/u/.local/share/claude/versions/*"},
		{"/home/u/.nvm/versions/node/v20.1.0/bin/node", "/home/u/.nvm/versions/node/v22.11.0/bin/node", "/home/u/.nvm/versions/node/*/bin/node"},
		{"/home/u/.pyenv/versions/3.12.3/bin/python3.12", "/home/u/.pyenv/versions/3.13.0/bin/python3.13", "/home/u/.pyenv/versions/*/bin/python3"},
		{"/usr/bin/python3.11", "/usr/bin/python3.13", "/usr/bin/python3"},
		{"/usr/bin/php8.2", "/usr/bin/php8.4", "/usr/bin/php"},
		{"/tmp/.mount_Cursor1aB2cD/usr/share/cursor/cursor", "/tmp/.mount_CursorZZZZZZ/usr/share/cursor/cursor", "/tmp/.mount_Cursor*/usr/share/cursor/cursor"},
		{"/snap/code/171/usr/share/code/code", "/snap/code/172/usr/share/code/code", "/snap/code/*/usr/share/code/code"},
		{"/home/u/.npm/_npx/0a1b2c/node_modules/agent/cli.js", "/home/u/.npm/_npx/ffee00/node_modules/agent/cli.js", "/home/u/.npm/_npx/*/node_modules/agent/cli.js"},
		{"/home/u/.cache/uv/builds-v0/.tmpAb1/lib/agent", "/home/u/.cache/uv/builds-v0/.tmpZz9/lib/agent", "/home/u/.cache/uv/builds-v0/*/lib/agent"},
		{"/home/u/.cache/uv/archive-v0/Xy_1/bin/agent", "/home/u/.cache/uv/archive-v0/Zz-9/bin/agent", "/home/u/.cache/uv/archive-v0/*/bin/agent"},
		{"/home/u/.local/share/uv/python/cpython-3.12.3-linux-x86_64-gnu/bin/python3.12", "/home/u/.local/share/uv/python/cpython-3.13.1-linux-x86_64-gnu/bin/python3.13", "/home/u/.local/share/uv/python/cpython-*-linux-x86_64-gnu/bin/python3"},
		{"/home/u/.vscode/extensions/a.agent-2.0.1-linux-x64/agent", "/home/u/.vscode/extensions/a.agent-2.0.10-linux-x64/agent", "/home/u/.vscode/extensions/a.agent-*-linux-x64/agent"},
		{"/nix/store/0123456789abcdfghijklmnpqrsvwxyz-nodejs-22.1.0/bin/node", "/nix/store/zyxwvsrqpnmlkjihgfdcba9876543210-nodejs-22.2.0/bin/node", "/nix/store/*-nodejs-*/bin/node"},
		{"/opt/Cellar/node/20.1.0/bin/node", "/opt/Cellar/node/20.1.0/bin/../bin/node", "/opt/Cellar/node/*/bin/node"},
	} {
		f := mounts()
		before, after := f.fold(c.before), f.fold(c.after)
		assert.Check(t, is.Equal(before, c.want), "%s %s", c.before, c.after)
		assert.Check(t, is.Equal(after, c.want), "%s %s", c.before, c.after)
	}
	apart := []string{
		"/usr/bin/python2", "/usr/bin/python3", "/home/u/a/agent", "/home/u/b/agent", "/home/u/versions/agent", "/home/u/versions/other",
		"/home/u/.npm/_npx/0a/node_modules/agent/cli.js", "/home/u/.npm/_npx/0a/node_modules/other/cli.js",
		"/tmp/.mount_Cursor1aB2cD/AppRun", "/tmp/.mount_Claude1aB2cD/AppRun", "/snap/code/1/code", "/snap/other/1/code",
		"/home/u/agent-2", "/home/u/agent-3", "/home/u/1.0.58", "/home/u/1.0.59",
	}
	seen := make(map[string]string)
	for _, path := range apart {
		folded := mounts().fold(path)
		other, taken := seen[folded]
		assert.Check(t, !taken, "%s and %s are both %s", path, other, folded)
		seen[folded] = path
	}
}
