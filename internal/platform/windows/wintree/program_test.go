package wintree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestProgramID(t *testing.T) {
	assert.Equal(t, programID(`C:\Windows\System32\NOTEPAD.EXE`), "notepad")
	for line, want := range map[string]string{
		`C:\Python\pythonw.exe|-u|C:\tools\clock.py`:        "clock",
		`C:\Python\python.exe|-c|print()`:                   "",
		`C:\Windows\wscript.exe|//nologo|C:\x\Backup.vbs|a`: "backup",
		`C:\Windows\wscript.exe`:                            "",
		`C:\Windows\notepad.exe|C:\tools\clock.py`:          "",
	} {
		args := strings.Split(line, "|")
		name, _ := scriptOf(args[0], args)
		assert.Check(t, name == want, "%s runs %q", line, name)
	}
}

// TestIdentify checks that a changed file changes the identity only where the person can change files.
func TestIdentify(t *testing.T) {
	executable := filepath.Join(t.TempDir(), "tool.exe")
	identity := func(text string, mayChange bool) string {
		assert.NilError(t, os.WriteFile(executable, []byte(text), 0o600))
		return identify(executable, "", nil, func(string) bool { return mayChange })
	}
	first, changed, again := identity("a", true), identity("b", true), identity("a", true)
	assert.Check(t, first != changed)
	assert.Equal(t, again, first)
	assert.Check(t, identity("a", false) == identity("b", false))
	assert.Check(t, identify("python.exe", "", []string{"-c", "1"}, func(string) bool { return false }) !=
		identify("python.exe", "", []string{"-c", "2"}, func(string) bool { return false }))
}
