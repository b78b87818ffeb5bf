package journal

import "time"

// refusedKind is the kind of a line that stands for many refused calls.
const refusedKind = "refused"

// foldedLine is what such a line has beside its caller, its time and an id as calls
// have one. Times are as in line.
type foldedLine struct {
	Count int            `json:"count"`
	Since string         `json:"since"`
	Until string         `json:"until"`
	Codes map[string]int `json:"codes"`
}

// folded is the row of such a line, which was written at that time.
func (l *readLine) folded(written time.Time) *Past {
	p := &Past{
		Time: written, Call: l.Call, Door: l.Door, Caller: l.Caller, Result: refusedResult,
		Count: l.Count, Codes: l.Codes, Until: written,
	}
	if t, err := time.Parse(timeFormat, l.Since); err == nil && t.Year() >= 1 {
		p.Time = t.UTC()
	}
	if t, err := time.Parse(timeFormat, l.Until); err == nil && t.Year() >= 1 {
		p.Until = t.UTC()
	}
	return p
}
