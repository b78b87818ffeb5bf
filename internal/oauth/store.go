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

// Prefixes of the ids in Secrets. The rest of an id is a digest, so that it reveals nothing and
// fits every store.
const (
	tokenPrefix  = "login/token/"  // OAuth tokens, and bought ones
	keyPrefix    = "login/key/"    // keys, app credentials and cookies of the user
	serverPrefix = "login/server/" // an authorization server's data, for one app
	secretPrefix = "login/secret/" // of clients
	clientPrefix = "login/client/" // registrations with an issuer
)

// digest returns the SHA-256 of the parts. Each part has its length before it, so that different
// lists have different bytes.
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

// get returns the value under the id, or nil.
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

// read decodes the record under the id into v, and reports whether there is one. An unreadable
// record counts as absent: the user logs in again.
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

// put stores v under the id.
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

// update is Secrets.Update with a message for the caller if the store fails.
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
	if _, ours := errors.AsType[*aai.Error](err); ours || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := aai.Errorf(aai.AutomationFailed, "the store of secrets does not work: %w", err)
	e.Message = "the store of secrets does not work"
	e.Hint = "aai-gateway keychain status shows the store in use and its problem."
	return e
}

// decodeRecord decodes a record into v, and reports success.
func decodeRecord(raw []byte, v any) bool { return json.Unmarshal(raw, v) == nil }
