// Package doctor tests every integration of the gateway with apps by a real round trip. For each
// it reports the steps, the result, and the remedy for a failure.
//
// [Doctor] operates only its own objects: a window in a private session, a service on the bus, a
// web app on the loopback interface, a home in a temporary folder. It reads the person's data
// only through calls of the builtin app, and changes nothing unless Fix is called. It uses no
// network.
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
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// Config configures a Doctor. All fields must be set unless stated otherwise.
type Config struct {
	Version    string
	Executable string // the file of this program
	Home       string
	DataDir    string // the folder of the gateway's data
	CacheDir   string // the folder of its replaceable data
	Stores     []Store
	Getenv     func(string) string
	Environ    []string // all variables; a bundle contains their names
	// Settings is the configuration file, which may not exist. ConfigError is its error, or nil.
	// Notes are its notices about settings without effect.
	Settings    string
	ConfigError error
	Notes       []string
	// SettingNames are the names of all settings. A bundle lists no other name of the file.
	SettingNames []string
	// Gateway is the person's gateway, with the default settings if ConfigError is set; nil if it
	// cannot be created.
	Gateway *gateway.Gateway
	// NewScratchGateway creates a gateway that is separate from the person's, with a home, an environment
	// and an asker for its questions. The returned function closes the gateway.
	NewScratchGateway func(home string, getenv func(string) string, person aai.Asker) (*gateway.Gateway, func() error, error)
	// NewDialog returns an asker that opens windows on the screen named by the variables and
	// keeps its state in the folder. May be nil.
	NewDialog func(getenv func(string) string, folder string) aai.ReadyAsker
	// TryKeychain stores a secret in the system's keychain, reads it, and deletes it.
	TryKeychain func(context.Context) error
	// CheckScreen returns an error if the display's X server rejects this user; may be nil.
	CheckScreen func(ctx context.Context, display, cookie string) error
	// Model is the configured model for pictures.
	Model     Model
	Now       func() time.Time
	BuildTime time.Time // zero if unknown
	// Tried says how far the program was tried on this system; "" where it was tried as a whole.
	Tried string
	// OnFinding receives each finding and the titles of unfinished examinations; may be nil.
	OnFinding func(f Finding, waiting []string)
	// ConfirmWindow asks whether a window may appear on the person's screen; may be nil.
	ConfirmWindow func(ctx context.Context) bool
}

// A Finding is the report of one examination, with its fix.
type Finding struct {
	answer.Finding
	fix func(ctx context.Context) error
}

// A Doctor runs the examinations, and the fixes of their findings. It is not safe for concurrent use.
type Doctor struct {
	cfg   Config
	facts facts
	found []Finding
}

// facts are results that several examinations share. Each is computed once.
type facts struct {
	gatewayCheck func() (gatewayCheck, error) // result of the gateway's own check
	homeFault    func() error                 // why the home is not writable
	busAnswers   func() (bool, error)         // why the session bus does not answer
}

// New returns a Doctor. It does no I/O.
func New(c Config) *Doctor {
	d := &Doctor{cfg: c}
	d.facts.homeFault = sync.OnceValue(d.homeFault)
	return d
}

// memoize returns a function that calls ask once, with a timeout that is independent of the function's
// callers.
func memoize[T any](ctx context.Context, ask func(context.Context) (T, error)) func() (T, error) {
	return sync.OnceValues(func() (T, error) {
		ctx, cancel := context.WithTimeout(ctx, examinationTimeout)
		defer cancel()
		return ask(ctx)
	})
}

// examinationTimeout limits one examination, and stopTimeout the time it may take to stop after
// that. Both expire only if a component is broken.
const (
	examinationTimeout = 14 * time.Second
	stopTimeout        = 3 * time.Second
)

// An examination tests one component.
type examination struct {
	check, title string
	did          string                                // the steps, unless run reports others
	run          func(ctx context.Context, f *Finding) // tries the component, and reports the result and the remedy
}

// Checks returns the names of all examinations, in the order of the report.
func Checks() []string {
	var names []string
	for _, e := range (&Doctor{}).examinations() {
		names = append(names, e.check)
	}
	return names
}

