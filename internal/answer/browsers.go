package answer

// A Browser is a browser that listens for DevTools.
type Browser struct {
	Name      string   `json:"name"` // of its program
	Port      int      `json:"port"`
	PID       int      `json:"pid,omitempty"`
	Profile   string   `json:"profile"`        // folder, or program:port if it is unknown
	Asks      bool     `json:"asks,omitempty"` // the browser itself asks the person at each connection
	IsAllowed bool     `json:"allowed"`        // by the person, for agents
	Pages     []string `json:"pages"`          // ids of the apps of its pages with tools
	Problem   string   `json:"problem,omitempty"`
}
