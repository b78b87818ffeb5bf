package answer

// A Pin is a tool that the person has pinned into the list of tools of agents.
type Pin struct {
	App    string `json:"app" column:"1,app"`
	Tool   string `json:"tool" column:"2,tool"`
	Name   string `json:"name,omitempty" column:"3,listed as"`
	Tokens int    `json:"tokens,omitempty" column:"4,tokens"`
	Fault  string `json:"fault,omitempty" column:"5,not listed, because"`
}
