package secrets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A masterKey is the vault's key with its place.
type masterKey struct {
	*sealer
	place string
}

// key returns the vault's master key. Without a vault, it creates both if create is set,
// and otherwise returns nil.
func (v *Vault) key(ctx context.Context, create bool) (*masterKey, error) {
	if k := v.current.Load(); k != nil {
		return k, v.checkNonInteractive(k.place)
	}
	select {
	case v.keyTurn <- struct{}{}:
		defer func() { <-v.keyTurn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if k := v.current.Load(); k != nil {
		return k, v.checkNonInteractive(k.place)
	}
	l, err := v.label()
	var k *masterKey
	switch {
	case err != nil:
		return nil, err
	case l != nil:
		k, err = v.findKey(ctx, l)
	case create:
		k, err = v.establish(ctx)
	}
	if k == nil || err != nil {
		return nil, err
	}
	v.current.Store(k)
	return k, nil
}

// checkNonInteractive returns an error for a key that needs a passphrase, if the vault is
// non-interactive.
func (v *Vault) checkNonInteractive(place string) error {
	if place != placePassphrase || !v.nonInteractive {
		return nil
	}
	return v.refusal([]string{
		titleOf(v.places(), placePassphrase) + " seals what is in " + v.folder.path + ", and nobody is asked for it here",
	})
}

// label reads key.json. Nil means that there is no vault.
func (v *Vault) label() (*label, error) {
	if err := v.folder.check(); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, unusableVaultError(err, "Put it right, or move it away to start anew.")
	}
	b, err := v.folder.read(labelFile, maxLabel)
	if errors.Is(err, fs.ErrNotExist) {
		orphan := v.orphanError()
		if orphan == nil {
			return nil, nil
		}
		// Another process may have made the vault since. It writes key.json before any
		// record, so a second read decides.
		if b, err = v.folder.read(labelFile, maxLabel); errors.Is(err, fs.ErrNotExist) {
			return nil, orphan
		}
	}
	if err != nil {
		return nil, unusableVaultError(err, "Put it right; without it the secrets beside it cannot be opened.")
	}
	l, err := parseLabel(b)
	if err != nil {
		return nil,
			unusableVaultError(fmt.Errorf("%s is not what says which key seals the secrets: %w", v.folder.file(labelFile), err),
				"Bring back the file from a copy, or move "+v.folder.path+" away to start anew.")
	}
	return l, nil
}

// orphanError returns the error for a vault that has records but no key.json.
func (v *Vault) orphanError() error {
	records, err := v.folder.records()
	if err == nil && len(records) > 0 {
		err = fmt.Errorf("%s is gone, but there are %d sealed secrets beside it", v.folder.file(labelFile), len(records))
	}
	if err != nil {
		return unusableVaultError(err, "Bring back the file from a copy, or move "+v.folder.path+" away to start anew.")
	}
	return nil
}

// isCurrent reports whether the vault is still sealed with the key. If another vault is in
// its place, isCurrent drops the key.
func (v *Vault) isCurrent(k *masterKey) (bool, error) {
	l, err := v.label()
	if err != nil {
		return false, err
	}
	if l != nil && l.Key == k.name() {
		return true, nil
	}
	v.current.CompareAndSwap(k, nil)
	return false, nil
}

// findKey returns the key that the label names, and no other.
func (v *Vault) findKey(ctx context.Context, l *label) (*masterKey, error) {
	if err := v.checkNonInteractive(l.Place); err != nil {
		return nil, err
	}
	places := v.places()
	slices.SortStableFunc(places, func(a, b keyPlace) int { // its former place first
		return boolCompare(b.name == l.Place, a.name == l.Place)
	})
	var notes []string
	code := aai.AutomationFailed
	for _, p := range places {
		if p.name == placePassphrase && l.Place != placePassphrase {
			continue
		}
		master, err := p.get(ctx, l)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var k *sealer
		if err == nil {
			k, err = newSealer(master)
		}
		if err == nil && k.name() == l.Key {
			return &masterKey{k, p.name}, nil
		}
		if err == nil {
			err = fmt.Errorf("it has another key, %s", shortID(k.name()))
		}
		if p.name == l.Place && errors.Is(err, errNoAnswer) {
			code = aai.Timeout
		}
		notes = append(notes, p.title+": "+err.Error())
	}
	e := aai.Errorf(code, "the secrets in %s are sealed with the key %s of %s, which cannot be had. %s",
		v.folder.path, shortID(l.Key), titleOf(places, l.Place), strings.Join(notes, "; "))
	e.Hint = "Unlock that place or bring the key back to it. To give the secrets up, move the folder away; everything " +
		"in it must then be given anew."
	if v.untrustedEnvReason != "" {
		e.Hint = "Start the gateway with the account's own HOME and without XDG_DATA_HOME. " + e.Hint
	}
	e.Delivery = aai.NotDelivered
	return nil, e
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// establish creates a vault: with the key in the best place, or with a new one that the
// best place stores. Without such a place, it creates no file.
func (v *Vault) establish(ctx context.Context) (*masterKey, error) {
	best, notes := v.choose(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if best == nil {
		return nil, v.refusal(notes)
	}
	if err := v.folder.make(); err != nil {
		return nil, unusableVaultError(err, "")
	}
	unlock, err := v.folder.lock(ctx, "key")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if l, err := v.label(); err != nil {
		return nil, err
	} else if l != nil { // another process was first
		return v.findKey(ctx, l)
	}
	l := &label{Version: labelVersion, Place: best.name}
	master, err := best.get(ctx, nil)
	if errors.Is(err, errNoKey) {
		master, err = best.make(ctx, l)
	}
	if err != nil {
		return nil, v.refusal(append(notes, best.title+": "+err.Error()))
	}
	k, err := newSealer(master)
	if err != nil {
		return nil, unusableVaultError(err, "")
	}
	l.Key = k.name()
	b, err := json.MarshalIndent(l, "", "  ")
	if err == nil {
		err = v.folder.replace(labelFile, append(b, '\n'))
	}
	if err != nil {
		return nil, unusableVaultError(fmt.Errorf("write %s: %w", v.folder.file(labelFile), err), "")
	}
	return &masterKey{k, best.name}, nil
}

// choose returns the best place that has a key or can store one, and the problems of the
// places before it.
func (v *Vault) choose(ctx context.Context) (*keyPlace, []string) {
	var notes []string
	for _, p := range v.places() {
		_, err := p.get(ctx, nil)
		if err == nil || errors.Is(err, errNoKey) && p.make != nil {
			return &p, notes
		}
		notes = append(notes, p.title+": "+err.Error())
	}
	return nil, notes
}

// refusal returns the error if no place can store a key, with advice for the person.
func (v *Vault) refusal(notes []string) *aai.Error {
	return &aai.Error{
		Code:    aai.AutomationNotSupported,
		Message: "no place here can keep the key that seals secrets. " + strings.Join(notes, "; "),
		Hint: "Do one of three things. Start or unlock the keychain of this session. " +
			"Or make a key file (umask 077; head -c 32 /dev/urandom > FILE) and name it in " + KeyFileEnv +
			"; a systemd service takes it as the credential " + credentialName + ". " +
			"Or accept a key that lies unprotected beside the secrets: --insecure-storage, or AAI_INSECURE_STORAGE=1.",
		Delivery: aai.NotDelivered,
		Err:      errors.ErrUnsupported,
	}
}

// unusableVaultError returns the error for a vault that cannot be used in its state.
func unusableVaultError(err error, hint string) *aai.Error {
	e := aai.Errorf(aai.AutomationFailed, "the secrets cannot be used: %w", err)
	e.Hint, e.Delivery = hint, aai.NotDelivered
	return e
}
