package secrets

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// The names of the places in key.json.
const (
	placeSystem     = "keychain"
	placeCredential = "credential"
	placeKeyFile    = "key file"
	placePassphrase = "passphrase"
	placeInsecure   = "insecure file"
)

// KeyFileEnv is the variable that names the key file.
const KeyFileEnv = "AAI_MASTER_KEY_FILE"

const (
	credentialName = "aai-master"
	insecureFile   = "key"
)

// A keyPlace may store the master key.
type keyPlace struct {
	name  string
	title string // for people
	// get returns the key. It returns errNoKey if there is none and make can create one,
	// or another error if the place is not usable.
	get func(context.Context, *label) ([]byte, error)
	// make creates a key and stores it. It may record in the label how to find it again.
	// Nil means that only a person can store a key there.
	make func(context.Context, *label) ([]byte, error)
}

// places returns all places, the best one first.
func (v *Vault) places() []keyPlace {
	return []keyPlace{
		{placeSystem, "the keychain of the operating system",
			func(ctx context.Context, _ *label) ([]byte, error) { return v.system.key(ctx) }, v.makeInSystem},
		{placeCredential, "the credential " + credentialName, v.credential, nil},
		{placeKeyFile, "the file in " + KeyFileEnv, v.keyFile, nil},
		{placePassphrase, "a passphrase", v.passphrase, v.makePassphrase},
		{placeInsecure, "the unprotected file " + v.folder.file(insecureFile), v.insecure, v.makeInsecure},
	}
}

func titleOf(places []keyPlace, name string) string {
	for _, p := range places {
		if p.name == name {
			return p.title
		}
	}
	return fmt.Sprintf("%q, which this gateway does not know", name)
}

func newKey() []byte {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	return key
}

func (v *Vault) makeInSystem(ctx context.Context, _ *label) ([]byte, error) {
	key := newKey()
	return key, v.system.keep(ctx, key)
}

// credential reads the key that systemd has decrypted for a service: LoadCredential= and
// LoadCredentialEncrypted= in systemd.exec(5).
func (v *Vault) credential(context.Context, *label) ([]byte, error) {
	if v.untrustedEnvReason != "" {
		return nil, errors.New(v.untrustedEnvReason)
	}
	folder := v.getenv("CREDENTIALS_DIRECTORY")
	if folder == "" {
		return nil, errors.New("CREDENTIALS_DIRECTORY is not set")
	}
	return readKey(filepath.Join(folder, credentialName), checkNotWritable)
}

func (v *Vault) keyFile(context.Context, *label) ([]byte, error) {
	if v.untrustedEnvReason != "" {
		return nil, errors.New(v.untrustedEnvReason)
	}
	path := v.getenv(KeyFileEnv)
	if path == "" {
		return nil, errors.New("it is not set")
	}
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%q is no absolute path", path)
	}
	return readKey(path, checkPrivate)
}

// readKey reads a key from a file that a person, or makeInsecure, has created.
func readKey(path string, check func(path string, info fs.FileInfo) error) ([]byte, error) {
	b, _, err := readPrivate(path, 1024, check)
	if err != nil {
		return nil, err
	}
	key, err := parseKey(b)
	if err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return key, nil
}

// parseKey decodes 32 bytes, or the same in hexadecimal or base64. It refuses 32
// characters of text, which are weaker than 32 random bytes.
func parseKey(b []byte) ([]byte, error) {
	if len(b) == keySize && bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' || r > '~' }) {
		return b, nil
	}
	text := string(bytes.TrimSpace(b))
	if key, err := hex.DecodeString(text); err == nil && len(key) == keySize {
		return key, nil
	}
	if key, err := base64.StdEncoding.DecodeString(text); err == nil && len(key) == keySize {
		return key, nil
	}
	return nil, fmt.Errorf("holds no key; expected %d random bytes, or those in hexadecimal or base64", keySize)
}

func (v *Vault) passphrase(ctx context.Context, l *label) ([]byte, error) {
	switch {
	case v.ask == nil:
		return nil, errors.New("nobody can be asked for it here")
	case v.insecureAllowed && l == nil:
		return nil, errors.New("it is not asked for, because insecure storage is allowed")
	case l == nil || l.Scrypt == nil:
		return nil, errNoKey
	}
	return v.ask.askExisting(ctx, l)
}

func (v *Vault) makePassphrase(ctx context.Context, l *label) ([]byte, error) {
	return v.ask.askNew(ctx, l)
}

func (v *Vault) insecure(context.Context, *label) ([]byte, error) {
	if v.untrustedEnvReason != "" {
		return nil, errors.New(v.untrustedEnvReason)
	}
	if !v.insecureAllowed {
		return nil, errors.New("it is used only with --insecure-storage")
	}
	key, err := readKey(v.folder.file(insecureFile), checkPrivate)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoKey
	}
	return key, err
}

func (v *Vault) makeInsecure(context.Context, *label) ([]byte, error) {
	key := newKey()
	return key, v.folder.replace(insecureFile, append([]byte(base64.StdEncoding.EncodeToString(key)), '\n'))
}
