package programs

import (
	"os"
	"testing"

	"gotest.tools/v3/assert"
)

// ascii decodes text for tests.
func ascii(text []byte) string { return string(text) }

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	assert.NilError(t, err)
	return data
}

// TestShortcutsOfOthers reads a shortcut that Wine's WScript.Shell wrote, and the example of Microsoft's specification.
func TestShortcutsOfOthers(t *testing.T) {
	for name, want := range map[string]shortcut{
		"wine.lnk":          {`C:\windows\system32\notepad.exe`, `"C:\my files\a.txt" /p`, "Opens a text"},
		"specification.lnk": {target: `C:\test\a.txt`},
	} {
		got, err := parseShortcut(read(t, name), ascii)
		assert.NilError(t, err, name)
		assert.Equal(t, got, want, name)
	}
}

func TestDamagedShortcutsAreRefused(t *testing.T) {
	whole := read(t, "wine.lnk")
	for _, length := range []int{0, 3, 19, 60, 0x4D, 0x100, 0x190, len(whole) - 12} {
		_, err := parseShortcut(whole[:length], ascii)
		assert.ErrorIs(t, err, errShortcut, "%d bytes", length)
	}
	_, err := parseShortcut([]byte("[InternetShortcut]\nURL=https://example.com\n and more, so that it is as long as the header of a shortcut"), ascii)
	assert.ErrorIs(t, err, errShortcut)
}

func FuzzParseShortcut(f *testing.F) {
	f.Add(read(f, "wine.lnk"))
	f.Add(read(f, "specification.lnk"))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = parseShortcut(data, ascii) })
}

func TestProgramsThatRunCommands(t *testing.T) {
	for file, want := range map[string]bool{
		`C:\Windows\System32\cmd.exe`: true, `C:\x\PowerShell.EXE`: true, "mshta.exe": true, "rundll32.exe": true, "msiexec.exe": true, "python3.12.exe": true,
		"node.exe": true, "setup.bat": true, "page.html": true, "wscript.exe": true, `C:\Windows\notepad.exe`: false, "EXCEL.EXE": false, "chrome.exe": false,
	} {
		assert.Equal(t, runsCommands(file), want, file)
	}
}

func TestArgumentsOfScripts(t *testing.T) {
	assert.Check(t, isScript(`C:\tools\run.BAT`) && isScript("a.cmd") && !isScript("a.exe"))
	for arg, want := range map[string]bool{"plain": true, `C:\my files\a.txt`: true, "a&calc": false, "%PATH%": false, `"`: false, "a\nb": false} {
		assert.Equal(t, isSafeForScript(arg), want, arg)
	}
}
