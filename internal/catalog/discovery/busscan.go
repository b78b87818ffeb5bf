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

// What of a bus is looked at. More is left out, and said to be.
const (
	maxBusNames = 2000
	maxOwners   = 400
	maxListed   = 200 // names of actions, of one program
)

// A busLook is one look at a bus.
type busScan struct {
	*Scanner
	conn   *wire.Conn
	title  string     // of the bus, for people
	system bool       // it is the system bus
	mu     sync.Mutex // guards found
	found  sourceResult
}

// scanSessionBus looks at the session bus.
func (r *Scanner) scanSessionBus(ctx context.Context) sourceResult {
	return (&busScan{Scanner: r, title: "the session bus"}).run(ctx, r.cfg.SessionBus)
}

// scanSystemBus looks at the system bus.
func (r *Scanner) scanSystemBus(ctx context.Context) sourceResult {
	return (&busScan{Scanner: r, title: "the system bus", system: true}).run(ctx, r.cfg.SystemBus)
}

// run asks the bus who is there, and everybody who may be asked what they offer. Nobody is
// started for it.
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
		l.addNote("what the bus could start is not known: it did not say so in time")
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

// dial connects, by the clock of one question.
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

// names asks the bus for a list of names, and returns those that mean something to people,
// sorted.
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
	all = slices.DeleteFunc(all, func(name string) bool { return strings.HasPrefix(name, ":") || !wire.ValidBusName(name) })
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > maxBusNames {
		l.addNote("%s: %d names on %s were left out", member, len(all)-maxBusNames, l.title)
		all = all[:maxBusNames]
	}
	return all, nil
}

// owners are the connections that have the names, with all that each has, without the bus
// itself and us.
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
			continue // it has gone
		}
		d := reply.Message.Decoder()
		owner := d.Str()
		if d.Err() == nil && strings.HasPrefix(owner, ":") && owner != l.conn.Name() {
			owners[owner] = append(owners[owner], names[i])
		}
	}
	return owners
}

// queryOwners asks all owners side by side, each by a clock of its own.
func (l *busScan) queryOwners(ctx context.Context, owners map[string][]string) {
	order := slices.SortedFunc(maps.Keys(owners), func(a, b string) int { return strings.Compare(owners[a][0], owners[b][0]) })
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

// errErrorReply is an answer that says no.
var errErrorReply = errors.New("it refused")

// call puts one question, by a clock of its own. Nobody is started.
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

// isTimeout reports whether a question ended without any answer.
func isTimeout(err error) bool { return err != nil && !errors.Is(err, errErrorReply) }

// textList reads a body that is a list of texts.
func textList(m *wire.Message) ([]string, error) {
	if m.Kind != wire.KindReply || m.Signature != "as" {
		return nil, errErrorReply
	}
	var all []string
	d := m.Decoder()
	d.Array(4, func() { all = append(all, d.Str()) })
	return all, d.Err()
}

// ownerTimeout is how long one program may take for all its answers.
func (l *busScan) ownerTimeout() time.Duration { return 3 * l.cfg.CallTimeout }
