package session

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// PrivateMark is the variable, set to anything, that says of an environment that it
// belongs to a session that we made for ourselves.
const PrivateMark = "AAI_PRIVATE_SESSION"

// Bounds of a look.
const (
	// patience is how long login1, the user manager, and one screen may take each.
	patience = time.Second
	// retryAfter is how long what was not found is not looked for again.
	retryAfter = 5 * time.Second
)

// ChosenSeat is the choice of whatever session of the person is on a seat.
const ChosenSeat = "seat"

// Config is what a Room needs. The zero value of what may be left out is this
// computer's.
type Config struct {
	// Getenv looks up the own environment. It must not be nil.
	Getenv func(string) string
	// Choice is what the person says of the screen: "", the id of a login1 session, a
	// display such as ":0", or ChosenSeat.
	Choice string
	// Accepts connects to the X server that DISPLAY names, has the connection checked
	// before anything is sent, and greets the server with the cookie that XAUTHORITY
	// names. Nil: no screen of X11 counts.
	Accepts func(ctx context.Context, getenv func(string) string, check func(net.Conn) error) error
	Log     *slog.Logger // nil: nowhere

	// For tests: the folders of the logins and of the processes.
	RunUser, Proc string
	// Patience and Rest are the bounds, if they are not the usual ones.
	Patience, RetryAfter time.Duration
}

// A Room knows the session. It is safe for concurrent use: one looks, the others
// wait for what it finds.
type Detector struct {
	cfg     Config
	sources sources
	bus     cachedPart
	screen  cachedPart
	locale  cachedPart
	folder  cachedPart
}

// New returns the room. It does no I/O.
func New(cfg Config) *Detector {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.RunUser, cfg.Proc = cmp.Or(cfg.RunUser, "/run/user"), cmp.Or(cfg.Proc, "/proc")
	cfg.Patience, cfg.RetryAfter = cmp.Or(cfg.Patience, patience), cmp.Or(cfg.RetryAfter, retryAfter)
	return &Detector{cfg: cfg}
}

// A Value is a variable of the session, and where it was found.
type Value struct{ Name, Value, From string }

// A Refusal is something that was found and does not count.
type Refusal struct{ What, From, Why string }

// A find is what a look for one part came to.
type lookup struct {
	values   []Value
	refusals []Refusal
	// alive reports whether what was found is still there; nil: it is looked for again
	// after a rest.
	alive func() bool
}

func (f *lookup) get(name string) string {
	for _, v := range f.values {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// A part of the session is looked for when it is first needed, and again when it is
// gone.
type cachedPart struct {
	mu    sync.Mutex
	found *lookup
	at    time.Time
}

// get returns what is known, or what look finds.
func (p *cachedPart) get(rest time.Duration, look func() *lookup) *lookup {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.found; f != nil && (f.alive == nil && time.Since(p.at) < rest || f.alive != nil && f.alive()) {
		return f
	}
	p.found, p.at = look(), time.Now()
	return p.found
}

// Names of variables.
const (
	busName     = "DBUS_SESSION_BUS_ADDRESS"
	displayName = "DISPLAY"
	cookieName  = "XAUTHORITY"
	waylandName = "WAYLAND_DISPLAY"
	typeName    = "XDG_SESSION_TYPE"
	desktopName = "XDG_CURRENT_DESKTOP"
	folderName  = "XDG_RUNTIME_DIR"
	localeName  = "LANG"
)

func screenNames() []string {
	return []string{displayName, cookieName, waylandName, typeName, desktopName}
}

func isLocaleName(name string) bool {
	return name == localeName || name == "LANGUAGE" || strings.HasPrefix(name, "LC_")
}

// Getenv looks up a variable: one of the session as it was found, any other in the
// own environment. It waits for a look, which ends in a few seconds at the most.
func (r *Detector) Getenv(name string) string {
	if p, look := r.partOf(name); p != nil {
		return p.get(r.cfg.RetryAfter, look).get(name)
	}
	return r.cfg.Getenv(name)
}

// partOf is the part that a variable is of, and how it is looked for.
func (r *Detector) partOf(name string) (*cachedPart, func() *lookup) {
	switch {
	case name == busName:
		return &r.bus, r.lookForBus
	case slices.Contains(screenNames(), name):
		return &r.screen, r.lookForScreen
	case name == folderName:
		return &r.folder, r.lookForFolder
	case isLocaleName(name):
		return &r.locale, r.lookForLocale
	}
	return nil, nil
}

// Environ is the environment for a program of the person: that of this process with
// the session's variables as they were found. What does not count is taken out.
func (r *Detector) Environ(own []string) []string {
	env := slices.DeleteFunc(slices.Clone(own), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		p, _ := r.partOf(name)
		return p != nil
	})
	for _, name := range []string{busName, displayName, folderName, localeName} {
		p, look := r.partOf(name)
		for _, v := range p.get(r.cfg.RetryAfter, look).values {
			env = append(env, v.Name+"="+v.Value)
		}
	}
	return env
}

// localeNames are the variables of the language.
func localeNames() []string {
	return []string{
		localeName, "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LC_TIME", "LC_NUMERIC", "LC_MONETARY", "LC_COLLATE",
		"LC_PAPER", "LC_NAME", "LC_ADDRESS", "LC_TELEPHONE", "LC_MEASUREMENT", "LC_IDENTIFICATION",
	}
}

// ownEnvironment is where a value is from that this process was started with.
const ownEnvironment = "the own environment"

// ownValues is what of the names the own environment has.
func (r *Detector) ownValues(names ...string) []Value {
	var values []Value
	for _, name := range names {
		if value := r.cfg.Getenv(name); value != "" {
			values = append(values, Value{name, value, ownEnvironment})
		}
	}
	return values
}

// isPrivate reports whether this process is within a session of our own making.
func (r *Detector) isPrivate() bool { return r.cfg.Getenv(PrivateMark) != "" }

// label makes a stranger's words harmless for people.
func label(text string) string { return aai.CleanLabel(text, 100) }
