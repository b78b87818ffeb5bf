package answer

// A State is the result of an examination by the doctor.
type State string

// States of a Finding.
const (
	StateOK      State = "ok"
	StateNote    State = "note"    // works, with a remark
	StateBroken  State = "broken"  // fails; Advice has the remedy
	StateSkipped State = "skipped" // not examined
)

// A Finding is the doctor's report of one examination.
type Finding struct {
	Check   string   `json:"check"`                                                // a stable name, such as "window"
	Title   string   `json:"title" column:"2,what"`                                // for people
	State   State    `json:"state" column:"1,state" enum:"ok,note,broken,skipped"` // the result
	Did     string   `json:"did,omitempty"`                                        // the steps taken
	Saw     string   `json:"saw" column:"3,seen"`                                  // the observation
	Details []string `json:"details,omitempty"`                                    // further observations, one per line
	TookMS  int64    `json:"took_ms"`                                              // duration of the examination
	Advice  string   `json:"advice,omitempty" column:"4,what to do"`               // the remedy, in words
	// Commands are the shell commands of the remedy, in order.
	Commands []string `json:"commands,omitempty"`
	// Fixes describes the change that the doctor can make; empty if there is none. Fixed is "done"
	// after that change, or the reason why it was not made.
	Fixes string `json:"mends,omitempty"`
	Fixed string `json:"mended,omitempty"`
}

// A DoctorReport is the doctor's report of all examinations. Version, Next and Bundle are set for
// the command alone.
type DoctorReport struct {
	Version int       `json:"version,omitempty"` // of this form: 1
	Program string    `json:"program"`
	System  string    `json:"system"`
	State   State     `json:"state" enum:"ok,broken"`
	TookMS  int64     `json:"took_ms"`
	Checks  []Finding `json:"checks"`
	Next    string    `json:"next,omitempty"`   // the next step, as a sentence
	Bundle  []string  `json:"bundle,omitempty"` // the contents of the file with the report
}
