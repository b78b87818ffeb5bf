package audit

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// A KeyStore keeps the data that verifies the chain, away from the journal: the key of its
// first record, and the last anchor. It is safe for concurrent use, also by several
// processes; of two concurrent Store calls either may win.
type KeyStore interface {
	// Load returns the last stored data, or nil if there is none.
	Load(ctx context.Context) ([]byte, error)
	// Store stores the data, on disk before it returns.
	Store(ctx context.Context, kept []byte) error
}

// keyStoreTimeout is the limit for a key store: it may have to ask the person.
const keyStoreTimeout = 10 * time.Second

// A FileKeyStore is a KeyStore in a file that only its owner may read.
type FileKeyStore struct{ path string }

// NewFileKeyStore returns a key store in the file at path, which need not exist.
func NewFileKeyStore(path string) FileKeyStore { return FileKeyStore{path} }

// Load implements KeyStore.
func (k FileKeyStore) Load(context.Context) ([]byte, error) {
	f, err := openRead(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return io.ReadAll(f)
}

// Store implements KeyStore. It replaces the whole file.
func (k FileKeyStore) Store(_ context.Context, kept []byte) error {
	folder := filepath.Dir(k.path)
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return err
	}
	return atomicfile.ReplaceDurable(k.path, kept)
}

// keysVersion is the version of the stored format.
const keysVersion = 1

// keys is the content of a key store.
type keys struct {
	Version int      `json:"version"`
	First   chainKey `json:"-"` // the key of record 1
	Key     []byte   `json:"key"`
	Anchor  *anchor  `json:"anchor,omitempty"`
}

// An anchor records the length of the chain at a time. It is signed, so that it may be
// kept in a place that others can write.
type anchor struct {
	Seq       uint64    `json:"seq"`
	Seal      string    `json:"mac"`
	Time      time.Time `json:"time"`
	Signature []byte    `json:"signature"` // Ed25519, over message
}

func (a *anchor) message() []byte {
	return fmt.Appendf(nil, "aai journal anchor 1\n%d\n%s\n%s\n", a.Seq, a.Seal, a.Time.UTC().Format(timeFormat))
}

// signer returns the key that signs anchors. It is derived from the first key. With the
// public key alone, others can verify the origin of an anchor.
func (k *keys) signer() ed25519.PrivateKey {
	seed := k.First.derive(signWord)
	return ed25519.NewKeyFromSeed(seed[:])
}

func (k *keys) sign(a *anchor) { a.Signature = ed25519.Sign(k.signer(), a.message()) }

func (k *keys) signed(a *anchor) bool {
	public, _ := k.signer().Public().(ed25519.PublicKey)
	return ed25519.Verify(public, a.message(), a.Signature)
}

// loadKeys returns the stored keys, or nil if there are none.
func loadKeys(k KeyStore) (*keys, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keyStoreTimeout)
	defer cancel()
	b, err := k.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the journal's key: %w", err)
	}
	if len(b) == 0 {
		return nil, nil
	}
	var found keys
	if err := json.Unmarshal(b, &found); err != nil {
		return nil, fmt.Errorf("the journal's key is not what a gateway stored: %w", err)
	}
	if found.Version != keysVersion || len(found.Key) != len(found.First) {
		return nil, fmt.Errorf("the journal's key has version %d and %d bytes; expected version %d and %d bytes",
			found.Version, len(found.Key), keysVersion, len(found.First))
	}
	found.First = chainKey(found.Key)
	return &found, nil
}

func storeKeys(k KeyStore, kept *keys) error {
	b, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode the journal's key: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), keyStoreTimeout)
	defer cancel()
	if err := k.Store(ctx, append(b, '\n')); err != nil {
		return fmt.Errorf("store the journal's key: %w", err)
	}
	return nil
}

// newKeys returns the keys of a new chain.
func newKeys() *keys {
	k := &keys{Version: keysVersion}
	_, _ = rand.Read(k.First[:]) // it never fails
	k.Key = k.First[:]
	return k
}
