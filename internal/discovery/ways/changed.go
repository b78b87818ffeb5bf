package ways

import (
	"cmp"
	"slices"
	"time"
)

// kindSource is the way of an app to which there is no other, whose source has changed.
const kindSource = "source"

// marked says of ways that the source of the app that speaks for them has changed, and how one
// looks at what would be made of it. An app to which there is no way gets one that says so.
func marked(ways []Way, changed []Change) []Way {
	slices.SortFunc(changed, func(a, b Change) int { return cmp.Compare(a.App, b.App) })
	for _, c := range changed {
		get := "What it was made of says something else by now: " + cleanLine(c.Again) + " shows what would be made of it."
		known := false
		for i := range ways {
			if ways[i].Covered == c.App {
				ways[i].Changed, ways[i].Get, known = true, get, true
			}
		}
		if !known {
			ways = append(ways, Way{
				ID: kindSource + " " + clean(c.App), Kind: kindSource, App: clean(c.App), State: Installed, Covered: c.App,
				Gains: "what " + clean(c.App) + " was made of: " + clean(c.From), Get: get, Changed: true,
			})
		}
	}
	return ways
}

// addChanged remembers which sources have changed, and returns the apps of those that no scan
// saw changed so before.
func (m *memory) addChanged(changed []Change, now time.Time) (apps []string) {
	for _, c := range changed {
		id := "changed " + clean(c.App) + " " + clean(c.Digest)
		s, seen := m.Ways[id]
		switch {
		case !seen && len(m.Ways) >= maxKnown:
			continue
		case !seen:
			s.First = now
			apps = append(apps, clean(c.App))
		}
		s.Last = now
		m.Ways[id] = s
	}
	return apps
}
