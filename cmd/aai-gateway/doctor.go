package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doctor"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// doctorPolicy is what root would say for the doctor's own apps: they are servers of this
// computer, and no browser opens.
const doctorPolicy = `{"dev": true, "login": {"browser": false}}`

// doctor makes the doctor for a command. What it closes is the person's own gateway.
func (p *program) doctor(f cli.Flags, may func(context.Context) bool) (cli.Doctor, func() error, error) {
	home, err := p.homeFolder()
	if err != nil {
		return nil, nil, err
	}
	said := p.err
	var notes bytes.Buffer
	p.err = &notes
	asked, environ := p.getenv, p.environ
	cfg, broken := p.config(f)
	if broken != nil {
		p.withoutFaulty(f, broken)
		cfg, err = p.standard(f)
	}
	p.err = said
	host, getenv := hostPlatform(home, p.getenv), p.getenv
	made, asks := &components{}, (func(func(string) string, string) aai.ReadyAsker)(nil)
	if err == nil {
		asks = cfg.doctorDialog
		getenv = cfg.session.Getenv
		if made, err = p.doctorComponents(cfg); err != nil {
			broken = errors.Join(broken, err)
		}
	}
	e := &doctorAdapter{gateway: made.gateway}
	e.Doctor = doctor.New(doctor.Config{
		Version: programVersion(), Executable: selfFile(), Home: home, DataDir: host.data, CacheDir: host.cache, Getenv: asked, Environ: environ,
		Settings: configFile(f, asked, home), ConfigError: broken, Notes: linesOf(notes.String()),
		Gateway: made.gateway, NewScratchGateway: p.scratch, NewDialog: asks, OnFinding: e.receive,
		TryKeychain: func(ctx context.Context) error { return secrets.CheckSystemKeychain(ctx, getenv) },
		CheckScreen: screens(host), Now: p.hostAccess.clock(), BuildTime: builtAt(), ConfirmWindow: may,
	})
	made.doctor = e.Doctor
	return e, made.close, nil
}

// doctorTool are the tool by which any door has the doctor look: the one of this command, or
// one of the gateway as it runs, with the configuration as it is now.
func (p *program) doctorTool(cfg *setup, built *components) *aai.Tool {
	return doctor.Tool(func() *doctor.Doctor {
		if built.doctor != nil {
			return built.doctor
		}
		var notes []string
		now, broken := setUp(cfg.input)
		if broken == nil {
			notes = now.Notes
		}
		return doctor.New(doctor.Config{
			Version: programVersion(), Executable: selfFile(), Home: cfg.home, DataDir: cfg.platform.data, CacheDir: cfg.platform.cache, Getenv: p.getenv, Environ: p.environ,
			Settings: cfg.File(), ConfigError: broken, Notes: notes, Gateway: built.gateway, NewScratchGateway: p.scratch, NewDialog: cfg.doctorDialog,
			TryKeychain: func(ctx context.Context) error { return secrets.CheckSystemKeychain(ctx, cfg.session.Getenv) },
			CheckScreen: screens(cfg.platform), Now: p.hostAccess.clock(), BuildTime: builtAt(),
		})
	})
}

// doctorComponents makes the gateway of a doctor. Where the log of the configuration cannot be
// written there is a gateway, and an error.
func (p *program) doctorComponents(cfg *setup) (*components, error) {
	cfg.exitsAfterCall, cfg.LogLevel = true, logDisabled
	made, err := p.build(cfg)
	if err == nil || cfg.LogFile == "" {
		return cmp.Or(made, &components{}), err
	}
	err = invalid("%s: %w", cfg.Origin("logFile"), errors.New(aai.AsError(err).Message))
	cfg.LogFile = ""
	made, still := p.build(cfg)
	return cmp.Or(made, &components{}), cmp.Or(still, err)
}

// withoutFaulty takes those variables of our own away by which the configuration cannot be
// read, so that the rest can be looked at.
func (p *program) withoutFaulty(f cli.Flags, broken error) {
	for broken != nil {
		name, _, _ := strings.Cut(aai.AsError(broken).Message, ": ")
		if p.getenv(name) == "" {
			return
		}
		p.environ = slices.DeleteFunc(slices.Clone(p.environ), func(v string) bool { return strings.HasPrefix(v, name+"=") })
		p.getenv = environmentSnapshot(p.environ)
		_, broken = p.config(f)
	}
}

// standard is the configuration of somebody who configured nothing.
func (p *program) standard(f cli.Flags) (*setup, error) {
	empty, err := os.CreateTemp("", "aai-doctor-*.json")
	if err != nil {
		return nil, err
	}
	defer os.Remove(empty.Name()) //nolint:errcheck // it is empty
	_, err = empty.WriteString("{}")
	if err := errors.Join(err, empty.Close()); err != nil {
		return nil, err
	}
	f.Config = empty.Name()
	return p.config(f)
}

