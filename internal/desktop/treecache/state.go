package treecache

import "time"

// A state is how well what was read is known to be so still.
type state int

// The states.
const (
	unread    state = iota // nothing was read, or it was changed by half
	partial                // since an act, only what the app told of was read
	fresh                  // it was read, and differs from what was read before
	settled                // two readings gave the same
	confirmed              // they did, and the app was at rest in between
	shared                 // other processes show parts of it, of which nobody knows whether they ran
)

const (
	// provenAge is how long what was read counts as being so while the app has not run
	// since. What changed between the reading and the app's coming to rest was missed,
	// such as what input did that came along with our questions, so this is shorter than
	// the time between two looks at an effect.
	provenAge = 50 * time.Millisecond
	// confirmedAge is that for what was read twice, the app at rest in between: what
	// the first reading missed the second has found.
	confirmedAge = 10 * time.Second
)

// A standing is what a state means.
type freshness struct {
	lasts   time.Duration // how long it need not be read again, while the app has not run
	recheck bool          // it is to be read again in the background, until it is confirmed
}

func (s state) freshness() freshness {
	return [...]freshness{
		unread:    {0, false},
		partial:   {0, true},
		fresh:     {0, true},
		settled:   {provenAge, true},
		confirmed: {confirmedAge, false},
		shared:    {0, false},
	}[s]
}

// nextState is the state when the app was read in a way.
func nextState(how readMode, v View, same bool) state {
	switch {
	case v.Shared:
		return shared
	case how == readReported:
		return partial
	case same:
		return settled
	}
	return fresh
}

// A way is how the app is read.
type readMode int

// The ways.
const (
	readAll      readMode = iota // all of it
	readChanged                  // what is marked, and where everything is
	readReported                 // what is marked, in a hurry
)

const (
	// trustedAge is how long what was read as a whole counts, but for what is marked,
	// of an app that runs and tells of what changes.
	trustedAge = time.Second
	// checkedAge is that for an app of which also that is read that it does not tell of, but
	// for what nobody sees.
	checkedAge = 30 * time.Second
	// settleTime is how long after an act everything is read anew, at each look.
	settleTime = time.Second
	// slowRead is how long it may take to read an app as a whole while somebody waits for what
	// an act does in it.
	slowRead = 100 * time.Millisecond
	// fewElements is how large an app may be to be always read as a whole.
	fewElements = 400
)

// A knowledge is what there is to choose the way by.
type readPlan struct {
	state            state
	reportsChanges   bool          // the app tells of what changes in it, and has done so
	checked          bool          // and of what it does not tell of, a reading in part finds what shows
	unsure           time.Duration // since a reading in part failed to
	acted            time.Duration // since it was last made to do something
	firstAfterAction bool          // something is marked, and this is the first look since the act
	awaits           bool          // who looks waits for what the act does
	elements         int
	age              time.Duration // of the last reading as a whole
	took             time.Duration // that reading
}

// hurried reports whether to read the app as a whole would keep somebody from seeing what
// an act does.
func (k readPlan) hurried() bool { return k.acted < settleTime && k.took > slowRead }

// mode chooses: the first row that is so.
func (k readPlan) mode() readMode {
	switch {
	case k.state == unread, !k.reportsChanges:
		return readAll
	case k.acted < settleTime && k.firstAfterAction, k.awaits && k.hurried():
		return readReported // somebody waits for it
	case k.checked && k.unsure > trustedAge && k.age < checkedAge:
		return readChanged
	case k.acted < settleTime, k.elements <= fewElements, k.age > trustedAge:
		return readAll
	}
	return readChanged
}
