package secrets

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/zalando/go-keyring"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// TestMain lets the test binary run as another process of the gateway: its arguments are
// then a command of childMain.
func TestMain(m *testing.M) {
	if folder := os.Getenv("KEYCHAIN_TEST_FOLDER"); folder != "" {
		if err := childMain(folder, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// childMain runs one command on the vault in the folder:
//
//	get ID          prints the record, or "absent"
//	put ID CONTENT
//	count ID N      adds 1 to the number in the record, N times, and prints each one that is kept
//	names PREFIX    prints the ids
//	status          prints it as JSON
func childMain(folder string, args []string) error {
	v := New(Config{Folder: folder, Getenv: os.Getenv, AllowInsecureFile: os.Getenv("KEYCHAIN_TEST_INSECURE") != ""})
	ctx := context.Background()
	switch args[0] {
	case "get":
		b, err := v.Get(ctx, args[1])
		if err == nil && b == nil {
			b = []byte("absent")
		}
		fmt.Printf("%s", b)
		return err
	case "put":
		return v.Update(ctx, args[1], func([]byte) ([]byte, error) { return []byte(args[2]), nil })
	case "count":
		n, err := strconv.Atoi(args[2])
		out := bufio.NewWriter(os.Stdout)
		for i := 0; i < n && err == nil; i++ {
			var number int
			if number, err = count(ctx, v, args[1]); err == nil {
				_, _ = fmt.Fprintln(out, number)
				err = out.Flush() // has the error of the line before
			}
		}
		return err
	case "names":
		names, err := v.Names(ctx, args[1])
		fmt.Printf("%s", names)
		return err
	case "status":
		s, err := v.Status(ctx)
		return errors.Join(err, json.NewEncoder(os.Stdout).Encode(s))
	}
	return fmt.Errorf("no command %q", args[0])
}

// count adds 1 to the number in the record and returns it.
func count(ctx context.Context, v *Vault, id string) (int, error) {
	number := 0
	err := v.Update(ctx, id, func(old []byte) ([]byte, error) {
		if old != nil {
			var err error
			if number, err = strconv.Atoi(string(old)); err != nil {
				return nil, err
			}
		}
		number++
		return []byte(strconv.Itoa(number)), nil
	})
	return number, err
}

// childPatience is the time limit for a child.
const childPatience = time.Minute

// child returns a process that runs the command of childMain on the vault, with the
// environment and the PATH only.
func child(t *testing.T, folder string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), childPatience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "KEYCHAIN_TEST_FOLDER=" + folder}, env...)
	cmd.Dir = t.TempDir()
	return cmd
}

// allowInsecureEnv is the environment of a child that may store its key in a file.
const allowInsecureEnv = "KEYCHAIN_TEST_INSECURE=1"

// noKeychain returns the environment without a bus.
func noKeychain(name string) string {
	if name == "XDG_RUNTIME_DIR" {
		return "/nonexistent"
	}
	return ""
}

// newVault returns a vault in a new folder with its key in the unprotected file.
func newVault(t *testing.T) *Vault {
	t.Helper()
	return openVault(filepath.Join(t.TempDir(), "data", "secrets"))
}

func openVault(path string) *Vault {
	v := New(Config{Folder: path, Getenv: noKeychain, AllowInsecureFile: true})
	v.system = newMemoryKeychain().system(errors.New("there is no keychain"))
	return v
}

func put(t *testing.T, v *Vault, id, content string) {
	t.Helper()
	assert.NilError(t, v.Update(t.Context(), id, func([]byte) ([]byte, error) { return []byte(content), nil }))
}

// has fails the test unless the vault has the record; "absent" stands for none.
func has(t *testing.T, v *Vault, id, want string) {
	t.Helper()
	b, err := v.Get(t.Context(), id)
	if err == nil && b == nil {
		b = []byte("absent")
	}
	assert.Check(t, is.Equal(string(b), want), "%s %q", id, b)
	assert.Check(t, err, "%s %q", id, b)
}

// refusal fails the test unless the error is an *aai.Error with the code, and returns it.
func refusal(t *testing.T, err error, code aai.Code) *aai.Error {
	t.Helper()
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, err)
	assert.Equal(t, e.Code, code, err)
	return e
}

// refuses is refusal without the result.
func refuses(t *testing.T, err error, code aai.Code) {
	t.Helper()
	_ = refusal(t, err, code)
}

// A fakeKeychain is a keychain in memory.
type fakeKeychain struct {
	items map[string]string
	asked int
	err   error // its answer instead, if set
}

func newMemoryKeychain() *fakeKeychain { return &fakeKeychain{items: map[string]string{}} }

func (m *fakeKeychain) get(service, account string) (string, error) {
	m.asked++
	if m.err != nil {
		return "", m.err
	}
	text, there := m.items[service+"/"+account]
	if !there {
		return "", keyring.ErrNotFound
	}
	return text, nil
}

func (m *fakeKeychain) set(service, account, value string) error {
	if m.err != nil {
		return m.err
	}
	m.items[service+"/"+account] = value
	return nil
}

// system returns the fake as the system's keychain. It is reachable unless there is an
// error.
func (m *fakeKeychain) system(unreachable error) *systemKeychain {
	s := newSystem(noKeychain)
	s.checkReachable = func() error { return unreachable }
	s.get, s.set = m.get, m.set
	return s
}

// files returns the names in the vault's folder with the extension.
func files(t *testing.T, v *Vault, ending string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(v.folder.path, "*"+ending))
	assert.NilError(t, err)
	return names
}

// theRecord returns the file of the only record.
func theRecord(t *testing.T, v *Vault) string {
	t.Helper()
	names := files(t, v, sealedEnding)
	assert.Assert(t, is.Len(names, 1), "the records are %q; expected one", names)
	return names[0]
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	assert.NilError(t, err)
	return b
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	assert.NilError(t, errors.Join(os.WriteFile(path, content, 0o600), atomicfile.Restrict(path)))
}
