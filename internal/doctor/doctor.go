// Package doctor makes a real round trip of every way by which the gateway reaches apps,
// and says of each what was done, what was seen, and what to do where it is not well.
//
// What it operates is its own: a window in a private session, a service on the bus, a web
// app on the loopback interface, a home in a temporary folder. Of the person's it reads
// what the gateway itself reads, by calls of the gateway's own app; it changes nothing
// unless Mend is called. Nothing is asked of a network.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// Config is what a Doctor is told by the program. All must be set but what says otherwise.
type Config struct {
	Version    string
	Executable string // the file of this program
	Home       string
	DataDir    string // the folder of what the gateway keeps
	CacheDir   string // the folder of what it can have again
	Getenv     func(string) string
	Environ    []string // all variables, of which a bundle has the names
	// Settings is the configuration file, if there is one, and Configured says why it cannot
	// be read; nil: it can. Notes are what of it does not hold.
	Settings    string
	ConfigError error
	Notes       []string
	// Gateway is the person's own, with the standard settings where theirs cannot be read;
	// nil where none can be made at all, as Configured says.
	Gateway *aai.Gateway
	// NewScratchGateway makes a gateway on other ground: a home and an environment that have nothing to
	// do with the person's, and somebody who answers its questions.
	NewScratchGateway func(home string, getenv func(string) string, person aai.Asker) (*aai.Gateway, func() error, error)
	// NewDialog makes what asks the person in a window of the screen that the variables name; it
	// keeps its state in the folder. Nil: nobody can be asked.
	NewDialog func(getenv func(string) string, folder string) aai.ReadyAsker
	// TryKeychain puts something into the system's keychain, reads it, and takes it away.
	TryKeychain func(context.Context) error
	// CheckScreen reports whether the X server of a display takes this user; nil: nobody knows.
	CheckScreen func(ctx context.Context, display, cookie string) error
	Now         func() time.Time
	BuildTime   time.Time // when the program was made; zero where nobody knows
	// OnFinding hears each finding of a call, and what is waited for; nil: nobody does.
	OnFinding func(f Finding, waiting []string)
	// ConfirmWindow asks whether a window may come up on the person's own screen; nil: nobody is
	// there to be asked.
	ConfirmWindow func(ctx context.Context) bool
}

// A State says how it stands with one thing.
type State string

// The states.
const (
	OK      State = "ok"
	Note    State = "note"    // it works, and there is something to know
	Broken  State = "broken"  // Remedy says what to do
	Skipped State = "skipped" // it was not tried
)

// A Finding is what came of one examination.
type Finding struct {
	Check   string        `json:"check"`             // a name that stays, such as "window"
	Title   string        `json:"title"`             // for people
	State   State         `json:"state"`             // how it stands
	Did     string        `json:"did,omitempty"`     // what was done
	Saw     string        `json:"saw"`               // what was seen
	Details []string      `json:"details,omitempty"` // more of what was seen, a line each
	Took    time.Duration `json:"-"`                 // how long it took
	Advice  string        `json:"advice,omitempty"`  // what to do, in words
	// Commands are what to type, one after the other; after them it is well.
	Commands []string `json:"commands,omitempty"`
	// Fixes says what Mend would do; empty where it can do nothing.
	Fixes string `json:"mends,omitempty"`

	fix func(ctx context.Context) error
}

// A Doctor examines once. It is not safe for concurrent use.
type Doctor struct {
	cfg   Config
	facts facts
	found []Finding
}

// facts are what several examinations need, each found once, whoever asks first.
type facts struct {
	gatewayCheck func() (gatewayCheck, error) // what the gateway's own check says
	homeFault    func() error                 // why the home cannot be written
	busAnswers   func() (bool, error)         // why the session bus does not answer
}

// New returns a doctor. It does no I/O.
func New(c Config) *Doctor {
	d := &Doctor{cfg: c}
	d.facts.homeFault = sync.OnceValue(d.homeFault)
	return d
}

// memoize is a function that asks once. Whose time is up meanwhile is no matter of it.
func memoize[T any](ctx context.Context, ask func(context.Context) (T, error)) func() (T, error) {
	return sync.OnceValues(func() (T, error) {
		ctx, cancel := context.WithTimeout(ctx, examinationTimeout)
		defer cancel()
		return ask(ctx)
	})
}

// patience is how long one examination may take, and grace how long it may take to stop
// when its time is up. Both pass only where something is broken.
const (
	examinationTimeout = 14 * time.Second
	stopTimeout        = 3 * time.Second
)

