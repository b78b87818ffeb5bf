package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/process"
)

// identityVariable makes the test program print the identity of its peer.
const identityVariable = "AAI_TEST_PRINT_IDENTITY"

// TestPeerIsThePipesCreator checks the identity of the program at standard input, also behind a shell, and that files,
// and shells that create the pipe, have none.
func TestPeerIsThePipesCreator(t *testing.T) {
	if os.Getenv(identityVariable) != "" {
		_, _ = os.Stdout.WriteString("<" + process.PeerIdentity(os.Stdin) + ">")
		os.Exit(0)
	}
	self, err := os.Executable()
	assert.NilError(t, err)
	arg := "-test.run=" + t.Name()
	for name, try := range map[string]struct {
		command []string
		piped   bool
		want    string
	}{
		"a program":           {[]string{self, arg}, true, "<" + filepath.ToSlash(self) + ">"},
		"through a shell":     {[]string{"cmd", "/c", self, arg}, true, "<" + filepath.ToSlash(self) + ">"},
		"a file":              {[]string{self, arg}, false, "<>"},
		"the pipe of a shell": {[]string{"cmd", "/c", "echo x|" + self + " " + arg}, false, "<>"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), try.command[0], try.command[1:]...)
			cmd.Env = append(os.Environ(), identityVariable+"=1")
			if try.piped {
				in, err := cmd.StdinPipe()
				assert.NilError(t, err)
				defer in.Close() //nolint:errcheck // the program does not read it
			}
			out, err := cmd.Output()
			assert.NilError(t, err)
			assert.Check(t, is.Equal(string(out), try.want))
		})
	}
}
