package treecache

import "time"

// A state is the certainty that the last reading is still current.
type state int

// The states.
const (
	unread    state = iota // no reading, or a partly updated one
	partial                // since an action, only reported changes were read
	fresh                  // read, and different from the reading before
	settled                // two readings were equal
	confirmed              // two readings were equal, and the app was idle in between
	shared                 // parts of the app belong to other processes, which may have changed them
)

const (
	// provenAge is how long a reading stays current while the app has been idle since. It is shorter than
	// the time between two snapshots that look for an effect. The reading may have missed changes before
	// the app became idle, such as effects of input that arrived with our queries.
	provenAge = 50 * time.Millisecond
	// confirmedAge is the same limit for a confirmed reading: the second reading found the changes that the
	// first one missed.
	confirmedAge = 10 * time.Second
)

// freshness describes the meaning of a state.
type freshness struct {
	lasts   time.Duration // how long no reading is necessary while the app is idle
	recheck bool          // read again in the background until confirmed
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

// nextState returns the state after a reading in the mode.
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

// A readMode is the extent of a reading.
type readMode int

// The modes.
const (
	readAll      readMode = iota // everything
	readChanged                  // marked parts, and all frames
	readReported                 // marked parts only
)

const (
	// trustedAge is how long a complete reading stays valid, apart from marked parts, for a running app
	// that sends events.
	trustedAge = time.Second
	// checkedAge is the same limit for an app with checked trust, apart from invisible parts.
	checkedAge = 30 * time.Second
	// settleTime is the time after an action in which every snapshot reads everything anew.
	settleTime = time.Second
	// slowRead is the maximum duration of a complete reading while a caller awaits the effect of an action.
	slowRead = 100 * time.Millisecond
	// fewElements is the maximum size of an app that is always read completely.
	fewElements = 400
)

// A readPlan holds the data for the choice of a readMode.
type readPlan struct {
	state            state
	reportsChanges   bool          // the app sends events and has sent at least one
	checked          bool          // a partial reading also finds visible changes without events
	unsure           time.Duration // since a partial reading failed to do so
	acted            time.Duration // since the last action
	firstAfterAction bool          // there are marks, and this is the first snapshot since the action
	awaits           bool          // the caller awaits the effect of the action
	elements         int
	age              time.Duration // of the last complete reading
	took             time.Duration // duration of that reading
}

// hurried reports whether a complete reading would take too long for a caller that awaits the effect of an
// action.
func (k readPlan) hurried() bool { return k.acted < settleTime && k.took > slowRead }

// mode returns the mode of the first row that applies.
func (k readPlan) mode() readMode {
	switch {
	case k.state == unread, !k.reportsChanges:
		return readAll
	case k.acted < settleTime && k.firstAfterAction, k.awaits && k.hurried():
		return readReported // the caller waits for it
	case k.checked && k.unsure > trustedAge && k.age < checkedAge:
		return readChanged
	case k.acted < settleTime, k.elements <= fewElements, k.age > trustedAge:
		return readAll
	}
	return readChanged
}
