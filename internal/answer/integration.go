package answer

import "time"

// An Integration is a way to use an app through the gateway.
type Integration struct {
	ID    string `json:"id"`                  // stable across scans
	Kind  string `json:"kind" column:"2,way"` // such as "mpris" or "mcp-server"
	App   string `json:"app" column:"1,app"`  // name for people: a bus name, an entry, a server
	State string `json:"state" column:"3,state"`
	Bus   string `json:"bus,omitempty"` // "system"; empty: the session bus, or none
	// NotAllowed means that the configuration forbids its use; HowTo names the setting.
	NotAllowed bool   `json:"closed,omitempty"`
	Benefit    string `json:"gains"`
	// HowTo is one line on the setup, or says why there is none.
	HowTo string `json:"get"`
	// CoveredBy is the id of the app with a descriptor for the program.
	CoveredBy string   `json:"covered,omitempty" column:"4,has tools as"`
	Locations []string `json:"where,omitempty"`
	Variables []string `json:"variables,omitempty"`
	New       bool     `json:"new,omitempty"` // first found by a recent scan
	// Changed means that the covering app was generated from a source that has changed. HowTo then names the command
	// that shows the regenerated app.
	Changed bool `json:"changed,omitempty"`
	// Source is the source of an app that was generated from it, which covers it.
	Source string `json:"-"`
}

// An IntegrationReport is the result of a search of this computer for integrations.
type IntegrationReport struct {
	Integrations []Integration `json:"ways"`
	// Unresponsive are programs that did not answer in time.
	Unresponsive []string `json:"silent,omitempty"`
	Notes        []string `json:"notes,omitempty"` // sources not scanned, and the reasons
	TookMS       int64    `json:"took_ms"`
	// LastScan is the end of the last scan by any gateway of the person; nil: none.
	LastScan *time.Time `json:"scanned,omitempty"`
}
