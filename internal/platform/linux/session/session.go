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

// PrivateMark is the variable that marks, with any value, the environment of a private
// session of the gateway. The value in an isolated session is its folder.
const PrivateMark = "AAI_PRIVATE_SESSION"

// Time limits of a lookup.
const (
	// patience is the limit for login1, the user manager, and one screen each.
	patience = time.Second
	// retryAfter is the time until a failed lookup is repeated.
	retryAfter = 5 * time.Second
)

// ChoiceAnySeat is the Config.Choice that selects any session of the person on a seat.
const ChoiceAnySeat = "seat"

// Config configures a Detector. Zero values of optional fields mean this computer's
// defaults.
type Config struct {
	// Getenv looks up a variable of this process, as os.Getenv does. It must not be nil.
	Getenv func(string) string
	// Choice is the person's choice of a screen: "", the ID of a login1 session, a display
	// such as ":0", or ChoiceAnySeat.
	Choice string
	// CheckX11 connects to the X server in DISPLAY, calls check on the connection before it
	// sends anything, and performs the handshake with the cookie in XAUTHORITY. Nil
	// accepts no X11 screen.
	CheckX11 func(ctx context.Context, getenv func(string) string, check func(net.Conn) error) error
	Log      *slog.Logger // nil: nowhere

	// For tests: folders to use instead of /run/user and /proc.
	RunUser, Proc string
	// Patience and RetryAfter override the time limits.
	Patience, RetryAfter time.Duration
}

// A Detector finds the parts of the person's desktop session: bus, screen, locale and
// runtime folder. It is safe for concurrent use: one goroutine looks a part up, and the
// others wait for its result.
type Detector struct {
	cfg     Config
	sources sources
	bus     cachedPart
	screen  cachedPart
	locale  cachedPart
	folder  cachedPart
}

// New returns a Detector. It does no I/O.
func New(cfg Config) *Detector {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.RunUser, cfg.Proc = cmp.Or(cfg.RunUser, "/run/user"), cmp.Or(cfg.Proc, "/proc")
	cfg.Patience, cfg.RetryAfter = cmp.Or(cfg.Patience, patience), cmp.Or(cfg.RetryAfter, retryAfter)
	return &Detector{cfg: cfg}
}

// A Value is a variable of the session with its source.
type Value struct{ Name, Value, From string }

// A RejectedValue is a value that its source From has but that is not valid; Why is the reason.
type RejectedValue struct{ What, From, Why string }

// A lookup is the result of looking up one part.
type lookup struct {
	values   []Value
	refusals []RejectedValue
	unchosen []string // compositors of which none was taken
	// alive reports whether the result is still valid. Nil means that the lookup is
	// repeated after retryAfter.
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

// A cachedPart is a part of the session. It is looked up at its first use, and again when
// it is no longer valid.
type cachedPart struct {
	mu    sync.Mutex
	found *lookup
	at    time.Time
}

// get returns the cached result, or looks it up.
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

// Getenv looks up a variable: a session variable as found, any other in the own
// environment. It may wait for a lookup, which ends within a few seconds.
func (r *Detector) Getenv(name string) string {
	if p, look := r.partOf(name); p != nil {
		return p.get(r.cfg.RetryAfter, look).get(name)
	}
	return r.cfg.Getenv(name)
}

// partOf returns the part of a variable, and its lookup function.
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

// Environ returns the environment for a program of the person: own, with its session
// variables replaced by the valid ones found.
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

// localeNames returns the variables of the locale.
func localeNames() []string {
	return []string{
		localeName, "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LC_TIME", "LC_NUMERIC", "LC_MONETARY", "LC_COLLATE",
		"LC_PAPER", "LC_NAME", "LC_ADDRESS", "LC_TELEPHONE", "LC_MEASUREMENT", "LC_IDENTIFICATION",
	}
}

// ownEnvironment is the source of values from this process's environment.
const ownEnvironment = "the own environment"

// ownValues returns the named variables of the own environment.
func (r *Detector) ownValues(names ...string) []Value {
	var values []Value
	for _, name := range names {
		if value := r.cfg.Getenv(name); value != "" {
			values = append(values, Value{name, value, ownEnvironment})
		}
	}
	return values
}

// isPrivate reports whether this process is in a private session of the gateway.
func (r *Detector) isPrivate() bool { return r.cfg.Getenv(PrivateMark) != "" }

// label cleans foreign text for people.
func label(text string) string { return aai.CleanLabel(text, 100) }
