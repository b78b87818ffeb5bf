package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/com"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
)

const filesApp = `{"schema_version": "1.0", "appId": "com.example.files", "name": "Files", "description": "Files of this computer.", "version": "1.0.0",
"platforms": {"windows": {"automation": "com", "progid": "Scripting.FileSystemObject", "tools": [
	{"name": "list", "description": "List the files of a folder", "effect": "reads",
		"parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
		"script": [
			{"action": "create", "var": "fso", "progid": "Scripting.FileSystemObject"},
			{"action": "call", "object": "fso", "method": "GetFolder", "args": ["${path}"], "var": "folder"},
			{"action": "get", "object": "folder", "property": "Files", "var": "files"},
			{"action": "list", "object": "files", "properties": ["Name", "Size"], "var": "rows"},
			{"action": "return", "value": {"files": "${rows}"}}]},
	{"name": "run", "description": "Run a command", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
		"script": [
			{"action": "create", "var": "shell", "progid": "WScript.Shell"},
			{"action": "call", "object": "shell", "method": "Run", "args": ["${command}", 0, true]}]}
]}}}`

// windowsHome returns a home folder with a descriptor, and a function that runs the program there.
func windowsHome(t *testing.T, descriptor, settings string) func(args ...string) (string, error) {
	t.Helper()
	home := t.TempDir()
	writeHome(t, home, descriptor, settings)
	return func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "aai-gateway", args...)
		cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "LOCALAPPDATA="+filepath.Join(home, "local"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

// writeHome writes a descriptor and settings into a home folder.
func writeHome(t *testing.T, home, descriptor, settings string) {
	t.Helper()
	for path, text := range map[string]string{".aai/com.example.files/aai.json": descriptor, ".aai/config.json": settings} {
		path = filepath.Join(home, filepath.FromSlash(path))
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

// TestWindowsExec runs a descriptor's tool with the program, as a person does.
func TestWindowsExec(t *testing.T) {
	folder := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "größe.txt"), []byte("12345"), 0o600))
	run := windowsHome(t, filesApp, `{"consent": {"dialog": "off", "preapproved": [{"app": "com.example.files", "tools": ["list"], "caller": "*", "expires": "2126-01-01T00:00:00Z"}]}}`)
	out, err := run("exec", "com.example.files", "list", "--arg", "path="+folder)
	assert.NilError(t, err, out)
	assert.Check(t, is.Contains(strings.ReplaceAll(out, " ", ""), `"Name":"größe.txt"`))
	out, err = run("exec", "com.example.files", "list", "--arg", `path=C:\none`)
	assert.Check(t, err != nil)
	assert.Check(t, is.Contains(out, "step 2, call GetFolder"))
	out, err = run("exec", "com.example.files", "run", "--arg", "command=cmd /c exit 0")
	assert.Check(t, err != nil)
	assert.Check(t, is.Contains(out, "CONSENT_REQUIRED"))
	out, err = run("guide", "com.example.files")
	assert.NilError(t, err, out)
	assert.Check(t, is.Contains(out, "List the files of a folder"))
}

// readingArguments returns arguments of reading tools that need some.
func readingArguments() map[string]map[string]any {
	return map[string]map[string]any{
		"Scripting.FileSystemObject get_folder":         {"folder_path": `C:\windows`},
		"Scripting.FileSystemObject get_drive":          {"drive_spec": "C:"},
		"Scripting.FileSystemObject get_file":           {"file_path": `C:\windows\win.ini`},
		"Scripting.FileSystemObject file_exists":        {"file_spec": `C:\windows\win.ini`},
		"Scripting.FileSystemObject folder_exists":      {"folder_spec": `C:\windows`},
		"Scripting.FileSystemObject get_extension_name": {"path": "a.txt"},
		"Scripting.FileSystemObject get_special_folder": {"special_folder": 2},
	}
}

// TestWindowsGenerate drafts descriptors from real type libraries, and runs their reading tools.
func TestWindowsGenerate(t *testing.T) {
	d := com.New(com.Config{Command: func() (*exec.Cmd, error) { return exec.CommandContext(t.Context(), os.Args[0], runCOMCommand), nil }})
	defer d.Close() //nolint:errcheck // it cannot fail
	g := introspect.New(introspect.Config{COM: d})
	for _, progID := range []string{
		"Scripting.FileSystemObject", "Msxml2.DOMDocument", "VBScript.RegExp", "ADODB.Stream", "WScript.Network", "Shell.Application", "WindowsInstaller.Installer",
		"InternetExplorer.Application", "Scripting.Dictionary",
	} {
		t.Run(progID, func(t *testing.T) {
			draft, err := g.Draft(t.Context(), introspect.Request{App: progID, Start: true})
			assert.NilError(t, err)
			tried, reading := 0, 0
			for _, tool := range draft.Document.Sections[0].Tools {
				if *tool.Effect != aai.Reads {
					continue
				}
				reading++
				args, known := readingArguments()[progID+" "+tool.Name]
				if strings.Contains(string(tool.Params), `"required"`) && !known {
					continue
				}
				action, err := d.Compile(tool.Recipe)
				assert.NilError(t, err)
				got, err := action(t.Context(), &aai.Call{Args: args})
				assert.Check(t, err, tool.Name)
				if known {
					t.Logf("%s%v: %s", tool.Name, args, got.Text)
				}
				tried++
			}
			t.Logf("%d tools, %d read, %d of them were called and answer; %d tokens", len(draft.Document.Sections[0].Tools), reading, tried, draft.Report.GuideTokens)
		})
	}
}

// TestWindowsDiscover lists a class of an app, and generates its descriptor by the command.
func TestWindowsDiscover(t *testing.T) {
	run := windowsHome(t, filesApp, `{}`)
	out, err := run("discover")
	assert.NilError(t, err, out)
	assert.Check(t, is.Contains(out, "aai-gateway generate --start InternetExplorer.Application makes tools of it"))
	out, err = run("generate", "Scripting.FileSystemObject", "--dry-run")
	assert.NilError(t, err, out)
	assert.Check(t, is.Contains(out, "get_special_folder"))
	out, err = run("generate", "No.Such.Class", "--dry-run")
	assert.Check(t, err != nil)
	assert.Check(t, is.Contains(out, "no such class is installed"))
}
