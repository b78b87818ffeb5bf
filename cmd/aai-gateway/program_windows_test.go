package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/windows"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// readTime is longer than a person needs to read a question, which the dialog demands.
const readTime = 1500 * time.Millisecond

// textOf returns the text of a window of any process, without the blanks that make the buttons of several pages equally wide.
func textOf(w win32.Window) string {
	var text [4096]uint16
	_, _ = w.Send(context.Background(), 0x000D, uintptr(len(text)), uintptr(unsafe.Pointer(&text))) // WM_GETTEXT
	return strings.TrimSpace(windows.UTF16ToString(text[:]))
}

// A shownDialog is a question that was open in a window.
type shownDialog struct {
	text    string
	buttons []string
}

// answerDialog waits in the background for a question of a gateway, reads it as a person does, and presses a button. The channel gets what the
// window showed.
func answerDialog(t *testing.T, label string) chan shownDialog {
	t.Helper()
	shown := make(chan shownDialog, 1)
	go func() {
		defer close(shown)
		for until := time.Now().Add(time.Minute); time.Now().Before(until); {
			time.Sleep(20 * time.Millisecond)
			for _, w := range win32.TopLevel() {
				if w.Class() != "#32770" || !w.IsVisible() || textOf(w) != "AAI Gateway" {
					continue
				}
				if focused, _ := dialog.FocusedPID(t.Context()); focused == 0 {
					continue
				}
				var got shownDialog
				var button win32.Window
				for _, c := range w.Descendants() {
					switch text := textOf(c); {
					case c.Class() == "Button" && text != "":
						got.buttons = append(got.buttons, text)
						if text == label {
							button = c
						}
					default:
						got.text += text + "\n"
					}
				}
				if button == 0 {
					continue
				}
				time.Sleep(readTime)
				_, _ = button.Send(t.Context(), 0x00F5, 0, 0) // BM_CLICK
				shown <- got
				return
			}
		}
	}()
	return shown
}

// TestWindowsConsent runs a tool that the person denies and allows in a window, and finds both in the history.
func TestWindowsConsent(t *testing.T) {
	run := windowsHome(t, filesApp, `{}`)
	shown := answerDialog(t, "Deny")
	out, err := run("exec", "com.example.files", "run", "--arg", "command=cmd /c exit 7")
	assert.Check(t, err != nil)
	assert.Check(t, is.Contains(out, "(PERMISSION_DENIED)"))
	question, asked := <-shown
	assert.Assert(t, asked, "no dialog appeared")
	t.Logf("%q", question.buttons)
	assert.Check(t, is.Equal(question.buttons[0], "Deny"))
	assert.Check(t, is.Contains(question.text, "cmd /c exit 7"))
	shown = answerDialog(t, "Allow once")
	out, err = run("exec", "com.example.files", "run", "--arg", "command=cmd /c exit 8") // the refusal holds for the other question
	t.Logf("%+v", <-shown)
	assert.NilError(t, err, out)
	out, err = run("history", "--format", "json")
	assert.NilError(t, err, out)
	assert.Check(t, is.Contains(out, `"run"`))
	out, err = run("audit", "verify")
	assert.NilError(t, err, out)
	assert.Check(t, is.Contains(out, "ok, "))
}

// mcpSession starts a server as an agent's client does, with the client of the SDK.
func mcpSession(t *testing.T, home, program string, args ...string) *mcp.ClientSession {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "LOCALAPPDATA="+filepath.Join(home, "local"))
	cmd.Stderr = t.Output()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestWindowsMCP serves an unmodified client: its call asks the person in a window, and returns the answer of the object.
func TestWindowsMCP(t *testing.T) {
	home := t.TempDir()
	writeHome(t, home, filesApp, `{}`)
	folder := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "größe.txt"), []byte("12345"), 0o600))
	s := mcpSession(t, home, "aai-gateway")
	tools, err := s.ListTools(t.Context(), nil)
	assert.NilError(t, err)
	assert.Check(t, slices.ContainsFunc(tools.Tools, func(tool *mcp.Tool) bool { return tool.Name == "aai_exec" }))
	call := func() *mcp.CallToolResult {
		result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{"app": "com.example.files", "tool": "list", "args": map[string]any{"path": folder}}})
		assert.NilError(t, err)
		return result
	}
	shown := answerDialog(t, "Always allow")
	first := call()
	question, asked := <-shown
	assert.Assert(t, asked, "no dialog appeared")
	t.Logf("%q %q", question.text, question.buttons)
	assert.Check(t, !first.IsError)
	assert.Check(t, question.buttons[0] == "Deny")
	again := call() // nobody is asked
	text, err := json.Marshal(again.Content)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(text), "größe.txt"))
}

