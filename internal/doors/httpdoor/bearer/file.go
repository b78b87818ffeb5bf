package bearer

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// A File keeps a token that this computer made for itself. Only its person can
// read it.
type TokenFile struct{ Path string }

// tokenBytes is how much chance is in a token.
const tokenBytes = 32

// maxToken is the size of the largest file that is read as one.
const maxToken = 4096

// Token returns the token. The first use makes one.
func (f TokenFile) Token() (string, error) {
	token, err := f.read()
	if errors.Is(err, fs.ErrNotExist) {
		if err = f.write(newToken(), os.Link); errors.Is(err, fs.ErrExist) {
			err = nil // another process was first
		}
		if err == nil {
			token, err = f.read()
		}
	}
	if err != nil {
		return "", f.fault(err)
	}
	return token, nil
}

// Rotate makes a new token in the place of the old one, which is not good any
// more when servers that use it start anew.
func (f TokenFile) Rotate() (string, error) {
	token := newToken()
	if err := f.write(token, os.Rename); err != nil {
		return "", f.fault(err)
	}
	return token, nil
}

func newToken() string {
	b := make([]byte, tokenBytes)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

func (f TokenFile) read() (string, error) {
	b, err := atomicfile.Read(f.Path, atomicfile.ReadLimits{Size: maxToken, Private: true})
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if len(token) < tokenBytes {
		return "", errors.New("it holds no token")
	}
	return token, nil
}

// write puts the token in place in one step, by a link that fails where there is
// one already or by a rename that does not.
func (f TokenFile) write(token string, put func(from, to string) error) error {
	folder := filepath.Dir(f.Path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(folder, ".http-token-*") // for its owner alone
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // it may have been renamed
	_, err = temp.WriteString(token + "\n")
	if err == nil {
		err = temp.Sync()
	}
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return put(temp.Name(), f.Path)
}

func (f TokenFile) fault(err error) error {
	e := aai.Errorf(aai.InvalidParams, "%s: the token of the HTTP server cannot be had: %w", f.Path, err)
	e.Hint = "Make a new one: aai-gateway mcp token --rotate."
	return e
}
