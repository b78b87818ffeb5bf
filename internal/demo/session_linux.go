package demo

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/descriptors"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
)

// privateSession is a desktop session separate from the user's: its own home, screen and bus. All
// its programs end with it.
type privateSession struct {
	*private.Session
	cfg        Config
	temp       string // folder for files that remain
	passphrase string // of the user, for the gateway
}

// requiredPrograms maps the demo's programs to their Debian packages.
func requiredPrograms() map[string]string {
	return map[string]string{
		"Xvfb": "xvfb", "dbus-daemon": "dbus-daemon", "gnome-calculator": "gnome-calculator",
		"dunst": "dunst", "thunar": "thunar", "mpv": "mpv mpv-mpris",
		"openbox": "openbox", "xsetroot": "x11-xserver-utils", "xdotool": "xdotool",
		"mousepad": "mousepad",
	}
}

// demoApps lists the apps with descriptors that the demo installs.
func demoApps() []string {
	return []string{"org.gnome.Calculator", "org.freedesktop.Notifications", "org.xfce.Thunar", "io.mpv.Mpv"}
}

// startTimeout limits the start of a program.
const startTimeout = time.Minute

// CheckPrograms returns an *aai.Error that names the programs that the demo needs and are not
// installed, or nil.
func CheckPrograms() error {
	var missing, packages []string
	for program, pkg := range requiredPrograms() {
		if _, err := exec.LookPath(program); err != nil {
			missing, packages = append(missing, program), append(packages, pkg)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	slices.Sort(packages)
	e := aai.Errorf(aai.AppNotFound, "the demo needs %s", strings.Join(missing, ", "))
	e.Hint = "Run `make demo`, or: sudo apt-get install " + strings.Join(packages, " ")
	return e
}

func startSession(ctx context.Context, cfg Config) (_ *privateSession, err error) {
	if err := CheckPrograms(); err != nil {
		return nil, err
	}
	desk, err := private.New("aai-demo-")
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "no folder for the demo: %w", err)
	}
	s := &privateSession{Session: desk, cfg: cfg, temp: os.TempDir(), passphrase: rand.Text()}
	defer func() {
		if err != nil {
			s.stop()
			s.remove()
		}
	}()
	if err := s.prepareHome(); err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the demo's home cannot be made: %w", err)
	}
	if err := s.StartScreen(ctx, private.ScreenConfig{Width: 1440, Height: 900, FileBacked: true}); err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the demo's screen did not start: %w", err)
	}
	if err := s.StartBus(ctx); err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the demo's bus did not start: %w", err)
	}
	if err := s.startWindowManager(ctx); err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "openbox did not start: %w", err)
	}
	if err := s.setEnvironment(); err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the demo's environment cannot be set: %w", err)
	}
	if err := s.startPlayer(ctx); err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "mpv did not start: %w", err)
	}
	return s, nil
}

// prepareHome creates the home: descriptors, some files, a tune, and the look of windows.
func (s *privateSession) prepareHome() error {
	content := map[string][]byte{
		"tune.wav":               silence(60),
		"Documents/accounts.csv": []byte("March,120\nApril,95\n"),
		"Documents/holiday.txt":  []byte("Two weeks in June.\n"),
		"Documents/shopping.txt": []byte("Bread, apples, tea.\n"),
		openboxConfig:            file("openbox.xml"),
		".config/dunst/dunstrc":  file("dunstrc"),
		chromiumEntry:            []byte(s.chromium()),
	}
	for _, id := range demoApps() {
		b, err := fs.ReadFile(descriptors.FS(), id+"/aai.json")
		if err != nil {
			return err
		}
		content[".aai/"+id+"/aai.json"] = b
	}
	maps.Copy(content, keyFiles())
	for name, b := range content {
		path := filepath.Join(s.Home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return err
		}
	}
	s.Env = append(append(s.Env, private.HeadlessEnv()...),
		session.PrivateMark+"=1", "PATH="+os.Getenv("PATH"), "AAI_MASTER_KEY_FILE="+filepath.Join(s.Home, masterKey))
	return nil
}

// Files in the demo's home.
const (
	openboxConfig = ".config/openbox/rc.xml"
	chromiumEntry = ".local/share/applications/chromium.desktop"
)

// chromium returns the desktop entry of a Chromium that uses the demo's home and no background
// network. As root it runs without its sandbox.
func (s *privateSession) chromium() string {
	switches := "--user-data-dir=" + filepath.Join(s.Home, ".config", "chromium") +
		" --no-first-run --no-default-browser-check --password-store=basic --lang=en" +
		" --disable-gpu --disable-dev-shm-usage --disable-breakpad --disable-extensions --disable-sync" +
		" --disable-background-networking --disable-component-update"
	if os.Geteuid() == 0 {
		switches += " --no-sandbox --test-type"
	}
	return "[Desktop Entry]\nType=Application\nName=Chromium\nExec=chromium " + switches + " %U\n"
}

// silence returns a WAV file (RIFF, PCM, mono, 8 kHz, 8 bit) of the given length.
func silence(seconds int) []byte {
	const rate = 8000
	samples := make([]byte, seconds*rate)
	for i := range samples {
		samples[i] = 128
	}
	b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(36+len(samples)))...)
	b = append(b, "WAVEfmt "...)
	for _, field := range []any{uint32(16), uint16(1), uint16(1), uint32(rate), uint32(rate), uint16(1), uint16(8)} {
		b, _ = binary.Append(b, binary.LittleEndian, field) // fixed-size fields cannot fail
	}
	b = append(b, "data"...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(samples))), samples...)
}

// startWindowManager starts the window manager, and paints the screen.
func (s *privateSession) startWindowManager(ctx context.Context) error {
	if err := s.StartWindowManager(ctx, filepath.Join(s.Home, openboxConfig)); err != nil {
		return err
	}
	_, err := s.output(ctx, "xsetroot", "-solid", "#51718a")
	return err
}

func (s *privateSession) startPlayer(ctx context.Context) error {
	if _, err := s.Start(private.Command{Name: "mpv", Args: []string{"--no-terminal", "--vo=null", "--ao=null", "--idle=yes", "--pause", "--loop-file=inf",
		filepath.Join(s.Home, "tune.wav")}}); err != nil {
		return err
	}
	// The player is ready when the gateway finds it. The consent for that applies only in the
	// demo's home.
	if _, err := s.gateway(ctx, "consent", "passphrase"); err != nil {
		return err
	}
	if _, err := s.gateway(ctx, "consent", "grant", "io.mpv.Mpv", "now_playing", "--caller", "cli:terminal"); err != nil {
		return err
	}
	return waitFor(ctx, func() bool {
		out, err := s.gateway(ctx, "exec", "io.mpv.Mpv", "now_playing")
		return err == nil && strings.Contains(out, "xesam:title")
	})
}

// output runs a short program and returns its output.
func (s *privateSession) output(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = s.Env
	b, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, b)
	}
	return string(b), nil
}

// waitFor waits until ready is true.
func waitFor(ctx context.Context, ready func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for !ready() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

// stop ends every program of the session and ignores errors.
func (s *privateSession) stop() { _ = s.End() }

// remove removes the files of the session.
func (s *privateSession) remove() { _ = s.Remove() } // leftovers are in /tmp
