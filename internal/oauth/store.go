package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/gybob/aai-gateway"
)

// What is kept in Secrets, by the beginning of its id. The rest is a digest, so
// that an id says nothing and fits everywhere.
const (
	tokenPrefix  = "login/token/"  // tokens of OAuth, and bought ones
	keyPrefix    = "login/key/"    // keys, app credentials and cookies that a person gave
	serverPrefix = "login/server/" // what is known of an authorization server, for one app
	secretPrefix = "login/secret/" // of clients
	clientPrefix = "login/client/" // registrations with an issuer
)

// digest is the SHA-256 of the parts, each with its length before it, so that no
// two lists of parts have the same bytes.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// get returns what is kept under the id, or nil.
func (l *Authorizer) get(ctx context.Context, id string) ([]byte, error) {
	kept, err := l.cfg.Secrets.Get(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storeError(err)
	}
	return kept, nil
}

// read reads what is kept under the id into v, and reports whether there was
// anything. What cannot be read is as good as nothing: a person logs in again.
func (l *Authorizer) read(ctx context.Context, id string, v any) (bool, error) {
	kept, err := l.get(ctx, id)
	if err != nil || kept == nil {
		return false, err
	}
	if !decodeRecord(kept, v) {
		l.log.Warn("a login that is kept cannot be read and is not used", "id", id)
		return false, nil
	}
	return true, nil
}

// put keeps v under the id.
func (l *Authorizer) put(ctx context.Context, id string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return aai.Errorf(aai.Internal, "a login cannot be written: %w", err)
	}
	return l.update(ctx, id, func([]byte) ([]byte, error) { return b, nil })
}

func (l *Authorizer) drop(ctx context.Context, id string) error {
	return l.update(ctx, id, func([]byte) ([]byte, error) { return nil, nil })
}

// update is Secrets.Update, in words for the caller where the store fails.
func (l *Authorizer) update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error {
	var own error
	err := l.cfg.Secrets.Update(ctx, id, func(old []byte) (b []byte, err error) {
		b, own = edit(old)
		return b, own
	})
	if own != nil {
		return own
	}
	if err != nil {
		return storeError(err)
	}
	return nil
}

func storeError(err error) error {
	if _, ours := errors.AsType[*aai.Error](err); ours || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := aai.Errorf(aai.AutomationFailed, "the store of secrets does not work: %w", err)
	e.Message = "the store of secrets does not work"
	e.Hint = "aai-gateway keychain status says which store is in use and what is wrong with it."
	return e
}

// decodeRecord reads what was kept into v, and reports whether it could.
func decodeRecord(raw []byte, v any) bool { return json.Unmarshal(raw, v) == nil }
