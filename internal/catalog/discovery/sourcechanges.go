package discovery

import (
	"cmp"
	"slices"
	"time"
)

// kindSource is the kind of a generated app with a changed source and no integration.
const kindSource = "source"

// markChanged marks the integrations of apps with changed sources, with the command that shows
// the regenerated app. For an app without an integration it adds one.
func markChanged(ways []Integration, changed []SourceChange) []Integration {
	slices.SortFunc(changed, func(a, b SourceChange) int { return cmp.Compare(a.App, b.App) })
	for _, c := range changed {
		get := "Its source has changed: " + cleanLine(c.RegenerateCommand) + " shows its new descriptor."
		known := false
		for i := range ways {
			if ways[i].CoveredBy == c.App {
				ways[i].Changed, ways[i].HowTo, known = true, get, true
			}
		}
		if !known {
			ways = append(ways, Integration{
				ID: kindSource + " " + cleanName(c.App), Kind: kindSource, App: cleanName(c.App), State: StateInstalled,
				CoveredBy: c.App, Benefit: "the source of " + cleanName(c.App) + ": " + cleanName(c.Source),
				HowTo: get, Changed: true,
			})
		}
	}
	return ways
}

// addChanged records the changed sources, and returns the apps with changes that no earlier scan
// saw.
func (m *scanHistory) addChanged(changed []SourceChange, now time.Time) (apps []string) {
	for _, c := range changed {
		id := "changed " + cleanName(c.App) + " " + cleanName(c.Digest)
		s, seen := m.Ways[id]
		switch {
		case !seen && len(m.Ways) >= maxSightings:
			continue
		case !seen:
			s.First = now
			apps = append(apps, cleanName(c.App))
		}
		s.Last = now
		m.Ways[id] = s
	}
	return apps
}