// An examination looks at one thing.
type examination struct {
	check, title string
	run          func(ctx context.Context, f *Finding)
}

// Checks are the names of all examinations, in the order of the report.
func Checks() []string {
	var names []string
	for _, e := range (&Doctor{}).examinations() {
		names = append(names, e.check)
	}
	return names
}

// Examine looks at everything but what is to be skipped, side by side. Tell is called with
// each finding, in the order of the report, as soon as those before it are told; waiting
// are the titles of those that are not done. It always ends.
func (d *Doctor) Examine(ctx context.Context, skip []string, tell func(f Finding, waiting []string)) []Finding {
	d.facts.gatewayCheck, d.facts.busAnswers = memoize(ctx, d.check), memoize(ctx, d.busAnswers)
	all := d.examinations()
	done := make([]chan Finding, len(all))
	for i, e := range all {
		done[i] = make(chan Finding, 1)
		if slices.Contains(skip, e.check) {
			done[i] <- Finding{Check: e.check, Title: e.title, State: Skipped, Saw: "you asked for that"}
			continue
		}
		go func() { done[i] <- examine(ctx, e) }()
	}
	d.found = nil
	for i := range all {
		f := <-done[i]
		d.found = append(d.found, f)
		var waiting []string
		for j := i + 1; j < len(all); j++ {
			if len(done[j]) == 0 {
				waiting = append(waiting, all[j].title)
			}
		}
		tell(f, waiting)
	}
	return d.found
}

// examine is one examination, which ends in time whatever it meets.
func examine(ctx context.Context, e examination) Finding {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, examinationTimeout)
	defer cancel()
	f := &Finding{Check: e.check, Title: e.title}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				f.setBroken(fmt.Sprintf("the examination itself broke: %v", p), "Tell the makers of the gateway, with the file of: aai-gateway doctor --bundle report.zip")
			}
		}()
		e.run(ctx, f)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		select {
		case <-ended:
		case <-time.After(stopTimeout):
			// It still runs, and what it writes is not looked at.
			f = &Finding{Check: e.check, Title: e.title, State: Broken, Saw: "it did not end in time", Advice: "Something it asks does not answer. Try again when the computer is less busy, with --skip " + e.check + " to leave it out."}
		}
	}
	one := *f
	one.Took = time.Since(begun)
	return one
}

// setOK says that all is as it should be.
func (f *Finding) setOK(format string, args ...any) {
	f.State, f.Saw = OK, fmt.Sprintf(format, args...)
}

// setNote says that it works, and what is to be known.
func (f *Finding) setNote(saw, advice string, commands ...string) {
	f.State, f.Saw, f.Advice, f.Commands = Note, saw, advice, commands
}

// setBroken says what is wrong, and what to do.
func (f *Finding) setBroken(saw, advice string, commands ...string) {
	f.State, f.Saw, f.Advice, f.Commands = Broken, saw, advice, commands
}

// setSkipped says why it was not tried.
func (f *Finding) setSkipped(why string) { f.State, f.Saw = Skipped, why }

// errNoGateway is what is said of a call where there is no gateway.
var errNoGateway = errors.New("the gateway does not start")

// setCallError says what a call came to: what is wrong, and the hint that it has.
func (f *Finding) setCallError(what string, err error) {
	if errors.Is(err, errNoGateway) {
		f.setSkipped("the gateway does not start, see the configuration")
		return
	}
	e := aai.AsError(err)
	f.setBroken(what+": "+e.Message, e.Hint)
}

// call makes a call as the person at the terminal.
func call(ctx context.Context, g *aai.Gateway, app, tool string, args map[string]any) (*aai.Result, error) {
	if g == nil {
		return nil, errNoGateway
	}
	return g.Do(ctx, &aai.Call{
		Caller: aai.Caller{Door: aai.DoorCLI, Name: "doctor", Identity: aai.IdentityTerminal, Session: "doctor"},
		App:    app, Tool: tool, Args: args,
	})
}

// Fix does what the finding of that check says that it mends.
func (d *Doctor) Fix(ctx context.Context, check string) error {
	for _, f := range d.found {
		if f.Check == check && f.fix != nil {
			return f.fix(ctx)
		}
	}
	return aai.Errorf(aai.InvalidParams, "there is nothing to mend of %q", check)
}

// shortPath is a path as people write it.
func (d *Doctor) shortPath(path string) string { return shorten(d.cfg.Home, path) }

func shorten(home, path string) string {
	if rest, ok := strings.CutPrefix(path, home+string(os.PathSeparator)); ok && home != "" {
		return "~" + string(os.PathSeparator) + rest
	}
	return path
}
