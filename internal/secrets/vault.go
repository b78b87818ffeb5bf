package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

// Config configures a Vault.
type Config struct {
	// Folder contains the files. The vault creates it with the first record.
	Folder string
	// Getenv looks up a variable of this process or of the person's session: a place of the key, or the session bus.
	Getenv func(string) string
	// UntrustedEnvReason is the reason for ignoring keys that the environment names; "" trusts them.
	UntrustedEnvReason string
	// AllowInsecureFile permits an unprotected file of the folder as the place of the
	// master key, if there is no better place. New logs a warning about it.
	AllowInsecureFile bool
	// Ask asks the person at the terminal for a passphrase. Nil means that there is no person.
	Ask PassphrasePrompt
	Log *slog.Logger
}

// A Vault stores sealed records. It is safe for concurrent use, also by several processes
// on one folder. Its errors are ctx's, those of edit, or *aai.Error:
//
//   - AUTOMATION_NOT_SUPPORTED, with errors.ErrUnsupported as its cause: no place
//     can store a master key, and no vault was created.
//   - TIMEOUT: the key is in the keychain, which does not answer; or another
//     process has the record's lock.
//   - AUTOMATION_FAILED: the key is not available, or a file is damaged or is not
//     private.
//   - INVALID_PARAMS: an ID or a record is too long.
type Vault struct {
	*vaultState
	nonInteractive bool
	ask            PassphrasePrompt
}

// vaultState is the state that the views of a vault share.
type vaultState struct {
	folder             folder
	getenv             func(string) string
	untrustedEnvReason string
	insecureAllowed    bool
	system             *systemKeychain
	cache              fileCache

	keyTurn chan struct{} // full while a goroutine gets the master key
	current atomic.Pointer[masterKey]
}

// New returns a vault. It opens no file and asks no one.
func New(c Config) *Vault {
	v := &Vault{vaultState: &vaultState{
		folder: newFolder(c.Folder), getenv: c.Getenv, untrustedEnvReason: c.UntrustedEnvReason,
		insecureAllowed: c.AllowInsecureFile, system: newSystem(c.Getenv), keyTurn: make(chan struct{}, 1),
	}, ask: c.Ask}
	if c.AllowInsecureFile && c.Log != nil {
		c.Log.Warn("insecure storage is allowed: where there is no keychain, whoever reads "+v.folder.file(insecureFile)+
			" can read your secrets",
			"setting", "keychain.insecure")
	}
	return v
}

// NonInteractive returns a view of the vault for records that every process of the gateway
// must be able to read, even without a person at a terminal: it refuses a passphrase as
// the place of the master key.
func (v *Vault) NonInteractive() *Vault {
	return &Vault{vaultState: v.vaultState, nonInteractive: true}
}

// Get returns the record of that ID. An absent record is nil, without an error; an empty
// one is not nil.
func (v *Vault) Get(ctx context.Context, id string) ([]byte, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	for {
		k, err := v.key(ctx, false)
		if k == nil || err != nil {
			return nil, asCallError(err)
		}
		content, err := v.load(k, id)
		if content != nil {
			return content, nil
		}
		// Absent or unreadable: check that the vault still belongs to the key.
		if current, lost := v.isCurrent(k); lost != nil {
			return nil, lost
		} else if current {
			return nil, err
		}
	}
}

// Update changes the record of that ID. edit gets the current record, nil if it is absent,
// and returns the new one; nil removes it. Update holds the record's lock during edit,
// against this process and others. So edit may take its time, but must not use the vault
// for the same record. If edit fails, Update changes nothing and returns its error.
// Without an error the change survives a crash.
func (v *Vault) Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error {
	if err := checkID(id); err != nil {
		return err
	}
	for {
		k, err := v.key(ctx, true)
		if err != nil {
			return asCallError(err)
		}
		unlock, err := v.folder.lock(ctx, k.fileOf(id))
		current, lost := v.isCurrent(k)
		if err == nil && current && lost == nil {
			defer unlock()
			return v.change(k, id, edit)
		}
		if err == nil {
			unlock()
		}
		if lost != nil {
			return lost
		}
		if current {
			return asCallError(err)
		}
	}
}

// CheckSealing returns an error if sealing is not possible now. It creates no file.
func (v *Vault) CheckSealing(ctx context.Context) error {
	k, err := v.key(ctx, false)
	if k != nil || err != nil {
		return asCallError(err)
	}
	best, notes := v.choose(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case best == nil:
		return v.refusal(notes)
	}
	return v.checkNonInteractive(best.name)
}

