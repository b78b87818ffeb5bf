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
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/audit/kept"
	"github.com/gybob/aai-gateway/internal/doctor"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/platform/proof"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// doctorPolicy replaces root's policy for the doctor's own apps: they are servers of this
// computer, and no browser opens.
const doctorPolicy = `{"dev": true, "login": {"browser": false}}`

// doctor returns the doctor for a command; may asks whether a window may appear on the user's screen.
// The returned function closes the user's gateway.
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
	var names []string
	var stores []doctor.Store
	if cfg != nil {
		names, stores = settingNames(cfg), cfg.stores()
	}
	e := &doctorAdapter{gateway: made.gateway}
	e.Doctor = doctor.New(doctor.Config{
		Version: programVersion(), Executable: selfFile(), Home: home, DataDir: host.data, CacheDir: host.cache, Stores: stores, Getenv: asked, Environ: environ,
		Settings: configFile(f, asked, home), ConfigError: broken, Notes: linesOf(notes.String()), SettingNames: names,
		Gateway: made.gateway, NewScratchGateway: p.scratch, NewDialog: asks, OnFinding: e.receive,
		TryKeychain: func(ctx context.Context) error { return secrets.CheckSystemKeychain(ctx, getenv) },
		CheckScreen: screens(host), Model: cfg.doctorModel(asked), Now: p.hostAccess.clock(), BuildTime: builtAt(), Tried: proof.Sentence(runtime.GOOS), ConfirmWindow: may,
	})
	made.doctor = e.Doctor
	return e, made.close, nil
}

// stores returns the data that grows.
func (s *setup) stores() []doctor.Store {
	name := filepath.Base(s.AuditLog)
	return []doctor.Store{
		{Name: "journal", Folder: filepath.Dir(s.AuditLog), Prefix: strings.TrimSuffix(name, filepath.Ext(name)), MaxBytes: int64(s.Journal.MaxSizeMB) * megabyte},
		{Name: "index of the history", Folder: filepath.Dir(s.AuditLog), Prefix: "index.db"},
		{Name: "runs of workflows", Folder: s.platform.data, Prefix: filepath.Base(s.dataFolders().runsFile()), MaxBytes: s.dataFolders().maxRunBytes},
		{Name: "kept results", Folder: s.keptFolder("answers"), MaxBytes: kept.MaxTotalBytes},
		{Name: "kept screenshots", Folder: s.keptFolder("pictures"), MaxBytes: kept.MaxTotalBytes},
	}
}

// settingNames returns the names of all settings.
func settingNames(cfg *setup) (names []string) {
	for _, s := range cfg.Describe() {
		names = append(names, s.Key)
	}
	return names
}

// doctorTool returns the tool that runs the doctor through any door: the doctor of this command,
// or one for the running gateway with the current configuration.
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
			Version: programVersion(), Executable: selfFile(), Home: cfg.home, DataDir: cfg.platform.data, CacheDir: cfg.platform.cache, Stores: cfg.stores(), Getenv: p.getenv, Environ: p.environ,
			Settings: cfg.File(), ConfigError: broken, Notes: notes, SettingNames: settingNames(cfg), Gateway: built.gateway, NewScratchGateway: p.scratch, NewDialog: cfg.doctorDialog,
			TryKeychain: func(ctx context.Context) error { return secrets.CheckSystemKeychain(ctx, cfg.personSession.Getenv) },
			CheckScreen: screens(cfg.platform), Model: cfg.doctorModel(p.getenv), Now: p.hostAccess.clock(), BuildTime: builtAt(), Tried: proof.Sentence(runtime.GOOS),
		})
	})
}

// doctorComponents builds the gateway for a doctor. If the configured log file cannot be written,
// it returns a gateway and an error.
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

// withoutFaulty removes the gateway's environment variables that make the configuration invalid,
// so that the rest can be checked.
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

// standard returns the configuration that applies without a configuration file.
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

