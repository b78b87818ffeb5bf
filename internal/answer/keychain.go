package answer

// A Keychain reports the place of the master key of secrets, or of a future one, why no better
// place is used, and the state of the consents, which may be stored outside the vault.
type Keychain struct {
	Folder  string `json:"folder"`
	Exists  bool   `json:"made"`              // whether there is a vault
	Key     string `json:"key,omitempty"`     // the first digits of the ID of its master key
	Place   string `json:"place,omitempty"`   // place of that key, or of the next one
	Records int    `json:"records"`           // the number of records
	Problem string `json:"problem,omitempty"` // why no record can be stored or read
	Hint    string `json:"hint,omitempty"`    // how to provide a place for the key, if there is none
	// Warning is a warning about a place that works.
	Warning string     `json:"warning,omitempty"`
	Places  []KeyPlace `json:"places"` // best first

	// Unsealed is the reason why the consents are in a plain file, or "".
	Unsealed string `json:"consents_unsealed,omitempty"`
	// ConsentsProblem is the reason why the consents or the passphrase cannot be read, or "". ConsentsUnsaved is the
	// reason why no consent can be saved, or "". ConsentsHint is the remedy for either.
	ConsentsProblem string `json:"consents_problem,omitempty"`
	ConsentsUnsaved string `json:"consents_unsaved,omitempty"`
	ConsentsHint    string `json:"consents_hint,omitempty"`
}

// A KeyPlace is the status of one place for the master key.
type KeyPlace struct {
	Name   string     `json:"name"`
	Title  string     `json:"title" column:"2,place of the key"` // its name for people
	State  PlaceState `json:"state" column:"1,state"`
	Detail string     `json:"detail,omitempty" column:"3,why"` // why it cannot be used
}

// A PlaceState is the state of a place for the master key.
type PlaceState string

// The states of a place.
const (
	StateInUse       PlaceState = "in use"      // its key opens this vault
	StateNext        PlaceState = "next"        // there is no vault; its key would be here
	StateReady       PlaceState = "ready"       // it works, and holds no key of this vault
	StateOtherKey    PlaceState = "other key"   // its key, which Detail names, does not open this vault
	StateNotAsked    PlaceState = "not asked"   // in use, but only a person at a terminal can check that it opens the vault
	StateUnavailable PlaceState = "unavailable" // Detail says why
)
