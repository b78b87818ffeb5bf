package discovery

import (
	"maps"
	"slices"
)

// systemBus is how a way on the system bus is told, and what its ID has before the name.
const systemBus = "system"

// isNotAllowed reports whether the configuration keeps the bus from every tool.
func (l *busScan) isNotAllowed() bool { return l.system && !l.cfg.SystemBusAllowed }

// busFlag is what generate is told for the bus.
func (l *busScan) busFlag() string {
	if l.system {
		return "--bus system "
	}
	return ""
}

// newIntegration is one to a service on the bus, without its words.
func (l *busScan) newIntegration(kind, name, state string) Integration {
	w := Integration{ID: kind + " " + stableName(name), Kind: kind, App: cleanName(name), State: state}
	if l.system {
		w.ID, w.Bus = kind+" "+systemBus+" "+stableName(name), systemBus
	}
	return w
}

// addUnqueried adds a way to a program that runs and was asked nothing.
func (l *busScan) addUnqueried(name, gains, get string) {
	w := l.newIntegration(kindService, name, StateRunning)
	w.Benefit, w.HowTo = gains, get
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.integrations = append(l.found.integrations, w)
}

// markNotAllowed says of a way that the configuration does not allow it, and what would.
func (*busScan) markNotAllowed(w *Integration) {
	w.NotAllowed, w.Benefit = true, "what it offers is asked once the system bus is allowed"
	w.HowTo = "Closed until the configuration allows it: set dbus.allowSystemBus to true; then aai-gateway generate --bus system " + cleanName(stableName(w.App)) + " makes tools of it."
}

// listOwners tells who runs on a bus that is closed. Nobody is asked anything.
func (l *busScan) listOwners(owners map[string][]string) {
	for _, owner := range slices.Sorted(maps.Keys(owners)) {
		names := owners[owner]
		w := l.newIntegration(kindService, names[0], StateRunning)
		switch {
		case l.isDenied(names):
			w.Benefit, w.HowTo = "it was not asked", DeniedHowTo
		case l.isNeverCalled(names[0], ""):
			w.Benefit, w.HowTo = "it was not asked", NeverCalledHowTo
		default:
			l.markNotAllowed(&w)
		}
		l.found.integrations = append(l.found.integrations, w)
	}
}
