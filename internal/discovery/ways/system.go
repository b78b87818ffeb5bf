package ways

import (
	"maps"
	"slices"
)

// systemBus is how a way on the system bus is told, and what its ID has before the name.
const systemBus = "system"

// closed reports whether the configuration keeps the bus from every tool.
func (l *busLook) closed() bool { return l.system && !l.cfg.SystemOpen }

// option is what generate is told for the bus.
func (l *busLook) option() string {
	if l.system {
		return "--bus system "
	}
	return ""
}

// way is one to a service on the bus, without its words.
func (l *busLook) way(kind, name, state string) Way {
	w := Way{ID: kind + " " + lasting(name), Kind: kind, App: clean(name), State: state}
	if l.system {
		w.ID, w.Bus = kind+" "+systemBus+" "+lasting(name), systemBus
	}
	return w
}

// tell adds a way to a program that runs and was asked nothing.
func (l *busLook) tell(name, gains, get string) {
	w := l.way(kindService, name, Running)
	w.Gains, w.Get = gains, get
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.ways = append(l.found.ways, w)
}

// close says of a way that the configuration does not allow it, and what would.
func (*busLook) close(w *Way) {
	w.Closed, w.Gains = true, "what it offers is asked once the system bus is allowed"
	w.Get = "Closed until the configuration allows it: set dbus.allowSystemBus to true; then aai-gateway generate --bus system " + clean(lasting(w.App)) + " makes tools of it."
}

// listAll tells who runs on a bus that is closed. Nobody is asked anything.
func (l *busLook) listAll(owners map[string][]string) {
	for _, owner := range slices.Sorted(maps.Keys(owners)) {
		names := owners[owner]
		w := l.way(kindService, names[0], Running)
		switch {
		case l.refuses(names):
			w.Gains, w.Get = "it was not asked", Refused
		case l.never(names[0], ""):
			w.Gains, w.Get = "it was not asked", NeverCalled
		default:
			l.close(&w)
		}
		l.found.ways = append(l.found.ways, w)
	}
}
