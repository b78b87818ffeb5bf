package programs

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows/registry"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// reportVariable makes the test run as a program that writes its arguments and one variable to the file, and then waits.
const reportVariable = "AAI_TEST_REPORT"

func TestMain(m *testing.M) {
	if file := os.Getenv(reportVariable); file != "" {
		text, _ := json.Marshal(append(os.Args[1:], os.Getenv("SECRET")))
		_ = os.WriteFile(file+".part", text, 0o600)
		_ = os.Rename(file+".part", file)
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	if strings.EqualFold(filepath.Base(os.Args[0]), "odr.exe") {
		runRegistry()
	}
	os.Exit(m.Run())
}

// runRegistry runs this process as odr.exe.
func runRegistry() {
	switch os.Getenv(registryVariable) {
	case "hang":
		time.Sleep(time.Minute)
	case "fail":
		os.Exit(3)
	case "flood":
		for range 3 * registrySize / 1024 {
			_, _ = os.Stdout.Write(make([]byte, 1024))
		}
	}
	text, _ := json.Marshal(os.Args[1:])
	_, _ = os.Stdout.Write(text)
	os.Exit(0)
}

// registryVariable tells the test that runs as odr.exe how to behave.
const registryVariable = "AAI_TEST_REGISTRY"

func launcher(t *testing.T, menu string) *Launcher {
	t.Helper()
	return New(Config{
		Getenv:  os.Getenv,
		Environ: func() []string { return append(os.Environ(), reportVariable+"="+filepath.Join(t.TempDir(), "report")) },
		Menus:   func() []string { return []string{menu} },
	})
}

func codeOf(err error) aai.Code {
	if e, ok := errors.AsType[*aai.Error](err); ok {
		return e.Code
	}
	return ""
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%s: not after 30 s", what)
		}
	}
}

func TestProgramsAreFoundWhereWindowsHasThem(t *testing.T) {
	menu := t.TempDir()
	folder := filepath.Join(menu, "Tools")
	assert.NilError(t, os.MkdirAll(folder, 0o700))
	link := filepath.Join(folder, "My Editor.lnk")
	script := filepath.Join(t.TempDir(), "link.vbs")
	assert.NilError(t, os.WriteFile(script, []byte(`Set link = CreateObject("WScript.Shell").CreateShortcut("`+link+`")
link.TargetPath = "C:\windows\system32\notepad.exe"
link.Arguments = """C:\my files\a.txt"" /p"
link.Save
`), 0o600))
	out, err := exec.CommandContext(t.Context(), "cscript.exe", "//nologo", script).CombinedOutput()
	assert.NilError(t, err, "%s", out)
	l := launcher(t, menu)

	p, err := l.Find("my editor")
	assert.NilError(t, err)
	assert.Check(t, strings.EqualFold(p.Path, `C:\windows\system32\notepad.exe`), p.Path)
	assert.DeepEqual(t, p.Args, []string{`C:\my files\a.txt`, "/p"})
	assert.Check(t, !p.RunsCommands)
	entries := l.Installed(t.Context())
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == "My Editor" })
	assert.Equal(t, i, 0, "the Start menu comes first: %v", entries)

	const key = `Software\Microsoft\Windows\CurrentVersion\App Paths\aaitest.exe`
	entry, _, err := registry.CreateKey(registry.CURRENT_USER, key, registry.SET_VALUE)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = registry.DeleteKey(registry.CURRENT_USER, key) })
	assert.NilError(t, entry.SetExpandStringValue("", `"%windir%\system32\cmd.exe"`))
	assert.NilError(t, entry.Close())
	p, err = l.Find("aaitest")
	assert.NilError(t, err)
	assert.Check(t, strings.EqualFold(p.Path, `C:\windows\system32\cmd.exe`), p.Path)
	assert.Check(t, p.RunsCommands)

	p, err = l.Find("notepad")
	assert.NilError(t, err)
	assert.Equal(t, p.ID, "notepad")
	assert.Equal(t, strings.ToLower(filepath.Base(p.Path)), "notepad.exe")
	_, err = l.Find("my edtor")
	assert.Equal(t, codeOf(err), aai.AppNotFound)
	assert.ErrorContains(t, err, "my edtor")
	for name, code := range map[string]aai.Code{"no-such-program-anywhere": aai.AppNotFound, `..\cmd`: aai.InvalidParams, "": aai.InvalidParams, `C:\no such.exe`: aai.AppNotFound} {
		_, err = l.Find(name)
		assert.Equal(t, codeOf(err), code, name)
	}
}

