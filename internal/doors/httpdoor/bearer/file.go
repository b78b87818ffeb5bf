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

// TokenFile stores a token that this computer generated. Only its owner can read the file.
type TokenFile struct{ Path string }

// tokenBytes is the number of random bytes in a token.
const tokenBytes = 32

// maxToken is the size limit of a token file, in bytes.
const maxToken = 4096

// Token returns the token in the file. If there is no file, it creates one with a new token.
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

// Rotate replaces the token by a new one and returns it. Servers accept the old token until they restart.
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
		return "", errors.New("it has no token")
	}
	return token, nil
}

// write creates the file in one step: put is a link, which fails if there is a file
// already, or a rename, which does not.
func (f TokenFile) write(token string, put func(from, to string) error) error {
	folder := filepath.Dir(f.Path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(folder, ".http-token-*") // readable by its owner only
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
	e := aai.Errorf(aai.InvalidParams, "%s: the token of the HTTP server cannot be read: %w", f.Path, err)
	e.Hint = "Make a new one: aai-gateway mcp token --rotate."
	return e
}
