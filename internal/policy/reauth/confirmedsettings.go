package reauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gybob/aai-gateway"
)

// confirmedID identifies the record of the confirmations in the vault.
const confirmedID = "proof/settings"

// A Setting is a value that extends the permissions of callers, and its source.
type Setting struct {
	From  string `json:"from"` // a file, a variable or a flag
	Key   string `json:"key"`
	Value any    `json:"value"` // a Go value that encodes to the setting's JSON
}

// name returns the key of a confirmation: a source has one value for each setting.
func (s Setting) name() string { return s.From + "\x00" + s.Key }

// digest returns the digest of the value, to which the confirmation is bound.
func (s Setting) digest() (string, error) {
	b, err := json.Marshal(s.Value)
	if err != nil {
		return "", fmt.Errorf("%s is no JSON: %w", s.Key, err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// A confirmation records that the person confirmed a setting.
type confirmation struct {
	Digest  string      `json:"digest"`
	Channel aai.Channel `json:"channel"`
	At      time.Time   `json:"at"`
}

// ConfirmedSettings are the settings that a person has confirmed. They are safe for concurrent use.
type ConfirmedSettings struct{ vault RecordStore }

// NewConfirmedSettings returns the confirmed settings in the vault.
func NewConfirmedSettings(vault RecordStore) *ConfirmedSettings { return &ConfirmedSettings{vault} }

// ConfirmedBy returns the channel through which a person confirmed the setting with exactly this value,
// or "" if it is not confirmed. It returns an error if the record is unreadable.
func (s *ConfirmedSettings) ConfirmedBy(ctx context.Context, setting Setting) (aai.Channel, error) {
	b, err := s.vault.Get(ctx, confirmedID)
	if b == nil || err != nil {
		if isUnsealable(err) {
			err = nil
		}
		return "", err
	}
	var marks map[string]confirmation
	if err := json.Unmarshal(b, &marks); err != nil {
		return "", fmt.Errorf("the confirmed settings cannot be parsed: %w", err)
	}
	digest, err := setting.digest()
	if m := marks[setting.name()]; err == nil && m.Digest == digest {
		return m.Channel, nil
	}
	return "", err
}

// CheckAvailable returns an error if no setting can be confirmed.
func (s *ConfirmedSettings) CheckAvailable(ctx context.Context) error {
	return s.vault.CheckSealing(ctx)
}

// Confirm records that a person confirmed the settings through the channel by. It returns
// an error if sealing is impossible, and then confirms none.
func (s *ConfirmedSettings) Confirm(ctx context.Context, settings []Setting, by aai.Channel) error {
	err := s.vault.Update(ctx, confirmedID, func(old []byte) ([]byte, error) {
		marks := make(map[string]confirmation)
		if old != nil {
			if err := json.Unmarshal(old, &marks); err != nil {
				return nil, fmt.Errorf("the confirmed settings cannot be parsed: %w", err)
			}
		}
		for _, setting := range settings {
			digest, err := setting.digest()
			if err != nil {
				return nil, err
			}
			marks[setting.name()] = confirmation{digest, by, time.Now()}
		}
		return json.Marshal(marks)
	})
	if _, ok := errors.AsType[*aai.Error](err); ok || err == nil {
		return err
	}
	return aai.Errorf(aai.AutomationFailed, "the confirmed settings could not be saved: %w", err)
}
