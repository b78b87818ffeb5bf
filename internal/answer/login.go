package answer

import "time"

// A Login is a stored login or key, without its secret.
type Login struct {
	Host       string    `json:"host" column:"2,host"`
	App        string    `json:"app,omitempty" column:"3,app"`
	Kind       string    `json:"kind" column:"4,kind"`   // an aai.Auth constant
	State      string    `json:"state" column:"1,state"` // "logged in", "expired" or "key kept"
	Expires    time.Time `json:"expires,omitzero" column:"6,expires"`
	AutoRenews bool      `json:"renews"` // automatically, at its expiry
	Scopes     []string  `json:"scopes,omitempty" column:"5,scopes"`
	Issuer     string    `json:"issuer,omitempty"`
	Client     string    `json:"client,omitempty"`
}

// A LoginField is a field that a person enters once, such as a key.
type LoginField struct {
	Name  string `json:"name"`
	Label string `json:"label"` // for display
}

// A LoginReport lists the stored logins. The other fields describe the login of the app that the call
// names.
type LoginReport struct {
	Logins       []Login      `json:"logins"`
	Host         string       `json:"host,omitempty"`
	App          string       `json:"app,omitempty"`
	Kind         string       `json:"kind,omitempty"`
	Asks         []LoginField `json:"asks,omitempty" column:"-"`      // the fields that a person enters once
	Untrusted    []string     `json:"untrusted,omitempty" column:"-"` // hosts of other sites that the person has not trusted
	ObtainURL    string       `json:"obtain_url,omitempty"`
	Instructions string       `json:"instructions,omitempty"`              // text from the app
	Further      []string     `json:"further_logins,omitempty" column:"-"` // names of the app's other logins
}

// A Logout is the result of a logout.
type Logout struct {
	Host      string   `json:"host"`
	Forgotten int      `json:"forgotten"` // number of deleted logins and keys
	Revoked   int      `json:"revoked"`   // number of tokens that their server revoked
	Warnings  []string `json:"warnings,omitempty"`
}
