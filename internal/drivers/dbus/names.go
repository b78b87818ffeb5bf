package dbus

import (
	"slices"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// A nameTable remembers who owns which name, as long as the bus has not said
// otherwise by NameOwnerChanged. With it a call needs no round trip to find the
// owner, nor to see that the owner holds none of the denied names: those who do
// are learned when the connection is made, and followed from then on. (What cannot
// be seen is a process with two connections, one for each of its names; there the
// guard's lists of interfaces and paths remain.) Safe for concurrent use.
type nameTable struct {
	mu      sync.RWMutex
	owners  map[string]string // of services that were called
	tainted map[string]string // of denied names, by name
	changes uint64            // how often the bus said that a name changed hands
}

func newNameTable() *nameTable {
	return &nameTable{owners: map[string]string{}, tainted: map[string]string{}}
}

// changed takes in what NameOwnerChanged says. An empty owner means that nobody
// has the name any more.
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

// version changes whenever a name changes hands.
func (t *nameTable) version() uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.changes
}

// learn keeps an owner that was asked for at the version. It reports false, and
// keeps nothing, if a name has changed hands since: the answer may be old.
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

// forget drops an owner that turned out to be gone.
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

// taintedIn picks the names whose owners are to be learned at the beginning.
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

// startRequest asks the bus to start the service as its .service file says.
func startRequest(service string) *wire.Message {
	e := encoder{}
	e.Str(service)
	e.U32(0)
	return &wire.Message{
		Destination: wire.BusName, Path: wire.BusPath, Interface: wire.BusInterface, Member: "StartServiceByName",
		Signature: "su", Body: e.Bytes(),
	}
}
