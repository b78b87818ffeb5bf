package discovery

import (
	"context"
	"fmt"

	"github.com/gybob/aai-gateway"
)

// kindCOM is the kind of apps with automation objects, on Windows.
const kindCOM = "com"

// maxClasses limits the reported classes.
const maxClasses = 500

// A COMClass is a registered class of an app that runs in a process of its own.
type COMClass struct {
	ProgID  string // without a version, if there is such a one
	Name    string // in words
	Command string // that starts the app
	// HasLibrary reports that a type library describes its members.
	HasLibrary bool
}

// scanClasses reports the classes of apps. It creates no object.
func (r *Scanner) scanClasses(ctx context.Context) sourceResult {
	var p sourceResult
	found, err := r.cfg.Classes(ctx)
	if err != nil {
		p.notes = append(p.notes, "not all classes of COM were read: "+cleanName(err.Error()))
	}
	if len(found) > maxClasses {
		p.notes = append(p.notes, fmt.Sprintf("of the classes of COM %d were left out", len(found)-maxClasses))
		found = found[:maxClasses]
	}
	for _, c := range found {
		id := cleanName(c.ProgID)
		w := Integration{
			ID: kindCOM + " " + id, Kind: kindCOM, App: id, State: StateStartable, Benefit: "calls of its objects, which a type library describes",
			HowTo: "aai-gateway generate --start " + id + " makes tools of it.", Locations: []string{cleanLine(c.Command)}, Source: "com:" + c.ProgID,
		}
		if !c.HasLibrary {
			w.Benefit = "calls of its objects, if it describes them when it runs"
		}
		if aai.RunsPrograms(c.ProgID) {
			w.Benefit = "calls of its objects, which can run any program"
		}
		if r.isDenied([]string{c.ProgID, c.Name}) {
			w.HowTo = DeniedHowTo
		}
		p.integrations = append(p.integrations, w)
	}
	return p
}