// scratch makes a gateway on other ground, in this process: root allows what the doctor's
// own apps need, and whoever is given answers.
func (p *program) scratch(home string, getenv func(string) string, person aai.Asker) (*aai.Gateway, func() error, error) {
	s := &program{getenv: getenv, home: home, in: strings.NewReader(""), out: io.Discard, err: io.Discard, hostAccess: hostAccess{
		policy:  func() ([]byte, error) { return []byte(doctorPolicy), nil },
		home:    func() string { return home },
		session: func(getenv func(string) string) func(string) string { return getenv },
		person:  func() (policy.Authenticator, aai.Asker) { return presentPerson{}, person },
	}}
	cfg, err := s.config(cli.Flags{})
	if err != nil {
		return nil, nil, err
	}
	cfg.LogLevel = logDisabled
	built, err := s.build(cfg)
	if err != nil {
		return nil, nil, err
	}
	return built.gateway, built.close, nil
}

// logDisabled is above every level of the log.
const logDisabled = 100

// presentPerson is a person who can be asked in a window.
type presentPerson struct{}

// Method implements policy.Person.
func (presentPerson) Method(context.Context) aai.Channel { return aai.DesktopDialog }

// CheckPassphrase implements policy.Person.
func (presentPerson) CheckPassphrase(context.Context, string) error {
	return errors.New("no passphrase was set")
}

// environmentSnapshot looks up variables as they are now. A library changes those of the process: where
// it found the session bus.
func environmentSnapshot(environ []string) func(string) string {
	variables := make(map[string]string, len(environ))
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok {
			variables[variableKey(name)] = value
		}
	}
	return func(name string) string { return variables[variableKey(name)] }
}

// variableKey is a variable's name as it is told from others here.
func variableKey(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// screens says why the X server of a display does not count as a screen of this user.
func screens(p platform) func(context.Context, string, string) error {
	if p.checkScreen == nil {
		return nil
	}
	return func(_ context.Context, display, cookie string) error {
		room := session.New(session.Config{Getenv: func(name string) string {
			return map[string]string{"DISPLAY": display, "XAUTHORITY": cookie, "HOME": os.Getenv("HOME")}[name]
		}, Accepts: func(ctx context.Context, getenv func(string) string, check func(net.Conn) error) error {
			if getenv("DISPLAY") != display {
				return errors.New("another one is meant")
			}
			return p.checkScreen(ctx, getenv, check)
		}})
		if room.Getenv("DISPLAY") != display {
			return errors.New("it does not take this user")
		}
		return nil
	}
}

// clock is the time of day.
func (g hostAccess) clock() func() time.Time {
	if g.now != nil {
		return g.now
	}
	return time.Now
}

// builtAt is when the source of this program was last changed, or else its file.
func builtAt() time.Time {
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, s := range built.Settings {
			if at, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				return at
			}
		}
	}
	return time.Time{}
}

// selfFile is the file by which this program is started, as a client would.
func selfFile() string {
	if path, err := exec.LookPath(os.Args[0]); err == nil {
		if path, err = filepath.Abs(path); err == nil {
			return path
		}
	}
	path, _ := os.Executable()
	return path
}

// configFile is the file that the configuration is read from.
func configFile(f cli.Flags, getenv func(string) string, home string) string {
	for _, path := range []string{f.Config, getenv("AAI_CONFIG")} {
		if path != "" {
			return path
		}
	}
	return filepath.Join(home, ".aai", "config.json")
}

// linesOf are the lines of what was said, without the word that marks them as warnings.
func linesOf(said string) []string {
	var lines []string
	for line := range strings.Lines(said) {
		lines = append(lines, strings.TrimPrefix(strings.TrimSpace(line), "warning: "))
	}
	return lines
}

// An examiner is the doctor as the command line knows it.
type doctorAdapter struct {
	*doctor.Doctor
	gateway *aai.Gateway // by whose call it examines; nil: none could be made

	mu   sync.Mutex // a call that took too long may still tell
	tell func(doctor.Finding, []string)
	told bool
}

// Checks implements cli.Doctor.
func (*doctorAdapter) Checks() []string { return doctor.Checks() }

// receive hands a finding on.
func (e *doctorAdapter) receive(f doctor.Finding, waiting []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.told = true; e.tell != nil {
		e.tell(f, waiting)
	}
}

// setListener says who hears findings, nil for nobody, and whether somebody has heard one.
func (e *doctorAdapter) setListener(tell func(doctor.Finding, []string)) (told bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tell = tell
	return e.told
}

// Examine implements cli.Doctor. It is the call that a page makes too; where that comes to
// nothing, the doctor looks by itself, since it is to say why.
func (e *doctorAdapter) Examine(ctx context.Context, skip []string, tell func(cli.Finding, []string)) {
	found := func(f doctor.Finding, waiting []string) {
		tell(cli.Finding{
			Check: f.Check, Title: f.Title, State: string(f.State), Did: f.Did, Saw: f.Saw, Details: f.Details, Took: f.Took,
			Advice: f.Advice, Commands: f.Commands, Fixes: f.Fixes,
		}, waiting)
	}
	if e.setListener(found); e.gateway != nil {
		leave := make([]any, len(skip))
		for i, name := range skip {
			leave[i] = name
		}
		_, _ = e.gateway.Do(ctx, &aai.Call{
			Caller: aai.Caller{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal, Session: "doctor"},
			App:    aai.BuiltinApp, Tool: doctor.Name, Args: map[string]any{"skip": leave},
		})
	}
	if told := e.setListener(nil); !told && ctx.Err() == nil {
		e.Doctor.Examine(ctx, skip, found)
	}
}
