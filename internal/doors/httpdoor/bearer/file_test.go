package bearer_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

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
			if err != nil {
				t.Error(err)
			}
			tokens[i] = token
		})
	}
	group.Wait()
	for _, token := range tokens {
		if token != tokens[0] || len(token) != 43 {
			t.Fatalf("the tokens are %q", tokens)
		}
	}
	if info, err := os.Stat(f.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	next, err := f.Rotate()
	if err != nil || next == tokens[0] || len(next) != 43 {
		t.Errorf("the next token is %q, %v", next, err)
	}
	if again, err := f.Token(); err != nil || again != next {
		t.Errorf("then it is %q, %v", again, err)
	}
	if left, err := os.ReadDir(filepath.Dir(f.Path)); err != nil || len(left) != 1 {
		t.Errorf("in the folder are %v, %v", left, err)
	}
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
		if err := spoil(f.Path); err != nil {
			t.Fatal(err)
		}
		token, err := f.Token()
		if runtime.GOOS == "windows" && name == "is readable for others" {
			continue
		}
		if e, ok := errors.AsType[*aai.Error](err); !ok || e.Code != aai.InvalidParams || e.Hint == "" || token != "" {
			t.Errorf("a file that %s gives %q, %v", name, token, err)
		}
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
	if principal, err := s.Verify(t.Context(), "the secret"); err != nil || principal != bearer.LocalPrincipal {
		t.Errorf("%q, %v", principal, err)
	}
	for _, token := range []string{"", "the secre", "the secret ", "the secret\x00", "THE SECRET"} {
		_, err := s.Verify(t.Context(), token)
		if wrong, ok := errors.AsType[*bearer.Error](err); !ok || wrong.Code != bearer.InvalidToken {
			t.Errorf("%q gives %v", token, err)
		}
	}
}
