package undo_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/secrets"
)

var terminal = aai.Caller{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal}

// vaultIn returns a vault in the folder, which can seal only if insecure is true.
func vaultIn(folder string, insecure bool) *secrets.Vault {
	return secrets.New(secrets.Config{Folder: folder, Getenv: func(string) string { return "" }, AllowInsecureFile: insecure})
}

// Each command is a separate process: another log on the same vault.
func TestTheTerminalsActsOutliveItsCommands(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "secrets")
	command := func() *shelf { return newShelf(t, undo.Config{Vault: vaultIn(folder, true)}) }
	first := command()
	first.values["a"] = uint64(1<<63 + 1)
	first.puts(terminal, "a", "hunter2")
	first.puts(terminal, "b", 2)
	first.puts(me, "c", 3)

	second := command()
	second.values = first.values
	undone, _, text := second.undo(terminal, 1)
	assert.Check(t, is.Equal(undone, 1))
	assert.Check(t, is.Contains(text, "b is as before"))
	third := command()
	third.values = first.values
	undone, skipped, text := third.undo(terminal, 20)
	assert.Check(t, is.Equal(undone, 1), text)
	assert.Check(t, is.Equal(skipped, 0), text)
	third.holds("a", uint64(1<<63+1))
	third.holds("b", nil)
	third.holds("c", 3)

	files := 0
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		info, _ := d.Info()
		if err != nil || bytes.Contains(b, []byte("hunter2")) || bytes.Contains(b, []byte("org.example")) {
			t.Errorf("%s can be read: %v", path, err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		files++
		return nil
	})
	assert.Check(t, files != 0, "nothing was kept")
}

func TestAWorkflowsRollbackIsKeptToo(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "secrets")
	s := newShelf(t, undo.Config{Vault: vaultIn(folder, true)})
	step := s.do(terminal, theShelf, "put", "name", "a", "value", 1)
	acts, err := s.log.Acts(t.Context(), terminal)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(acts, 1))
	o := undo.Revert(t.Context(), s.gateway.Do, terminal, step.Undo)
	assert.Assert(t, o.IsUndone(), o)
	_, _, text := s.undo(terminal, 1)
	assert.Check(t, is.Equal(text, "nothing is left to undo"))
	next := newShelf(t, undo.Config{Vault: vaultIn(folder, true)})
	_, _, text = next.undo(terminal, 1)
	assert.Check(t, is.Equal(text, "nothing is left to undo"))
}

func TestWhatCannotBeSealedIsNotKept(t *testing.T) {
	for name, vault := range map[string]func(folder string) undo.Vault{
		"no vault":        func(string) undo.Vault { return nil },
		"nothing to seal": func(folder string) undo.Vault { return vaultIn(folder, false) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "secrets")
			s := newShelf(t, undo.Config{Vault: vault(folder)})
			s.puts(terminal, "a", "hunter2")
			_, err := s.gateway.Do(t.Context(), &aai.Call{Caller: terminal, App: aai.BuiltinApp, Tool: undo.BuiltinToolName, Args: map[string]any{"count": 1}})
			e := aai.AsError(err)
			assert.Assert(t, e != nil, err)
			assert.Equal(t, e.Code, aai.AutomationNotSupported, err)
			assert.Assert(t, is.Contains(e.Message, "not stored here"), err)
			assert.Assert(t, e.Hint != "", err)
			_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					b, _ := os.ReadFile(path)
					assert.Check(t, !bytes.Contains(b, []byte("hunter2")), "%s has it", path)
				}
				return nil
			})
		})
	}
}

func TestWhatIsOlderThanAnHourIsForgotten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "secrets")
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(t, undo.Config{Vault: vaultIn(folder, true)})
		s.puts(terminal, "a", 1)
		for _, want := range []int{1, 0} {
			time.Sleep(31 * time.Minute)
			acts, err := s.log.Acts(t.Context(), terminal)
			assert.NilError(t, err, want)
			assert.Assert(t, is.Len(acts, want), want)
		}
	})
}

func TestTheTerminalsActsFitARecord(t *testing.T) {
	vault := vaultIn(filepath.Join(t.TempDir(), "secrets"), true)
	s := newShelf(t, undo.Config{Vault: vault})
	for range 15 {
		s.puts(terminal, "a", strings.Repeat("x", 90<<10))
	}
	s.puts(terminal, "b", strings.Repeat("x", 90<<10))
	next := newShelf(t, undo.Config{Vault: vault})
	acts, err := next.log.Acts(t.Context(), terminal)
	assert.NilError(t, err, "%d", len(acts))
	assert.Assert(t, len(acts) >= 3, "%d acts, %v", len(acts), err)
	assert.Assert(t, acts[len(acts)-1].Undo != nil, "%d acts, %v", len(acts), err)
	assert.Equal(t, acts[len(acts)-1].Undo.Description, "b is as before", "%d", len(acts))
}