// built returns the path of a program that scripts/test-windows built beside the tests.
func built(t *testing.T, name string) string {
	t.Helper()
	folder, err := os.Executable()
	assert.NilError(t, err)
	for {
		if path := filepath.Join(folder, "programs", name); fileExists(path) {
			return path
		}
		if folder == filepath.Dir(folder) {
			t.Skip("scripts/test-windows builds " + name)
		}
		folder = filepath.Dir(folder)
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestWindowsStart compares the time from the start to the list of tools with that of a server that has only the SDK.
func TestWindowsStart(t *testing.T) {
	ourProgram, bareServer := built(t, "aai-gateway.exe"), built(t, "baresdk.exe")
	home := t.TempDir()
	writeHome(t, home, filesApp, `{}`)
	times := map[string][]time.Duration{}
	for range 5 {
		for _, name := range []string{ourProgram, bareServer} {
			begun := time.Now()
			s := mcpSession(t, home, name)
			_, err := s.ListTools(t.Context(), nil)
			assert.NilError(t, err)
			times[name] = append(times[name], time.Since(begun))
			assert.NilError(t, s.Close())
		}
	}
	ours, bare := slices.Min(times[ourProgram]), slices.Min(times[bareServer])
	t.Logf("start to the list of tools, the best of five: %s, %.1f times the %s of a bare server", ours, float64(ours)/float64(bare), bare)
}

// TestWindowsSecrets keeps a key in the Credential Manager, as doctor shows too.
func TestWindowsSecrets(t *testing.T) {
	run := windowsHome(t, filesApp, `{}`)
	out, err := run("keychain", "status")
	assert.NilError(t, err, out)
	assert.Check(t, is.Contains(out, "the keychain of the operating system"))
	shown := answerDialog(t, "Always allow")
	out, err = run("exec", "com.example.files", "list", "--arg", `path=C:\windows`)
	t.Logf("%+v", <-shown)
	assert.NilError(t, err, out)
	out, err = run("keychain", "status", "--format", "json")
	assert.NilError(t, err, out)
	assert.Check(t, is.Contains(strings.ReplaceAll(out, " ", ""), `"place":"keychain"`))
	out, err = run("exec", "com.example.files", "list", "--arg", `path=C:\windows`) // another process reads the sealed consent
	assert.NilError(t, err, out)
	out, err = run("doctor")
	t.Log(out)
	assert.NilError(t, err, out)
	assert.Check(t, is.Contains(out, "the secret was read back unchanged"))
}

// TestWindowsInstall installs the gateway from a folder with spaces into a client's file, whose command then serves.
func TestWindowsInstall(t *testing.T) {
	home := filepath.Join(t.TempDir(), "Anna Müller")
	writeHome(t, home, filesApp, `{}`)
	program, err := os.ReadFile(built(t, "aai-gateway.exe"))
	assert.NilError(t, err)
	installed := filepath.Join(home, "AppData", "Local", "Programs", "AAI Gateway", "aai-gateway.exe")
	assert.NilError(t, os.MkdirAll(filepath.Dir(installed), 0o700))
	assert.NilError(t, os.WriteFile(installed, program, 0o700))
	config := filepath.Join(home, ".cursor", "mcp.json")
	assert.NilError(t, os.MkdirAll(filepath.Dir(config), 0o700))
	assert.NilError(t, os.WriteFile(config, []byte("{\r\n  // my servers\r\n  \"mcpServers\": {\"other\": {\"command\": \"C:\\\\tools\\\\other.exe\"}}\r\n}\r\n"), 0o600))
	cmd := exec.CommandContext(t.Context(), installed, "install", "--client", "cursor", "--yes")
	cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "APPDATA="+filepath.Join(home, "AppData", "Roaming"), "LOCALAPPDATA="+filepath.Join(home, "AppData", "Local"))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	assert.NilError(t, err, string(out))
	written, err := os.ReadFile(config)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(written), "// my servers\r\n"))
	t.Logf("%s", written)
	assert.Check(t, is.Contains(string(written), strings.ReplaceAll(installed, `\`, `\\`)))
}
