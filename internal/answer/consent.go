package answer

import (
	"time"

	"github.com/gybob/aai-gateway"
)

// The sources of a Consent.
const (
	SourceStored      = "stored"
	SourcePreapproved = "preapproved"
	SourcePlainFile   = "plain file" // its consents have no effect
)

// A Consent is a person's decision about one tool.
type Consent struct {
	Caller    string    `json:"caller" column:"2,caller"`
	Identity  string    `json:"identity,omitempty" column:"8,identity"`
	App       string    `json:"app" column:"3,app"`
	Tool      string    `json:"tool" column:"4,tool"`
	Decision  string    `json:"decision" column:"1,decision"` // "allow" or "deny"
	GrantedAt time.Time `json:"granted_at,omitzero" column:"5,since"`
	ExpiresAt time.Time `json:"expires_at,omitzero" column:"6,expires"`
	Digest    string    `json:"digest,omitempty"`
	Source    string    `json:"source" column:"7,source" enum:"stored,preapproved,plain file"`
	// Channel is the channel of the person's decision, if known.
	Channel aai.Channel `json:"channel,omitempty"`
	// ByName marks a consent that identifies the caller by name only, so it has no effect.
	ByName bool `json:"by_name,omitempty"`
	// Takeover is the name by which a takeover call selects this consent. It is set for those of a
	// plain file.
	Takeover string `json:"takeover,omitempty"`
}

// A Mode is the security mode in effect: "normal", "safe" or "sandboxed".
type Mode struct {
	Configured string `json:"configured"`
	Mode       string `json:"mode"` // the stricter one of Configured and the mode that was set
}
