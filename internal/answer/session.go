package answer

import "time"

// A Session describes an isolated session that runs.
type Session struct {
	ID      string    `json:"id" column:"1,id"`
	Label   string    `json:"label" column:"5,runs"` // its command or agent
	Display string    `json:"display" column:"3,display"`
	Width   int       `json:"width"` // of its screen, in pixels
	Height  int       `json:"height"`
	Since   time.Time `json:"since" column:"2,since"`
	Taken   bool      `json:"taken" column:"4,taken over" about:"The person works in it, and the agent's acts pause"`
}
