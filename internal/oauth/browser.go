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

// browserPatience is how long the program that opens the browser may take to say
// that it cannot.
const browserPatience = time.Second

// OpenBrowser opens an https page, or an http page of this computer, in the person's
// browser. There is no shell in between, and the address is one argument that
// begins with its scheme. It does not wait for the browser to end. The browser gets the
// environment; nil is that of this process. The error is AUTH_INVALID for any other
// address.
func OpenBrowser(ctx context.Context, address string, environ []string) error {
	safe, err := browserAddress(address)
	if err != nil {
		return err
	}
	return open(ctx, safe, environ)
}

// OpenFile opens a page that is a file of this computer as OpenBrowser does one of the web. The
// path is absolute.
func OpenFile(ctx context.Context, path string, environ []string) error {
	at := filepath.ToSlash(path)
	if !strings.HasPrefix(at, "/") {
		at = "/" + at // a drive's letter
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
	// Not CommandContext: the browser outlives the call. Its output goes nowhere: ours
	// may be a protocol's.
	cmd := exec.Command(path, args...) //nolint:noctx // as said
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

// browserAddress writes the address anew, of the characters alone that RFC 3986
// gives an address: what a shell, a registry or a protocol handler could take for
// something else is percent-encoded.
func browserAddress(address string) (string, error) {
	u, err := url.Parse(address)
	odd := func(r rune) bool { return !strings.ContainsRune(hostChars, r) }
	if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" || strings.ContainsFunc(u.Host, odd) ||
		u.Scheme != "https" && (u.Scheme != "http" || !netguard.IsLoopback(u.Hostname()) && !strings.HasSuffix(u.Hostname(), ".localhost")) {
		return "", aai.Errorf(aai.AuthInvalid, "the page to log in at is %q; expected an https page", aai.CleanLabel(address, 200))
	}
	u.Fragment, u.RawFragment = "", ""
	return percentEncode(u.String()), nil
}

// percentEncode percent-encodes what is none of addressChars.
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
	// addressChars are those of RFC 3986 without quotes, parentheses and what shells
	// expand; in an address those may as well be percent-encoded.
	addressChars = letters + "-._~:/?[]@&+,;=%"
)
