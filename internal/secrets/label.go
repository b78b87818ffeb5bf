package secrets

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

const (
	labelFile    = "key.json"
	labelVersion = 1
	maxLabel     = 4096 // bytes
)

// A label identifies the master key that seals the records of a vault, and its place, so
// that no other key can replace it unnoticed.
type label struct {
	Version int    `json:"version"`
	Key     string `json:"key"`   // the key's ID, hexadecimal
	Place   string `json:"place"` // the name of a place
	// Scrypt derives the key from a passphrase, if that is its place.
	Scrypt *scryptParams `json:"scrypt,omitempty"`
}

// parseLabel decodes a complete label, or returns an error.
func parseLabel(b []byte) (*label, error) {
	l := new(label)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("there is more behind its end")
	}
	if l.Version != labelVersion {
		return nil, fmt.Errorf("it has version %d of the format; this gateway knows version %d", l.Version, labelVersion)
	}
	if id, err := hex.DecodeString(l.Key); err != nil || len(id) != keyIDSize {
		return nil, fmt.Errorf(`"key" is no id of a key`)
	}
	if (l.Place == placePassphrase) != (l.Scrypt != nil) {
		return nil, fmt.Errorf(`"scrypt" does not belong to "place"`)
	}
	if l.Scrypt != nil {
		return l, l.Scrypt.check()
	}
	return l, nil
}
