//go:build unix

package clients_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/clients"
)

// TestStableCommand checks that the program's name on PATH is used with its link, and that
// temporary folders are noted.
func TestStableCommand(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	at := func(path string) string { return filepath.Join(root, path) }
	for _, path := range []string{"cellar/1.2/bin/aai-gateway", "other/aai-gateway", "x/_npx/1/aai-gateway"} {
		assert.NilError(t, os.MkdirAll(filepath.Dir(at(path)), 0o700))
		assert.NilError(t, os.WriteFile(at(path), []byte(path), 0o700))
	}
	assert.NilError(t, os.Mkdir(at("bin"), 0o700))
	for _, link := range []string{"bin/aai-gateway", "bin/axterminator"} {
		assert.NilError(t, os.Symlink("../cellar/1.2/bin/aai-gateway", at(link)))
	}
	real := at("cellar/1.2/bin/aai-gateway")
	for _, c := range []struct {
		name  string
		start clients.LaunchInfo
		want  string
		note  string
	}{
		{"by its name on PATH", clients.LaunchInfo{Arg0: "aai-gateway", Executable: real, Path: at("none") + ":" + at("bin")}, at("bin/aai-gateway"), ""},
		{"by its real path, and a link to it is on PATH", clients.LaunchInfo{Arg0: real, Executable: real, Path: at("bin")}, at("bin/aai-gateway"), ""},
		{"by another name on PATH", clients.LaunchInfo{Arg0: "axterminator", Executable: real, Path: at("bin")}, at("bin/axterminator"), ""},
		{"by a link that is not on PATH", clients.LaunchInfo{Arg0: at("bin/aai-gateway"), Executable: real, Path: at("other")}, at("bin/aai-gateway"), ""},
		{"another program is on PATH", clients.LaunchInfo{Arg0: real, Executable: real, Path: at("other")}, real, ""},
		{"a relative folder of PATH", clients.LaunchInfo{Arg0: "aai-gateway", Executable: real, Path: "bin:."}, real, ""},
		{"whoever started it said another name", clients.LaunchInfo{Arg0: "/bin/sh", Executable: real, Path: "/bin"}, real, ""},
		{"a folder that is cleaned", clients.LaunchInfo{Arg0: real, Executable: real, TemporaryFolders: []string{"", at("none"), at("cellar")}}, real, "cleaned automatically"},
		{"a link to a folder that is cleaned", clients.LaunchInfo{Arg0: at("bin/aai-gateway"), Executable: real, TemporaryFolders: []string{at("cellar")}}, at("bin/aai-gateway"), "cleaned automatically"},
		{"the cache of npx", clients.LaunchInfo{Arg0: at("x/_npx/1/aai-gateway"), Executable: at("x/_npx/1/aai-gateway")}, at("x/_npx/1/aai-gateway"), "install the program for good"},
	} {
		got, notes, err := clients.StableCommand(c.start)
		said := strings.Join(notes, " ")
		assert.Assert(t, slices.Equal(got, []string{c.want}), "%s %s %q %s", c.name, got, notes, c.want)
		assert.NilError(t, err, "%s %s %q %s", c.name, got, notes, c.want)
		assert.Equal(t, (said == ""), (c.note == ""), "%s %s %q %s", c.name, got, notes, c.want)
		assert.Assert(t, is.Contains(said, c.note), "%s %s %q %s", c.name, got, notes, c.want)
	}
	for path, want := range map[string]string{
		"/home/ann/.npm/_npx/1/node_modules/aai-gateway-linux-x64/bin/aai-gateway":                                "npx -y aai-gateway",
		"/home/ann/.npm/_npx/1/node_modules/@some-one/aai-gateway/node_modules/@some-one/gateway-linux-x64/bin/g": "npx -y @some-one/gateway",
		"/usr/lib/node_modules/aai-gateway-linux-x64/bin/aai-gateway":                                             "/usr/lib/node_modules/aai-gateway-linux-x64/bin/aai-gateway",
		"/home/_npx/node_modules/x/bin/aai-gateway":                                                               "/home/_npx/node_modules/x/bin/aai-gateway",
	} {
		got, _, err := clients.StableCommand(clients.LaunchInfo{Arg0: path, Executable: path, TemporaryFolders: []string{"/home"}, System: "linux"})
		assert.Check(t, is.Equal(strings.Join(got, " "), want), "%s %q", path, got)
		assert.Check(t, err, "%s %q", path, got)
	}
	_, _, err = clients.StableCommand(clients.LaunchInfo{Arg0: "aai-gateway"})
	assert.Check(t, err != nil, "nobody knows where it is, and it is somewhere")
}