// Examine runs all examinations except those in skip, concurrently. It calls tell with each finding, in
// the order of the report; waiting holds the titles of unfinished examinations. It returns even if an
// examination blocks.
func (d *Doctor) Examine(ctx context.Context, skip []string, tell func(f Finding, waiting []string)) []Finding {
	d.facts.gatewayCheck, d.facts.busAnswers = memoize(ctx, d.check), memoize(ctx, d.busAnswers)
	all := d.examinations()
	done := make([]chan Finding, len(all))
	for i, e := range all {
		done[i] = make(chan Finding, 1)
		if slices.Contains(skip, e.check) {
			done[i] <- Finding{Finding: answer.Finding{Check: e.check, Title: e.title, State: answer.StateSkipped, Saw: "skipped at your request"}}
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

// examine runs one examination, and returns in time even if it blocks.
func examine(ctx context.Context, e examination) Finding {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, examinationTimeout)
	defer cancel()
	f := newFinding(e)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				f.setBroken(fmt.Sprintf("the check itself failed: %v", p), "Report this, with the file of: aai-gateway doctor --bundle report.zip")
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
			// The goroutine still runs and may write to f, so f is replaced.
			f = newFinding(e)
			f.setBroken("it did not finish in time", "A program that it queries does not answer. Try again when the computer is less busy, or with --skip "+e.check+" to skip it.")
		}
	}
	one := *f
	one.TookMS = time.Since(begun).Milliseconds()
	return one
}

func newFinding(e examination) *Finding {
	return &Finding{Finding: answer.Finding{Check: e.check, Title: e.title, Did: e.did}}
}

// setOK reports success.
func (f *Finding) setOK(format string, args ...any) {
	f.State, f.Saw = answer.StateOK, fmt.Sprintf(format, args...)
}

// setNote reports success with a remark.
func (f *Finding) setNote(saw, advice string, commands ...string) {
	f.State, f.Saw, f.Advice, f.Commands = answer.StateNote, saw, advice, commands
}

// setBroken reports a failure and its remedy.
func (f *Finding) setBroken(saw, advice string, commands ...string) {
	f.State, f.Saw, f.Advice, f.Commands = answer.StateBroken, saw, advice, commands
}

// setSkipped reports why the examination did not run.
func (f *Finding) setSkipped(why string) { f.State, f.Saw = answer.StateSkipped, why }

// errNoGateway is the error of calls without a gateway.
var errNoGateway = errors.New("the gateway does not start")

// setCallError reports the error of a call, with its hint.
func (f *Finding) setCallError(what string, err error) {
	if errors.Is(err, errNoGateway) {
		f.setSkipped("the gateway does not start, see the configuration")
		return
	}
	e := aai.AsError(err)
	f.setBroken(what+": "+e.Message, e.Hint)
}

// call makes a call as the person at the terminal.
func call(ctx context.Context, g *gateway.Gateway, app, tool string, args map[string]any) (*aai.Result, error) {
	if g == nil {
		return nil, errNoGateway
	}
	return g.Do(ctx, &aai.Call{
		Caller: aai.Caller{Door: aai.DoorCLI, Name: "doctor", Identity: aai.IdentityTerminal, Session: "doctor"},
		App:    app, Tool: tool, Args: args,
	})
}

// Fix performs the action that the finding of the check describes in Fixes, or returns an error if
// there is none.
func (d *Doctor) Fix(ctx context.Context, check string) error {
	for _, f := range d.found {
		if f.Check == check && f.fix != nil {
			return f.fix(ctx)
		}
	}
	return aai.Errorf(aai.InvalidParams, "there is nothing to repair for %q", check)
}

// shortPath returns a path with "~" for the home folder.
func (d *Doctor) shortPath(path string) string { return shorten(d.cfg.Home, path) }

func shorten(home, path string) string {
	if rest, ok := strings.CutPrefix(path, home+string(os.PathSeparator)); ok && home != "" {
		return "~" + string(os.PathSeparator) + rest
	}
	return path
}
