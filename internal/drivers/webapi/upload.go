package webapi

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// maxUpload limits a file that a call sends, in bytes.
const maxUpload = 32 << 20

// resultPrefix begins the name of a kept result.
const resultPrefix = "result:"

// upload is the content of a file, or of a kept result.
type upload struct {
	name, media string
	content     []byte
}

// openUpload reads what the value names. A person has allowed the call with this value.
func (t *tool) openUpload(ctx context.Context, value any) (*upload, error) {
	named, is := value.(string)
	if !is {
		return nil, errors.New(`expected the absolute path of a file, or "result:" and the id of a call`)
	}
	if call, kept := strings.CutPrefix(named, resultPrefix); kept {
		return t.openResult(ctx, call)
	}
	if err := checkUpload(named); err != nil {
		return nil, err
	}
	content, err := atomicfile.Read(named, atomicfile.ReadLimits{Size: maxUpload})
	if err != nil {
		return nil, fmt.Errorf("the file cannot be read: %w; expected a file of at most %d MiB", err, maxUpload>>20)
	}
	file := &upload{name: filepath.Base(named), media: mime.TypeByExtension(filepath.Ext(named)), content: content}
	if file.media == "" {
		file.media = http.DetectContentType(content)
	}
	if strings.HasPrefix(file.media, "text/") && strings.Contains(string(content[:min(len(content), 200)]), "PRIVATE KEY-----") {
		return nil, errCredentialFile
	}
	return file, nil
}

func (t *tool) openResult(ctx context.Context, call string) (*upload, error) {
	if t.driver.keptResult == nil {
		return nil, errors.New("no results are kept; expected the absolute path of a file")
	}
	content, err := t.driver.keptResult(ctx, call)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the kept result cannot be read: %w", err)
	case content == nil:
		return nil, errors.New("there is no kept result of this call; expected the id of a call of an app whose results are kept")
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
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return errors.New("there is no such file")
	}
	if real != path {
		return errors.New("is a link, or in a folder that is one; expected the path of the file itself")
	}
	for _, folder := range parts[:len(parts)-1] {
		if slices.Contains(credentialFolders(), folder) {
			return errCredentialFile
		}
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
		"*.kdbx", "*.keystore", "shadow", "shadow-", "gshadow", "key4.db", "logins.json", "login data", "cookies", "cookies.sqlite"}
}
