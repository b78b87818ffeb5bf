package oauth

import (
	"context"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// browserPatience is the time to wait for the browser program to fail.
const browserPatience = time.Second

// OpenBrowser opens an https page, or an http page of this computer, in the user's browser. It
// uses no shell, and the address is one argument that begins with its scheme. It does not wait for
// the browser to end. The browser inherits environ; nil is the environment of this process. The
// error is AUTH_INVALID for any other address.
func OpenBrowser(ctx context.Context, address string, environ []string) error {
	safe, err := browserAddress(address)
	if err != nil {
		return err
	}
	return open(ctx, safe, environ)
}

// OpenFile opens a local file like OpenBrowser opens a page. The path is absolute.
func OpenFile(ctx context.Context, path string, environ []string) error {
	at := filepath.ToSlash(path)
	if !strings.HasPrefix(at, "/") {
		at = "/" + at // drive letter
	}
	return open(ctx, percentEncode((&url.URL{Scheme: "file", Path: at}).String()), environ)
}

// open starts the program that opens an address.
func open(ctx context.Context, address string, environ []string) error {
	name, args := browserCommand(address)
	path, err := exec.LookPath(name)
	if err != nil {
		return aai.Errorf(aai.AutomationNotSupported, "there is no program %s to open a browser with", name)
	}
	// Not CommandContext, because the browser outlives the call. Its output is discarded, because
	// the gateway's own may carry a protocol.
	cmd := exec.Command(path, args...) //nolint:noctx // see above
	cmd.Env = environ
	detachGroup(cmd)
	if err := cmd.Start(); err != nil {
		return aai.Errorf(aai.AutomationFailed, "the browser could not be started: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return aai.Errorf(aai.AutomationFailed, "%s could not open a browser: %w", name, err)
		}
		return nil
	case <-time.After(browserPatience):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// browserAddress rebuilds the address from the characters that RFC 3986 allows. It percent-encodes
// characters that a shell, a registry or a protocol handler could misread.
func browserAddress(address string) (string, error) {
	u, err := url.Parse(address)
	odd := func(r rune) bool { return !strings.ContainsRune(hostChars, r) }
	if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" || strings.ContainsFunc(u.Host, odd) ||
		u.Scheme != "https" && (u.Scheme != "http" ||
			!netguard.IsLoopback(u.Hostname()) && !strings.HasSuffix(u.Hostname(), ".localhost")) {
		return "",
			aai.Errorf(aai.AuthInvalid, "the page to log in at is %q; expected an https page", aai.CleanLabel(address, 200))
	}
	u.Fragment, u.RawFragment = "", ""
	return percentEncode(u.String()), nil
}

// percentEncode percent-encodes all characters outside addressChars.
func percentEncode(address string) string {
	var b strings.Builder
	for _, c := range []byte(address) {
		if strings.IndexByte(addressChars, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		const hexDigits = "0123456789ABCDEF"
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	return b.String()
}

const (
	letters   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	hostChars = letters + ".-_:[]"
	// addressChars are those of RFC 3986 without quotes, parentheses and characters that shells
	// expand, which an address may percent-encode.
	addressChars = letters + "-._~:/?[]@&+,;=%"
)
