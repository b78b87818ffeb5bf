package bearer_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
)

func TestFile(t *testing.T) {
	f := bearer.TokenFile{Path: filepath.Join(t.TempDir(), "state", "http-token")}
	// Several processes may start at once; they get the same token.
	var group sync.WaitGroup
	tokens := make([]string, 20)
	for i := range tokens {
		group.Go(func() {
			token, err := f.Token()
			assert.Check(t, err)
			tokens[i] = token
		})
	}
	group.Wait()
	for _, token := range tokens {
		assert.Equal(t, token, tokens[0], "%q", tokens)
		assert.Equal(t, len(token), 43, "%q", tokens)
	}
	if info, err := os.Stat(f.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	next, err := f.Rotate()
	assert.NilError(t, err, "%q", next)
	assert.Assert(t, next != tokens[0], "the next token is %q, %v", next, err)
	assert.Equal(t, len(next), 43, "%q", next)
	again, err := f.Token()
	assert.NilError(t, err)
	assert.Equal(t, again, next)
	left, err := os.ReadDir(filepath.Dir(f.Path))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(left, 1))
}

// TestFileFailsClosed checks that an invalid secret is neither used nor replaced without a
// request.
func TestFileFailsClosed(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"is empty":               func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"is short":               func(path string) error { return os.WriteFile(path, []byte("secret\n"), 0o600) },
		"is large":               func(path string) error { return os.WriteFile(path, make([]byte, 1<<20), 0o600) },
		"is a folder":            func(path string) error { return os.Mkdir(path, 0o700) },
		"is readable for others": func(path string) error { return readableByOthers(path) },
	} {
		f := bearer.TokenFile{Path: filepath.Join(t.TempDir(), "http-token")}
		assert.NilError(t, spoil(f.Path))
		token, err := f.Token()
		if runtime.GOOS == "windows" && name == "is readable for others" {
			continue
		}
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "a file that %s gives %q, %v", name, token, err)
		assert.Equal(t, e.Code, aai.InvalidParams, "%s %v", name, err)
		assert.Assert(t, e.Hint != "", "a file that %s gives %q, %v", name, token, err)
		assert.Equal(t, token, "", "%s %v", name, err)
	}
}

func readableByOthers(path string) error {
	if err := os.WriteFile(path, make([]byte, 43), 0o600); err != nil {
		return err
	}
	return os.Chmod(path, 0o640)
}

func TestSecret(t *testing.T) {
	s := bearer.NewSecretVerifier("the secret")
	principal, err := s.Verify(t.Context(), "the secret")
	assert.NilError(t, err)
	assert.Equal(t, principal, bearer.LocalPrincipal)
	for _, token := range []string{"", "the secre", "the secret ", "the secret\x00", "THE SECRET"} {
		_, err := s.Verify(t.Context(), token)
		wrong, ok := errors.AsType[*bearer.Error](err)
		assert.Assert(t, ok, "%q gives %v", token, err)
		assert.Equal(t, wrong.Code, bearer.InvalidToken, "%q %v", token, err)
	}
}
