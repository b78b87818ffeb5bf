package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Limits on a bus scan. The report says if entries were omitted.
const (
	maxBusNames = 2000
	maxOwners   = 400
	maxListed   = 200 // names of actions, of one program
)

// A busScan is one scan of a bus.
type busScan struct {
	*Scanner
	conn   *wire.Conn
	title  string     // of the bus, for people
	system bool       // it is the system bus
	mu     sync.Mutex // guards found
	found  sourceResult
}

func (r *Scanner) scanSessionBus(ctx context.Context) sourceResult {
	return (&busScan{Scanner: r, title: "the session bus"}).run(ctx, r.cfg.SessionBus)
}

func (r *Scanner) scanSystemBus(ctx context.Context) sourceResult {
	return (&busScan{Scanner: r, title: "the system bus", system: true}).run(ctx, r.cfg.SystemBus)
}

// run lists the programs on the bus, and queries those that may be queried. It starts no program.
func (l *busScan) run(ctx context.Context, at func() (string, error)) sourceResult {
	address, err := at()
	if err == nil {
		err = l.dial(ctx, address)
	}
	if err != nil {
		return sourceResult{notes: []string{cleanName(l.title + " was not looked at: " + err.Error())}}
	}
	defer l.conn.Close()
	running, err := l.names(ctx, "ListNames")
	if err != nil {
		return sourceResult{silent: []string{l.title}}
	}
	startable, err := l.names(ctx, "ListActivatableNames")
	if err != nil {
		l.addNote("the programs that the bus can start are unknown: it did not answer in time")
	}
	if owners := l.owners(ctx, running); l.isNotAllowed() {
		l.listOwners(owners)
	} else {
		l.queryOwners(ctx, owners)
	}
	if !l.system {
		l.icons(ctx, running)
	}
	for _, name := range startable {
		if !slices.Contains(running, name) && name != wire.BusName {
			l.found.integrations = append(l.found.integrations, l.startable(name))
		}
	}
	return l.found
}

// dial connects to the bus within a timeout.
func (l *busScan) dial(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*l.cfg.CallTimeout)
	defer cancel()
	conn, err := wire.Dial(ctx, address, wire.Options{})
	if err != nil {
		return err
	}
	if _, err := conn.Hello(ctx); err != nil {
		conn.Close()
		return err
	}
	l.conn = conn
	return nil
}

func (l *busScan) addNote(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.notes = append(l.found.notes, cleanName(fmt.Sprintf(format, args...)))
}

// names returns the well-known names from a listing of the bus, sorted.
func (l *busScan) names(ctx context.Context, member string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*l.cfg.CallTimeout)
	defer cancel()
	reply, err := l.conn.CallBus(ctx, member)
	if err != nil {
		return nil, err
	}
	all, err := textList(reply)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(name string) bool {
		return strings.HasPrefix(name, ":") ||
			!wire.ValidBusName(name)
	})
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > maxBusNames {
		l.addNote("%s: %d names on %s were left out", member, len(all)-maxBusNames, l.title)
		all = all[:maxBusNames]
	}
	return all, nil
}

// owners returns the connections that own the names, each with its names, except the bus and this
// connection.
func (l *busScan) owners(ctx context.Context, names []string) map[string][]string {
	ctx, cancel := context.WithTimeout(ctx, 2*l.cfg.CallTimeout)
	defer cancel()
	questions := make([]*wire.Message, len(names))
	for i, name := range names {
		e := wire.Encoder{}
		e.Str(name)
		questions[i] = &wire.Message{
			Destination: wire.BusName, Path: wire.BusPath, Interface: wire.BusInterface,
			Member: "GetNameOwner", Signature: "s", Body: e.Bytes(),
		}
	}
	owners := make(map[string][]string)
	for i, reply := range l.conn.Batch(ctx, questions) {
		if reply.Err != nil || reply.Message.Kind != wire.KindReply || reply.Message.Signature != "s" {
			continue // it has exited
		}
		d := reply.Message.Decoder()
		owner := d.Str()
		if d.Err() == nil && strings.HasPrefix(owner, ":") && owner != l.conn.Name() {
			owners[owner] = append(owners[owner], names[i])
		}
	}
	return owners
}

// queryOwners queries all owners concurrently, each with its own timeout.
func (l *busScan) queryOwners(ctx context.Context, owners map[string][]string) {
	order := slices.SortedFunc(maps.Keys(owners),
		func(a, b string) int { return strings.Compare(owners[a][0], owners[b][0]) })
	if len(order) > maxOwners {
		l.addNote("%d programs on %s were not asked", len(order)-maxOwners, l.title)
		order = order[:maxOwners]
	}
	var asked sync.WaitGroup
	for _, owner := range order {
		asked.Go(func() { l.queryOwner(ctx, owner, owners[owner]) })
	}
	asked.Wait()
}

// errErrorReply reports an error reply, or a reply of another type than expected.
var errErrorReply = errors.New("it refused")

// call calls a method with its own timeout. It starts no program.
func (l *busScan) call(ctx context.Context, m *wire.Message) (*wire.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	m.Flags = wire.FlagNoAutoStart
	reply, err := l.conn.Call(ctx, m)
	if err == nil && (reply.Kind != wire.KindReply || reply.OversizedBody > 0) {
		err = errErrorReply
	}
	return reply, err
}

// isTimeout reports whether a call ended without a reply.
func isTimeout(err error) bool { return err != nil && !errors.Is(err, errErrorReply) }

// textList decodes a reply that is a list of strings.
func textList(m *wire.Message) ([]string, error) {
	if m.Kind != wire.KindReply || m.Signature != "as" {
		return nil, errErrorReply
	}
	var all []string
	d := m.Decoder()
	d.Array(4, func() { all = append(all, d.Str()) })
	return all, d.Err()
}

// ownerTimeout returns the limit for all replies of one program.
func (l *busScan) ownerTimeout() time.Duration { return 3 * l.cfg.CallTimeout }