func TestStartedProgramsGetTheirArguments(t *testing.T) {
	self, err := os.Executable()
	assert.NilError(t, err)
	report := filepath.Join(t.TempDir(), "report")
	l := New(Config{Getenv: os.Getenv, Environ: func() []string { return append(os.Environ(), reportVariable+"="+report, "SECRET=") }})
	args := []string{"a b", `quote " and \`, `C:\dir\`, "", "日本 🙂", "%PATH%", "a&b"}
	t.Setenv("SECRET", "hidden")
	pid, err := l.Start(t.Context(), desktop.Program{Path: self, Args: []string{"first"}}, args)
	assert.NilError(t, err)
	t.Cleanup(func() {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	})
	await(t, "the report", func() bool { _, err := os.Stat(report); return err == nil })
	text, err := os.ReadFile(report)
	assert.NilError(t, err)
	var got []string
	assert.NilError(t, json.Unmarshal(text, &got))
	assert.DeepEqual(t, got, append(append([]string{"first"}, args...), ""))
	assert.Check(t, l.IsRunning(pid))
	assert.Check(t, l.IsDescendant(pid, os.Getpid()))
	assert.Check(t, !l.IsDescendant(os.Getpid(), pid))
	assert.Check(t, !l.IsDescendant(pid, 1<<30))
	p, err := os.FindProcess(pid)
	assert.NilError(t, err)
	assert.NilError(t, p.Kill())
	await(t, "the end", func() bool { return !l.IsRunning(pid) })
}

func TestScriptsGetNoCommandsAsArguments(t *testing.T) {
	script := filepath.Join(t.TempDir(), "run.bat")
	assert.NilError(t, os.WriteFile(script, []byte("@exit 0\r\n"), 0o600))
	l := launcher(t, t.TempDir())
	p, err := l.Find(script)
	assert.NilError(t, err)
	assert.Check(t, p.RunsCommands)
	_, err = l.Start(t.Context(), p, []string{`"&calc.exe`})
	assert.Equal(t, codeOf(err), aai.InvalidParams)
	_, err = l.Start(t.Context(), desktop.Program{Path: filepath.Join(t.TempDir(), "none.exe")}, nil)
	assert.Equal(t, codeOf(err), aai.AutomationFailed)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.Start(ended, p, nil)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestChromiumGetsItsSwitches(t *testing.T) {
	folder := t.TempDir()
	app := filepath.Join(folder, "app.exe")
	assert.Check(t, !needsSwitches(app))
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "chrome_100_percent.pak"), nil, 0o600))
	assert.Check(t, needsSwitches(app))
	assert.Check(t, needsSwitches(`C:\Program Files\Google\Chrome\Application\Chrome.exe`))
}

func TestNamesFindPrograms(t *testing.T) {
	all := []installed{{id: "excel", name: "excel.exe"}, {id: "Excel 2024", name: "Excel 2024"}, {id: "winword", name: "Word"}}
	for name, want := range map[string]string{"EXCEL": "excel", "excel.exe": "excel", "excel 2024.lnk": "Excel 2024", "word": "winword", "ex": ""} {
		got, ok := match(all, name)
		assert.Equal(t, got.id, want, name)
		assert.Equal(t, ok, want != "", name)
	}
}

func TestServersOfWindowsAreListed(t *testing.T) {
	folder := t.TempDir()
	self, err := os.ReadFile(os.Args[0])
	assert.NilError(t, err)
	l := New(Config{
		Getenv: func(string) string { return folder }, Menus: func() []string { return nil },
		Environ: os.Environ,
	})
	text, err := l.ServerRegistry(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, len(text), 0, "there is no odr.exe")

	assert.NilError(t, os.WriteFile(filepath.Join(folder, "odr.exe"), self, 0o700))
	text, err = l.ServerRegistry(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, string(text), `["list"]`)
	for how, want := range map[string]string{"hang": "did not end within", "fail": "exit status 3", "flood": "too much"} {
		t.Setenv(registryVariable, how)
		_, err = l.ServerRegistry(t.Context())
		assert.ErrorContains(t, err, want, how)
	}
}
