package discovery

import (
	"maps"
	"slices"
)

// systemBus is the Bus of integrations on the system bus, and part of their IDs.
const systemBus = "system"

// isNotAllowed reports whether the configuration forbids calls on the bus.
func (l *busScan) isNotAllowed() bool { return l.system && !l.cfg.SystemBusAllowed }

// busFlag returns the flag of the generate command for the bus.
func (l *busScan) busFlag() string {
	if l.system {
		return "--bus system "
	}
	return ""
}

// newIntegration returns an integration of a bus service, without descriptions.
func (l *busScan) newIntegration(kind, name, state string) Integration {
	w := Integration{ID: kind + " " + stableName(name), Kind: kind, App: cleanName(name), State: state}
	if l.system {
		w.ID, w.Bus = kind+" "+systemBus+" "+stableName(name), systemBus
	}
	return w
}

// addUnqueried adds an integration of a running program that was not called.
func (l *busScan) addUnqueried(name, gains, get string) {
	w := l.newIntegration(kindService, name, StateRunning)
	w.Benefit, w.HowTo = gains, get
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.integrations = append(l.found.integrations, w)
}

// markNotAllowed marks an integration that the configuration forbids, with the setting to change.
func (*busScan) markNotAllowed(w *Integration) {
	w.NotAllowed, w.Benefit = true, "unknown until the system bus is allowed"
	w.HowTo = "Closed until the configuration allows it: set dbus.allowSystemBus to true; then aai-gateway generate " +
		"--bus system " + cleanName(stableName(w.App)) + " makes tools of it."
}

// listOwners lists the programs on a forbidden bus without calling them.
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
