package mirror

import "time"

// A state is how well what was read is known to be so still.
type state int

// The states.
const (
	unread    state = iota // nothing was read, or it was changed by half
	owing                  // since an act, only what the app told of was read
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
type standing struct {
	lasts time.Duration // how long it need not be read again, while the app has not run
	again bool          // it is to be read again in the background, until it is confirmed
}

func (s state) standing() standing {
	return [...]standing{
		unread:    {0, false},
		owing:     {0, true},
		fresh:     {0, true},
		settled:   {provenAge, true},
		confirmed: {confirmedAge, false},
		shared:    {0, false},
	}[s]
}

// after is the state when the app was read in a way.
func after(how way, v View, same bool) state {
	switch {
	case v.Shared:
		return shared
	case how == told:
		return owing
	case same:
		return settled
	}
	return fresh
}

// A way is how the app is read.
type way int

// The ways.
const (
	whole way = iota // all of it
	part             // what is marked, and where everything is
	told             // what is marked, in a hurry
)

const (
	// trustedAge is how long what was read as a whole counts, but for what is marked,
	// of an app that runs and tells of what changes.
	trustedAge = time.Second
	// checkedAge is that for an app of which also that is read that it does not tell of, but
	// for what nobody sees.
	checkedAge = 30 * time.Second
	// restless is how long after an act everything is read anew, at each look.
	restless = time.Second
	// long is how long it may take to read an app as a whole while somebody waits for what
	// an act does in it.
	long = 100 * time.Millisecond
	// fewElements is how large an app may be to be always read as a whole.
	fewElements = 400
)

// A knowledge is what there is to choose the way by.
type knowledge struct {
	state    state
	tells    bool          // the app tells of what changes in it, and has done so
	checked  bool          // and of what it does not tell of, a reading in part finds what shows
	unsure   time.Duration // since a reading in part failed to
	acted    time.Duration // since it was last made to do something
	news     bool          // something is marked, and this is the first look since the act
	awaits   bool          // who looks waits for what the act does
	elements int
	age      time.Duration // of the last reading as a whole
	took     time.Duration // that reading
}

// hurried reports whether to read the app as a whole would keep somebody from seeing what
// an act does.
func (k knowledge) hurried() bool { return k.acted < restless && k.took > long }

// way chooses: the first row that is so.
func (k knowledge) way() way {
	switch {
	case k.state == unread, !k.tells:
		return whole
	case k.acted < restless && k.news, k.awaits && k.hurried():
		return told // somebody waits for it
	case k.checked && k.unsure > trustedAge && k.age < checkedAge:
		return part
	case k.acted < restless, k.elements <= fewElements, k.age > trustedAge:
		return whole
	}
	return part
}
