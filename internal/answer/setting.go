package answer

// A SettingOrigin is a setting with its value in effect and its source.
type SettingOrigin struct {
	Name   string `json:"name"`   // its key in the file
	Value  any    `json:"value"`  // a Go value that encodes to the setting's JSON
	Origin string `json:"origin"` // such as "default" or a file
}

// A Setting is a setting with its value in effect.
type Setting struct {
	Key     string   `json:"key" column:"1,setting"`
	Value   any      `json:"value" column:"2,value"`
	From    string   `json:"from" column:"3,from"` // a file, a variable, a flag, or "default"
	Source  string   `json:"source"`
	Line    int      `json:"line,omitempty" column:"4,line"` // in the file
	About   string   `json:"about" column:"5,what it is for"`
	Kind    string   `json:"kind"`
	Choices []string `json:"choices,omitempty"`
	Default any      `json:"default"`
	Env     []string `json:"env,omitempty"`
	Widens  string   `json:"widens,omitempty"`
	// InFile is the value in the person's file, even if another layer wins. Waits reports that it
	// has no effect until a person confirms it.
	InFile any  `json:"in_file,omitempty"`
	Waits  bool `json:"waits,omitempty"`
	// Running is the value in effect in this process, if different.
	Running any `json:"running,omitempty"`
}

// Settings lists settings.
type Settings struct {
	Settings []Setting `json:"settings"`
	File     string    `json:"file"`
	Version  string    `json:"version"` // of the file, for a change of it
	// Fault is the reason why the current configuration cannot be read. The list then shows the
	// running configuration.
	Fault string   `json:"problem,omitempty"`
	Notes []string `json:"notes,omitempty"`
}
