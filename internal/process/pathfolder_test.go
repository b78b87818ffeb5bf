package process

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

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