// Seal seals content that the caller stores, such as a row of a database, for [Vault.Open]
// with the same ID. It creates the vault if there is none.
func (v *Vault) Seal(ctx context.Context, id string, content []byte) ([]byte, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	k, err := v.key(ctx, true)
	if err != nil {
		return nil, asCallError(err)
	}
	return k.seal(id, content), nil
}

// Open returns the content that [Vault.Seal] sealed with that ID.
func (v *Vault) Open(ctx context.Context, id string, box []byte) ([]byte, error) {
	k, err := v.key(ctx, false)
	switch {
	case err != nil:
		return nil, asCallError(err)
	case k == nil:
		return nil, unusableVaultError(errors.New("the vault that sealed it is gone"), "")
	}
	content, err := k.open(id, box)
	if err != nil {
		return nil, unusableVaultError(err, "")
	}
	return content, nil
}

// change is Update under the lock.
func (v *Vault) change(k *masterKey, id string, edit func([]byte) ([]byte, error)) error {
	old, _, err := v.read(k, id)
	if err != nil {
		return err
	}
	now, err := edit(bytes.Clone(old))
	if err != nil {
		return err
	}
	file := k.fileOf(id) + sealedEnding
	switch {
	case now == nil && old == nil:
		return nil
	case now == nil:
		err = v.folder.remove(file)
	case len(now) > MaxRecordSize:
		return aai.Errorf(aai.InvalidParams, "the record %q has %d bytes; expected at most %d", aai.CleanLabel(id, 60),
			len(now), MaxRecordSize)
	default:
		err = v.folder.replace(file, k.seal(id, now))
	}
	if err != nil {
		return unusableVaultError(fmt.Errorf("the record %q could not be kept: %w", aai.CleanLabel(id, 60), err),
			"What was kept before is still there.")
	}
	return nil
}

// load is read with the cache.
func (v *Vault) load(k *masterKey, id string) ([]byte, error) {
	path := v.folder.file(k.fileOf(id) + sealedEnding)
	if content, known := v.cache.get(path); known {
		return content, nil
	}
	begun := time.Now()
	content, info, err := v.read(k, id)
	if content != nil {
		v.cache.put(path, info, content, begun)
	}
	return content, err
}

// read returns the record, or nil if it is absent.
func (v *Vault) read(k *masterKey, id string) ([]byte, fs.FileInfo, error) {
	path := v.folder.file(k.fileOf(id) + sealedEnding)
	b, info, err := readPrivate(path, maxSealed, checkPrivate)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err == nil {
		var content []byte
		if content, err = k.open(id, b); err == nil {
			return content, info, nil
		}
		err = fmt.Errorf("%s: %w", path, err)
	}
	return nil, nil,
		unusableVaultError(err, "Bring the file back from a copy. Or remove it, and give what it held once more.")
}

// Names returns the IDs of all records with the prefix, sorted. It fails on a damaged
// file.
func (v *Vault) Names(ctx context.Context, prefix string) ([]string, error) {
	k, err := v.key(ctx, false)
	if k == nil || err != nil {
		return nil, asCallError(err)
	}
	files, err := v.folder.records()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unusableVaultError(err, "")
	}
	var ids []string
	for _, file := range files {
		b, err := v.folder.read(file, maxSealed)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since
		}
		var id string
		if err == nil {
			if id, err = k.openID(b); err == nil && k.fileOf(id)+sealedEnding != file {
				err = errTampered
			}
		}
		if err != nil {
			return nil, unusableVaultError(fmt.Errorf("%s: %w", v.folder.file(file), err),
				"Bring the file back from a copy. Or remove it, and give what it held once more.")
		}
		if strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func checkID(id string) error {
	if id == "" || len(id) > MaxIDLength || !utf8.ValidString(id) {
		return aai.Errorf(aai.InvalidParams, "%q is no id of a record; expected 1 to %d bytes of UTF-8",
			aai.CleanLabel(id, 60), MaxIDLength)
	}
	return nil
}

// asCallError converts an error to an *aai.Error, except errors of a context.
func asCallError(err error) error {
	if _, ok := errors.AsType[*aai.Error](err); ok || err == nil || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return unusableVaultError(err, "")
}
