package answer

import "encoding/json"

// An App is an app in the list of apps.
type App struct {
	ID          string   `json:"id" column:"1,app"`
	Name        string   `json:"name" column:"2,name"` // names in several languages are joined by "|"
	Description string   `json:"description" column:"5,description"`
	Aliases     []string `json:"aliases,omitempty" column:"6,aliases"`
	Tools       int      `json:"tools" column:"3,tools"`
	Unprobed    bool     `json:"not_started,omitempty"` // its server has not listed its tools yet
	Platform    string   `json:"platform"`
	Runnable    bool     `json:"runnable" column:"4,runs"`
	Source      string   `json:"source"`
	Origin      string   `json:"origin,omitempty"` // of a web app
}

// A Guide is the documentation of an app for agents. The operations are of type Operation, or of a
// type that contains it.
type Guide[O any] struct {
	App            GuideApp        `json:"app"`
	Authentication *Authentication `json:"authentication,omitempty"`
	Operations     []O             `json:"operations"`
}

// A GuideApp is the app of a Guide.
type GuideApp struct {
	ID          string   `json:"id"`
	Names       []string `json:"names"`
	Description string   `json:"description,omitempty"`
	Version     string   `json:"version,omitempty"`
	Aliases     []string `json:"aliases,omitempty"`
	Platform    string   `json:"platform,omitempty"`
	Runnable    bool     `json:"runnable"`
	// From is the host of the site that the app comes from; Hosts are those of other sites
	// that it uses.
	From  string   `json:"from,omitempty"`
	Hosts []string `json:"hosts,omitempty"`
	// Warning is the reason why the name may be misleading.
	Warning string `json:"warning,omitempty"`
}

// Authentication describes how people log in to a web app.
type Authentication struct {
	Type   string   `json:"type"`
	At     string   `json:"at,omitempty"` // the host where a person logs in or gets credentials
	Scopes []string `json:"scopes,omitempty"`
	// Instructions are untrusted text of the app.
	Instructions string `json:"instructions,omitempty"`
}

// An Operation is one tool in a Guide.
type Operation struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Group       string          `json:"group,omitempty"` // its group in the app
	Description string          `json:"description,omitempty"`
	Effect      string          `json:"effect"`
	Runnable    bool            `json:"runnable"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Returns     json.RawMessage `json:"returns,omitempty"`
	Unchecked   []string        `json:"unchecked,omitempty"` // parts of Parameters that only the app checks, and why
	// Example holds arguments that match Parameters; absent if none are known.
	Example json.RawMessage `json:"example,omitempty"`
}

// A PreparedCall is a call that a guide or a search proposes: the arguments of aai_exec.
type PreparedCall struct {
	App  string          `json:"app"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}
