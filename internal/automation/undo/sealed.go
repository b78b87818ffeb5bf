package undo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
)

// A Vault keeps sealed records, as internal/secrets's does. Safe for concurrent use, also
// by several processes.
type Vault interface {
	// Get returns a record, nil if it is absent.
	Get(ctx context.Context, id string) ([]byte, error)
	// Update changes a record: edit gets what there is, nil for nothing, and returns what
	// shall be.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
	// CheckSealing says why nothing can be sealed now; nil where it can.
	CheckSealing(ctx context.Context) error
}

const (
	sealedLifetime = time.Hour       // as the terminal's references
	maxSealed      = 900 << 10       // bytes of the terminal's acts; a record may have a MiB
	sealTimeout    = 5 * time.Second // for which a command waits for the vault
	sealedVersion  = 1
)

// sealedActs is the record.
type sealedActs struct {
	Version int    `json:"version"`
	Acts    []*Act `json:"acts"`
}

// isSealed reports whether the caller's conversation outlives this process.
func (l *Log) isSealed(caller aai.Caller) bool { return caller.Door == aai.DoorCLI }

// sealedID is the id of what the caller's conversation has done.
func sealedID(caller aai.Caller) string {
	sum := sha256.Sum256([]byte(caller.Conversation()))
	return "undo/" + hex.EncodeToString(sum[:16])
}

// updateSealed changes what is kept of the caller's acts. Where it cannot be sealed it is not kept:
// whoever asks for it is told, see recall.
func (l *Log) updateSealed(ctx context.Context, caller aai.Caller, edit func([]*Act) []*Act) {
	if l.vault == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sealTimeout)
	defer cancel()
	err := l.vault.Update(ctx, sealedID(caller), func(old []byte) ([]byte, error) {
		acts, _ := readSealed(old) // what cannot be read is of another version: it begins anew
		return writeSealed(edit(acts))
	})
	if err != nil {
		l.log.InfoContext(ctx, "what was done cannot be kept, so it cannot be taken back later", "cause", err)
	}
}

// loadSealed reads what is kept of the caller's acts.
func (l *Log) loadSealed(ctx context.Context, caller aai.Caller) error {
	if l.vault == nil {
		return notSealedError(nil)
	}
	ctx, cancel := context.WithTimeout(ctx, sealTimeout)
	defer cancel()
	record, err := l.vault.Get(ctx, sealedID(caller))
	if record == nil && err == nil {
		err = l.vault.CheckSealing(ctx) // else nothing was done, or it could not be kept
	}
	if err != nil {
		return notSealedError(err)
	}
	acts, err := readSealed(record)
	if err != nil {
		return notSealedError(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.conversationOf(caller)
	own := t.acts
	l.resize(t, -t.size)
	t.acts = nil
	for _, act := range acts {
		// of those of this process the very Undo is known by which they may be taken back
		if i := slices.IndexFunc(own, func(a *Act) bool { return a.Call == act.Call }); i >= 0 {
			act.Undo = own[i].Undo
		}
		act.measure()
		l.add(t, act)
	}
	return nil
}

// notSealedError says why nobody knows what the terminal's commands have done.
func notSealedError(err error) error {
	e := aai.Errorf(aai.AutomationNotSupported, "what commands do is not kept here: it could hold secrets, and cannot be sealed")
	if err != nil {
		e.Message, e.Err = fmt.Sprintf("%s: %s", e.Message, aai.AsError(err).Message), err
	}
	e.Delivery = aai.NotDelivered
	e.Hint = "aai-gateway exec aai keychain_status says why. Within one conversation of an agent acts can be taken back."
	return e
}

// readSealed returns the acts of a record that are not too old.
func readSealed(record []byte) ([]*Act, error) {
	if len(record) == 0 {
		return nil, nil
	}
	var k sealedActs
	d := json.NewDecoder(bytes.NewReader(record))
	d.UseNumber() // a large one keeps its digits
	if err := d.Decode(&k); err != nil {
		return nil, err
	}
	if k.Version != sealedVersion {
		return nil, fmt.Errorf("the record of acts has version %d; expected %d", k.Version, sealedVersion)
	}
	old := time.Now().Add(-sealedLifetime)
	return slices.DeleteFunc(k.Acts, func(a *Act) bool { return a == nil || a.Time.Before(old) }), nil
}

// writeSealed makes the record, of the newest acts.
func writeSealed(acts []*Act) ([]byte, error) {
	acts = acts[max(0, len(acts)-maxActs):]
	for {
		b, err := json.Marshal(sealedActs{sealedVersion, acts})
		if err != nil || len(b) <= maxSealed || len(acts) == 0 {
			return b, err
		}
		acts = acts[max(1, len(acts)/4):]
	}
}
