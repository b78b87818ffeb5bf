package webapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Limits of what a call sends, in bytes.
const (
	maxUpload  = 32 << 20  // one file
	maxUploads = 100 << 20 // all files
)

// resultPrefix begins the name of a kept result.
const resultPrefix = "result:"

// upload is the content of a file, or of a kept result.
type upload struct {
	name, media string
	content     []byte
}

// uploads reads the files of one call.
type uploads struct {
	tool   *tool
	caller aai.Caller
	size   int // of the files so far, in bytes
}

// open reads what the value names. A person has allowed the call with this value.
func (u *uploads) open(ctx context.Context, value any) (*upload, error) {
	named, is := value.(string)
	if !is {
		return nil, errors.New(`expected the absolute path of a file, or "result:" and the id of a call`)
	}
	var file *upload
	var err error
	if call, kept := strings.CutPrefix(named, resultPrefix); kept {
		file, err = u.openResult(ctx, call)
	} else {
		file, err = u.openFile(named)
	}
	if err != nil {
		return nil, err
	}
	if u.size += len(file.content); u.size > maxUploads {
		return nil, fmt.Errorf("the files of the call have more than %d MiB together; expected fewer, or several calls", maxUploads>>20)
	}
	return file, nil
}

func (u *uploads) openFile(path string) (*upload, error) {
	if err := checkPath(path, u.tool.driver.secret); err != nil {
		return nil, err
	}
	content, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: maxUpload, NoLinks: true})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such file")
	case err != nil:
		return nil, fmt.Errorf("the file cannot be read: %w; expected a file of at most %d MiB", err, maxUpload>>20)
	case hasKey(content):
		return nil, errCredentialFile
	}
	file := &upload{name: filepath.Base(path), media: mime.TypeByExtension(filepath.Ext(path)), content: content}
	if file.media == "" {
		file.media = http.DetectContentType(content)
	}
	return file, nil
}

// keySearch is the length of a file's beginning in which a private key is looked for, in bytes.
const keySearch = 4 << 10

// hasKey reports whether the content of a file begins with a private key.
func hasKey(content []byte) bool {
	return bytes.Contains(content[:min(len(content), keySearch)], []byte("PRIVATE KEY-----"))
}

// CheckUpload returns an error unless the path is that of a file that may be sent, to a site or to a page. The files in
// secret are never sent.
func CheckUpload(path string, secret []string) error {
	if err := checkPath(path, secret); err != nil {
		return err
	}
	content, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: maxUpload, NoLinks: true})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file")
	case err != nil:
		return fmt.Errorf("the file cannot be read: %w; expected a file of at most %d MiB", err, maxUpload>>20)
	case hasKey(content):
		return errCredentialFile
	}
	return nil
}

// checkPath is CheckUpload without a look into the file.
func checkPath(path string, secret []string) error {
	if err := checkUpload(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if slices.ContainsFunc(secret, func(secret string) bool { // under any of its names
		other, otherErr := os.Stat(secret)
		return path == secret || err == nil && otherErr == nil && os.SameFile(info, other)
	}) {
		return errCredentialFile
	}
	return nil
}

func (u *uploads) openResult(ctx context.Context, call string) (*upload, error) {
	if u.tool.driver.keptResult == nil {
		return nil, errors.New("no results are kept; expected the absolute path of a file")
	}
	content, err := u.tool.driver.keptResult(ctx, call, u.caller)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the kept result cannot be read: %w", err)
	case content == nil:
		return nil, errors.New("there is no kept result of this call; expected the id of your own call of an app whose results are kept")
	case len(content) > maxUpload:
		return nil, fmt.Errorf("the kept result has more than %d MiB", maxUpload>>20)
	}
	return &upload{name: "result.json", media: "application/json", content: content}, nil
}

// errCredentialFile reports a file that holds passwords or keys.
var errCredentialFile = errors.New("names a file with passwords or keys, which the gateway sends nowhere; expected another file")

// checkUpload rejects a path that does not say which file it means, and files that hold credentials.
func checkUpload(path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return errors.New("expected an absolute path, without \"..\"")
	}
	parts := strings.Split(strings.ToLower(filepath.ToSlash(path)), "/")
	if len(parts) > 1 && slices.Contains([]string{"proc", "sys", "dev"}, parts[1]) {
		return errors.New("is no file of the person")
	}
	for _, folder := range parts[:len(parts)-1] {
		if slices.Contains(credentialFolders(), folder) {
			return errCredentialFile
		}
	}
	if strings.HasSuffix(strings.ToLower(filepath.ToSlash(path)), "/gh/hosts.yml") {
		return errCredentialFile // the token of GitHub's command line
	}
	name := parts[len(parts)-1]
	for _, pattern := range credentialFiles() {
		if matched, err := filepath.Match(pattern, name); matched || err != nil {
			return errCredentialFile
		}
	}
	return nil
}

// credentialFolders lists folders of passwords and keys, in lower case: of ssh, GnuPG, clouds,
// keyrings, browsers and of the gateway.
func credentialFolders() []string {
	return []string{".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", "gcloud", ".password-store", "keyrings", "kwalletd",
		".pki", ".mozilla", "google-chrome", "chromium", "bravesoftware", "1password", "aai-gateway", ".aai"}
}

// credentialFiles lists names of files with passwords and keys, as patterns in lower case.
func credentialFiles() []string {
	return []string{".netrc", "_netrc", ".pgpass", ".my.cnf", ".git-credentials", ".npmrc", ".pypirc", ".htpasswd", ".env", ".env.*", "*.env",
		"credentials", "credentials.*", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks",
		"*.kdbx", "*.keystore", "shadow", "shadow-", "gshadow", "gshadow-", "key4.db", "logins.json", "login data", "cookies", "cookies.sqlite"}
}
