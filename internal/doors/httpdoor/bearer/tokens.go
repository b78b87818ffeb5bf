package bearer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Tokens are the named tokens of this computer, one for each agent; the name identifies the
// agent. The file holds only their digests, so a reader of the file cannot use the tokens.
// Tokens is safe for concurrent use, also by several processes: a change by one is
// effective in all others at once.
type Tokens struct {
	path     string
	fallback Verifier

	mu           sync.Mutex
	fileInfo     fs.FileInfo
	cachedTokens []NamedToken
}

// NamedToken describes a token without its secret.
type NamedToken struct {
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"made"`
	Sum       string    `json:"sha256"`
	// Revoked means that the token is no longer valid. Its name is not used again: another
	// agent would inherit the consents.
	Revoked bool `json:"revoked,omitempty"`
}

type tokensFile struct {
	Version int          `json:"version"`
	Tokens  []NamedToken `json:"tokens"`
}

const tokensVersion = 1

// tokensLimits returns the limits for reading the file. It is private because it shows
// which agents there are.
func tokensLimits() atomicfile.ReadLimits { return atomicfile.ReadLimits{Size: 1 << 20, Private: true} }

// NewTokens returns the tokens in the file at path, which need not exist. Other tokens go
// to the Verifier others, which may be nil.
func NewTokens(path string, others Verifier) *Tokens { return &Tokens{path: path, fallback: others} }

// Verify implements Verifier. The principal is the token's name, or from the fallback Verifier.
func (t *Tokens) Verify(ctx context.Context, token string) (string, error) {
	known, err := t.all()
	sum := sha256.Sum256([]byte(token))
	shown, found := []byte(hex.EncodeToString(sum[:])), ""
	for _, k := range known { // compare all, so that the time reveals nothing
		if subtle.ConstantTimeCompare(shown, []byte(k.Sum)) == 1 && !k.Revoked {
			found = k.Name
		}
	}
	switch {
	case found != "":
		return found, nil
	case t.fallback != nil:
		principal, wrong := t.fallback.Verify(ctx, token)
		if wrong == nil || err == nil {
			return principal, wrong
		}
	case err == nil:
		return "", &Error{Code: InvalidToken, Description: "the token is not of this server"}
	}
	return "", err // the owner of the token is unknown
}

// List returns the valid tokens, ordered by name.
func (t *Tokens) List() ([]NamedToken, error) {
	known, err := t.all()
	return slices.DeleteFunc(known, func(k NamedToken) bool { return k.Revoked }), err
}

// all returns all tokens, including revoked ones.
func (t *Tokens) all() ([]NamedToken, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	info, err := os.Stat(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.cachedTokens, t.fileInfo = nil, nil
		return nil, nil
	case err != nil:
		return nil, t.fault(err)
	case t.fileInfo != nil && os.SameFile(t.fileInfo, info) && t.fileInfo.ModTime().Equal(info.ModTime()) && t.fileInfo.Size() == info.Size():
		return slices.Clone(t.cachedTokens), nil
	}
	b, err := atomicfile.Read(t.path, tokensLimits())
	if err != nil {
		return nil, t.fault(err)
	}
	known, err := parseTokens(b)
	if err != nil {
		return nil, t.fault(err)
	}
	t.cachedTokens, t.fileInfo = known, info
	return slices.Clone(known), nil
}

// parseTokens parses the whole file or returns an error.
func parseTokens(b []byte) ([]NamedToken, error) {
	var file tokensFile
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	if file.Version != tokensVersion {
		return nil, fmt.Errorf("it has version %d of the format; this gateway knows version %d", file.Version, tokensVersion)
	}
	for i, k := range file.Tokens {
		if sum, err := hex.DecodeString(k.Sum); err != nil || len(sum) != sha256.Size || !validName(k.Name) {
			return nil, fmt.Errorf("tokens[%d] is no token", i)
		}
	}
	return file.Tokens, nil
}

// tokenName matches valid names of tokens: people read them, and identities contain them.
var tokenName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,59}$`)

func validName(name string) bool { return tokenName.MatchString(name) && name != LocalPrincipal }

// Add creates a token for the agent name and returns it: it cannot be read again. It returns
// INVALID_PARAMS for a name that is not valid, or that a token has or had.
func (t *Tokens) Add(name string) (string, error) {
	if !validName(name) {
		e := aai.Errorf(aai.InvalidParams, "%q is no name for a token", aai.CleanLabel(name, 60))
		e.Hint = fmt.Sprintf("Give small letters, digits, dots, dashes and underscores, 60 at most; %q is the token without a name.", LocalPrincipal)
		return "", e
	}
	token := newToken()
	sum := sha256.Sum256([]byte(token))
	err := t.change(func(known []NamedToken) ([]NamedToken, error) {
		i := slices.IndexFunc(known, func(k NamedToken) bool { return k.Name == name })
		if i >= 0 && known[i].Revoked {
			e := aai.Errorf(aai.InvalidParams, "a token %q was revoked, and consents of its identity may still exist", name)
			e.Hint = "Give the new token another name."
			return nil, e
		}
		if i >= 0 {
			e := aai.Errorf(aai.InvalidParams, "there is a token %q already", name)
			e.Hint = "Revoke it first: aai-gateway mcp token revoke " + name + "."
			return nil, e
		}
		known = append(known, NamedToken{Name: name, CreatedAt: time.Now().UTC().Truncate(time.Second), Sum: hex.EncodeToString(sum[:])})
		slices.SortFunc(known, func(a, b NamedToken) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
		return known, nil
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// Revoke invalidates the token of the agent name permanently.
func (t *Tokens) Revoke(name string) error {
	return t.change(func(known []NamedToken) ([]NamedToken, error) {
		i := slices.IndexFunc(known, func(k NamedToken) bool { return k.Name == name && !k.Revoked })
		if i < 0 {
			e := aai.Errorf(aai.InvalidParams, "there is no token %q", aai.CleanLabel(name, 60))
			e.Hint = "aai-gateway mcp token list shows those that there are."
			return nil, e
		}
		known[i].Revoked = true
		return known, nil
	})
}

// change rewrites the file under its lock, unless edit fails.
func (t *Tokens) change(edit func([]NamedToken) ([]NamedToken, error)) error {
	err := atomicfile.Update(context.Background(), t.path, tokensLimits(), func(old []byte) (now []byte, err error) {
		var known []NamedToken
		if old != nil {
			if known, err = parseTokens(old); err != nil {
				return nil, err
			}
		}
		if known, err = edit(known); err != nil {
			return nil, err
		}
		now, err = json.MarshalIndent(tokensFile{tokensVersion, known}, "", "  ")
		return append(now, '\n'), err
	})
	if _, said := errors.AsType[*aai.Error](err); said || err == nil {
		return err
	}
	return t.fault(err)
}

func (t *Tokens) fault(err error) error {
	e := aai.Errorf(aai.InvalidParams, "%s: the tokens of agents cannot be read: %w", t.path, err)
	if _, system := errors.AsType[syscall.Errno](err); system {
		e.Hint = "Check the folder: it must be yours, with free space."
		return e
	}
	e.Hint = "Repair the file or remove it; then agents need new tokens."
	return e
}