// scratch creates a gateway for another home in this process. Its root policy allows the doctor's
// apps, and person answers its questions.
func (p *program) scratch(home string, getenv func(string) string, person aai.Asker) (*gateway.Gateway, func() error, error) {
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

// logDisabled is above every log level.
const logDisabled = 100

// presentPerson is a user in front of a screen, for dialogs.
type presentPerson struct{}

// Method implements policy.Authenticator.
func (presentPerson) Method(context.Context) aai.Channel { return aai.DesktopDialog }

// CheckPassphrase implements policy.Authenticator.
func (presentPerson) CheckPassphrase(context.Context, string) error {
	return errors.New("no passphrase was set")
}

// environmentSnapshot returns a lookup of the current variables. A library later changes the process's
// variables after it found the session bus.
func environmentSnapshot(environ []string) func(string) string {
	variables := make(map[string]string, len(environ))
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok {
			variables[variableKey(name)] = value
		}
	}
	return func(name string) string { return variables[variableKey(name)] }
}

// variableKey returns a variable's name, in upper case on Windows.
func variableKey(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// screens returns a function that explains why a display is not a screen of this user.
func screens(p platform) func(context.Context, string, string) error {
	if p.checkScreen == nil {
		return nil
	}
	return func(_ context.Context, display, cookie string) error {
		room := session.New(session.Config{Getenv: func(name string) string {
			return map[string]string{"DISPLAY": display, "XAUTHORITY": cookie, "HOME": os.Getenv("HOME")}[name]
		}, CheckX11: func(ctx context.Context, getenv func(string) string, check func(net.Conn) error) error {
			if getenv("DISPLAY") != display {
				return errors.New("another one is expected")
			}
			return p.checkScreen(ctx, getenv, check)
		}})
		if room.Getenv("DISPLAY") != display {
			return errors.New("it does not accept this user")
		}
		return nil
	}
}

// clock returns now, or the computer's clock if now is nil.
func (g hostAccess) clock() func() time.Time {
	if g.now != nil {
		return g.now
	}
	return time.Now
}

// builtAt returns the commit time of this program's source, or zero.
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

// selfFile returns the file of this program as a client would start it.
func selfFile() string {
	if path, err := exec.LookPath(os.Args[0]); err == nil {
		if path, err = filepath.Abs(path); err == nil {
			return path
		}
	}
	path, _ := os.Executable()
	return path
}

// configFile returns the path of the configuration file: of the flag, of AAI_CONFIG, or the default.
func configFile(f cli.Flags, getenv func(string) string, home string) string {
	for _, path := range []string{f.Config, getenv("AAI_CONFIG")} {
		if path != "" {
			return path
		}
	}
	return filepath.Join(home, ".aai", "config.json")
}

// linesOf returns the lines of the output, without the prefix "warning: ".
func linesOf(said string) []string {
	var lines []string
	for line := range strings.Lines(said) {
		lines = append(lines, strings.TrimPrefix(strings.TrimSpace(line), "warning: "))
	}
	return lines
}

// doctorAdapter adapts the doctor to the command line.
type doctorAdapter struct {
	*doctor.Doctor
	gateway *gateway.Gateway // makes the examining call; nil: none could be created

	mu   sync.Mutex // a late call may still report
	tell func(doctor.Finding, []string)
	told bool
}

// Checks implements cli.Doctor.
func (*doctorAdapter) Checks() []string { return doctor.Checks() }

// receive passes a finding to the listener.
func (e *doctorAdapter) receive(f doctor.Finding, waiting []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.told = true; e.tell != nil {
		e.tell(f, waiting)
	}
}

// setListener sets the listener for findings, or nil. It reports whether any finding was received.
func (e *doctorAdapter) setListener(tell func(doctor.Finding, []string)) (told bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tell = tell
	return e.told
}

// Examine implements cli.Doctor. It makes the same call as a dashboard. If that yields nothing, it
// runs the doctor directly, to find the reason.
func (e *doctorAdapter) Examine(ctx context.Context, skip []string, tell func(answer.Finding, []string)) {
	found := func(f doctor.Finding, waiting []string) { tell(f.Finding, waiting) }
	if e.setListener(found); e.gateway != nil {
		leave := make([]any, len(skip))
		for i, name := range skip {
			leave[i] = name
		}
		_, _ = e.gateway.Do(ctx, &aai.Call{
			Caller: aai.Caller{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal, Session: "doctor"},
			App:    aai.BuiltinApp, Tool: doctor.ToolName, Args: map[string]any{"skip": leave},
		})
	}
	if told := e.setListener(nil); !told && ctx.Err() == nil {
		e.Doctor.Examine(ctx, skip, found)
	}
}
