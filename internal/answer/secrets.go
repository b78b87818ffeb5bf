package answer

import "time"

// A Secret is a secret of the person that agents may use by name. It has no value.
type Secret struct {
	Name  string    `json:"name"`
	For   string    `json:"for"` // an app's id or a web origin
	Field string    `json:"field,omitempty"`
	Kind  string    `json:"kind"` // "value" or "totp"
	In    string    `json:"in"`   // the place of the value: "gateway" or a password manager
	Set   time.Time `json:"set"`
}
