package ways

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"aai/internal/dbuswire"
)

// What of a bus is looked at. More is left out, and said to be.
const (
	maxNames  = 2000
	maxOwners = 400
	maxListed = 200 // names of actions, of one program
)

// A busLook is one look at a bus.
type busLook struct {
	*Room
	conn   *dbuswire.Conn
	title  string     // of the bus, for people
	system bool       // it is the system bus
	mu     sync.Mutex // guards found
	found  part
}

// onTheBus looks at the session bus.
func (r *Room) onTheBus(ctx context.Context) part {
	return (&busLook{Room: r, title: "the session bus"}).look(ctx, r.cfg.Bus)
}

// onTheSystemBus looks at the system bus.
func (r *Room) onTheSystemBus(ctx context.Context) part {
	return (&busLook{Room: r, title: "the system bus", system: true}).look(ctx, r.cfg.System)
}

// look asks the bus who is there, and everybody who may be asked what they offer. Nobody is
// started for it.
func (l *busLook) look(ctx context.Context, at func() (string, error)) part {
	address, err := at()
	if err == nil {
		err = l.dial(ctx, address)
	}
	if err != nil {
		return part{notes: []string{clean(l.title + " was not looked at: " + err.Error())}}
	}
	defer l.conn.Close()
	running, err := l.names(ctx, "ListNames")
	if err != nil {
		return part{silent: []string{l.title}}
	}
	startable, err := l.names(ctx, "ListActivatableNames")
	if err != nil {
		l.note("what the bus could start is not known: it did not say so in time")
	}
	if owners := l.owners(ctx, running); l.closed() {
		l.listAll(owners)
	} else {
		l.askAll(ctx, owners)
	}
	if !l.system {
		l.icons(ctx, running)
	}
	for _, name := range startable {
		if !slices.Contains(running, name) && name != dbuswire.BusName {
			l.found.ways = append(l.found.ways, l.startable(name))
		}
	}
	return l.found
}

// dial connects, by the clock of one question.
func (l *busLook) dial(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*l.cfg.Patience)
	defer cancel()
	conn, err := dbuswire.Dial(ctx, address, dbuswire.Options{})
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

func (l *busLook) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.notes = append(l.found.notes, clean(fmt.Sprintf(format, args...)))
}

// names asks the bus for a list of names, and returns those that mean something to people,
// sorted.
func (l *busLook) names(ctx context.Context, member string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*l.cfg.Patience)
	defer cancel()
	reply, err := l.conn.Ask(ctx, member)
	if err != nil {
		return nil, err
	}
	all, err := textList(reply)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(name string) bool { return strings.HasPrefix(name, ":") || !dbuswire.ValidBusName(name) })
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > maxNames {
		l.note("%s: %d names on %s were left out", member, len(all)-maxNames, l.title)
		all = all[:maxNames]
	}
	return all, nil
}

// owners are the connections that have the names, with all that each has, without the bus
// itself and us.
func (l *busLook) owners(ctx context.Context, names []string) map[string][]string {
	ctx, cancel := context.WithTimeout(ctx, 2*l.cfg.Patience)
	defer cancel()
	questions := make([]*dbuswire.Message, len(names))
	for i, name := range names {
		e := dbuswire.Encoder{}
		e.Str(name)
		questions[i] = &dbuswire.Message{
			Destination: dbuswire.BusName, Path: dbuswire.BusPath, Interface: dbuswire.BusInterface,
			Member: "GetNameOwner", Signature: "s", Body: e.Bytes(),
		}
	}
	owners := make(map[string][]string)
	for i, reply := range l.conn.Batch(ctx, questions) {
		if reply.Err != nil || reply.Message.Kind != dbuswire.KindReply || reply.Message.Signature != "s" {
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

// askAll asks all owners side by side, each by a clock of its own.
func (l *busLook) askAll(ctx context.Context, owners map[string][]string) {
	order := slices.SortedFunc(maps.Keys(owners), func(a, b string) int { return strings.Compare(owners[a][0], owners[b][0]) })
	if len(order) > maxOwners {
		l.note("%d programs on %s were not asked", len(order)-maxOwners, l.title)
		order = order[:maxOwners]
	}
	var asked sync.WaitGroup
	for _, owner := range order {
		asked.Go(func() { l.askOwner(ctx, owner, owners[owner]) })
	}
	asked.Wait()
}

// errRefused is an answer that says no.
var errRefused = errors.New("it refused")

// ask puts one question, by a clock of its own. Nobody is started.
func (l *busLook) ask(ctx context.Context, m *dbuswire.Message) (*dbuswire.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Patience)
	defer cancel()
	m.Flags = dbuswire.FlagNoAutoStart
	reply, err := l.conn.Call(ctx, m)
	if err == nil && (reply.Kind != dbuswire.KindReply || reply.TooLarge > 0) {
		err = errRefused
	}
	return reply, err
}

// late reports whether a question ended without any answer.
func late(err error) bool { return err != nil && !errors.Is(err, errRefused) }

// textList reads a body that is a list of texts.
func textList(m *dbuswire.Message) ([]string, error) {
	if m.Kind != dbuswire.KindReply || m.Signature != "as" {
		return nil, errRefused
	}
	var all []string
	d := m.Decoder()
	d.Array(4, func() { all = append(all, d.Str()) })
	return all, d.Err()
}

// ownerClock is how long one program may take for all its answers.
func (l *busLook) ownerClock() time.Duration { return 3 * l.cfg.Patience }
