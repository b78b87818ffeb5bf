package dbus

import (
	"slices"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// nameTable caches the owners of names until NameOwnerChanged reports a change. A call then needs
// no round trip to find the owner, or to check that the owner holds no denied name. The driver
// finds the holders of denied names when it connects, and follows the changes. It cannot detect a
// process with one connection for each of its names; the guard's lists of interfaces and paths
// cover that case. nameTable is safe for concurrent use.
type nameTable struct {
	mu      sync.RWMutex
	owners  map[string]string // of called services
	tainted map[string]string // of denied names, by name
	changes uint64            // number of NameOwnerChanged signals
}

func newNameTable() *nameTable {
	return &nameTable{owners: map[string]string{}, tainted: map[string]string{}}
}

// changed processes NameOwnerChanged. An empty owner means that the name is free.
func (t *nameTable) changed(name, owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changes++
	delete(t.owners, name)
	delete(t.tainted, name)
	if owner != "" && isTainting(name) {
		t.tainted[name] = owner
	}
}

// version returns a number that changes whenever a name changes its owner.
func (t *nameTable) version() uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.changes
}

// learn stores the owner that a query at the version returned. If a name has changed since, the
// answer may be outdated: learn returns false and stores nothing.
func (t *nameTable) learn(name, owner string, version uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changes != version {
		return false
	}
	if isTainting(name) {
		t.tainted[name] = owner
	} else {
		t.owners[name] = owner
	}
	return true
}

func (t *nameTable) owner(name string) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.owners[name]
}

// forget drops the cached owner, which is gone.
func (t *nameTable) forget(name string) {
	t.mu.Lock()
	delete(t.owners, name)
	t.mu.Unlock()
}

// deniedNameOf returns a denied name that the owner holds, or "".
func (t *nameTable) deniedNameOf(owner string) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for name, holder := range t.tainted {
		if holder == owner {
			return name
		}
	}
	return ""
}

// taintedIn selects the names for initialize to query.
func taintedIn(listed []any) []string {
	var names []string
	for _, v := range listed {
		if name, ok := v.(string); ok && !strings.HasPrefix(name, ":") && isTainting(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// startRequest builds the request to start a service from its .service file.
func startRequest(service string) *wire.Message {
	e := encoder{}
	e.Str(service)
	e.U32(0)
	return &wire.Message{
		Destination: wire.BusName, Path: wire.BusPath, Interface: wire.BusInterface, Member: "StartServiceByName",
		Signature: "su", Body: e.Bytes(),
	}
}

// validBusName reports whether s is a well-known bus name. It rejects unique names (":1.42"),
// because they would bypass the guard's list.
func validBusName(s string) bool { return !strings.HasPrefix(s, ":") && wire.ValidBusName(s) }
