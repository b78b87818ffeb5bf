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

// Vault keeps sealed records, like the one of internal/secrets. It is safe for concurrent use, also
// by several processes.
type Vault interface {
	// Get returns a record, nil if it is absent.
	Get(ctx context.Context, id string) ([]byte, error)
	// Update changes a record: edit gets the old record, nil for none, and returns the new one.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
	// CheckSealing returns the reason why nothing can be sealed now, or nil.
	CheckSealing(ctx context.Context) error
}

const (
	sealedLifetime = time.Hour       // like the terminal's refs
	maxSealed      = 900 << 10       // bytes of the terminal's acts; the limit of a record is 1 MiB
	sealTimeout    = 5 * time.Second // maximum wait of a command for the vault
	sealedVersion  = 1
)

// sealedActs is the JSON form of the record with a conversation's acts.
type sealedActs struct {
	Version int    `json:"version"`
	Acts    []*Act `json:"acts"`
}

// isSealed reports whether the caller's conversation outlives this process.
func (l *Log) isSealed(caller aai.Caller) bool { return caller.Door == aai.DoorCLI }

// sealedID returns the record id of the caller's conversation.
func sealedID(caller aai.Caller) string {
	sum := sha256.Sum256([]byte(caller.Conversation()))
	return "undo/" + hex.EncodeToString(sum[:16])
}

// updateSealed changes the sealed acts of the caller. If sealing fails, the acts are not kept;
// loadSealed reports that.
func (l *Log) updateSealed(ctx context.Context, caller aai.Caller, edit func([]*Act) []*Act) {
	if l.vault == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sealTimeout)
	defer cancel()
	err := l.vault.Update(ctx, sealedID(caller), func(old []byte) ([]byte, error) {
		acts, _ := readSealed(old) // an unreadable record has another version: start a new one
		return writeSealed(edit(acts))
	})
	if err != nil {
		l.log.InfoContext(ctx, "the act cannot be stored, so it cannot be undone later", "cause", err)
	}
}

// loadSealed reads the sealed acts of the caller.
func (l *Log) loadSealed(ctx context.Context, caller aai.Caller) error {
	if l.vault == nil {
		return notSealedError(nil)
	}
	ctx, cancel := context.WithTimeout(ctx, sealTimeout)
	defer cancel()
	record, err := l.vault.Get(ctx, sealedID(caller))
	if record == nil && err == nil {
		err = l.vault.CheckSealing(ctx) // otherwise there are no acts, or they could not be kept
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
		// acts of this process keep their Undo pointer, by which ObserveMutation finds them
		if i := slices.IndexFunc(own, func(a *Act) bool { return a.Call == act.Call }); i >= 0 {
			act.Undo = own[i].Undo
		}
		act.measure()
		l.add(t, act)
	}
	return nil
}

// notSealedError returns the error for unknown acts of terminal commands.
func notSealedError(err error) error {
	e := aai.Errorf(aai.AutomationNotSupported,
		"acts of commands are not stored here: they may contain secrets, and nothing can encrypt them")
	if err != nil {
		e.Message, e.Err = fmt.Sprintf("%s: %s", e.Message, aai.AsError(err).Message), err
	}
	e.Delivery = aai.NotDelivered
	e.Hint = "aai-gateway exec aai keychain_status says why. Within one conversation of an agent acts can be undone."
	return e
}

// readSealed returns the acts of a record that are not too old.
func readSealed(record []byte) ([]*Act, error) {
	if len(record) == 0 {
		return nil, nil
	}
	var k sealedActs
	d := json.NewDecoder(bytes.NewReader(record))
	d.UseNumber() // large numbers keep their digits
	if err := d.Decode(&k); err != nil {
		return nil, err
	}
	if k.Version != sealedVersion {
		return nil, fmt.Errorf("the record of acts has version %d; expected %d", k.Version, sealedVersion)
	}
	old := time.Now().Add(-sealedLifetime)
	return slices.DeleteFunc(k.Acts, func(a *Act) bool { return a == nil || a.Time.Before(old) }), nil
}

// writeSealed encodes the newest acts as a record.
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
