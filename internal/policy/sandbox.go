package policy

import "aai"

// Listed is a catalog that lists, while the mode is "sandboxed", only tools that
// read, and tells its listeners when the mode changes. Apps and tools that are not
// listed are still found, so that a call of one is refused with the reason.
type Listed struct {
	aai.Catalog
	modes *Modes
}

// NewListed returns the catalog in front of another.
func NewListed(known aai.Catalog, modes *Modes) *Listed { return &Listed{known, modes} }

// Apps returns every app, with the tools that the mode leaves.
func (l *Listed) Apps() []*aai.App {
	apps := l.Catalog.Apps()
	if mode, _ := l.modes.Current(); mode != Sandboxed {
		return apps
	}
	listed := make([]*aai.App, len(apps))
	for i, app := range apps {
		reading := *app
		reading.Tools = nil
		for _, t := range app.Tools {
			if t.Effect == aai.Reads {
				reading.Tools = append(reading.Tools, t)
			}
		}
		listed[i] = &reading
	}
	return listed
}

// OnChange calls f after every change of the list of apps, and of the mode, until
// stop.
func (l *Listed) OnChange(f func()) (stop func()) {
	apps, mode := l.Catalog.OnChange(f), l.modes.OnChange(f)
	return func() { apps(); mode() }
}
