package programs

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Config configures a Launcher.
type Config struct {
	Getenv  func(string) string
	Environ func() []string // the environment for programs, called at each start
	// Menus returns the folders of the Start menu; nil means those of the system.
	Menus func() []string
}

// A Launcher finds and starts programs. It is safe for concurrent use.
type Launcher struct{ cfg Config }

var _ desktop.Programs = (*Launcher)(nil)

// New returns a Launcher. It does no I/O.
func New(cfg Config) *Launcher {
	if cfg.Menus == nil {
		cfg.Menus = menus
	}
	return &Launcher{cfg}
}

// menus returns the folders of the Start menu, the person's own first.
func menus() []string {
	var folders []string
	for _, id := range []*windows.KNOWNFOLDERID{windows.FOLDERID_Programs, windows.FOLDERID_CommonPrograms} {
		if folder, err := windows.KnownFolderPath(id, 0); err == nil {
			folders = append(folders, folder)
		}
	}
	return folders
}

// Find implements desktop.Programs: a path, an entry of App Paths or of the Start menu, or a program on the PATH.
func (l *Launcher) Find(name string) (desktop.Program, error) {
	if filepath.IsAbs(name) {
		if !isFile(name) {
			return desktop.Program{}, aai.Errorf(aai.AppNotFound, "%s is no program", aai.CleanLabel(name, 200))
		}
		return program(installed{name: filepath.Base(name), path: name}), nil
	}
	if name == "" || strings.ContainsAny(name, "/\\:\x00") {
		return desktop.Program{}, aai.Errorf(aai.InvalidParams, "expected a program's name, an entry of the Start menu or an absolute path, got %q",
			aai.CleanLabel(name, 100))
	}
	all := l.installed(context.Background())
	if p, ok := match(all, name); ok {
		return program(p), nil
	}
	if path := l.onPath(name); path != "" {
		return program(installed{name: name, path: path}), nil
	}
	var names []string
	for _, p := range all {
		names = append(names, p.id, p.name)
	}
	slices.Sort(names)
	err := aai.Errorf(aai.AppNotFound, "no program %q is installed", aai.CleanLabel(name, 100))
	err.Candidates = aai.Nearest(name, slices.Compact(names), 3)
	return desktop.Program{}, err
}

func program(p installed) desktop.Program {
	id := strings.TrimSuffix(strings.ToLower(filepath.Base(p.path)), ".exe")
	return desktop.Program{Name: p.name, ID: id, Path: p.path, Args: p.arguments, RunsCommands: runsCommands(p.path)}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// onPath finds a program on the PATH, by the endings of programs. It skips relative elements of the PATH and the current folder.
func (l *Launcher) onPath(name string) string {
	endings := []string{".exe", ".com", ".bat", ".cmd"}
	if slices.Contains(endings, extension(name)) {
		endings = []string{""}
	}
	for _, dir := range filepath.SplitList(l.cfg.Getenv("PATH")) {
		for _, ending := range endings {
			if path := filepath.Join(dir, name+ending); filepath.IsAbs(dir) && isFile(path) {
				return path
			}
		}
	}
	return ""
}

// installed returns the programs of App Paths and of the Start menu, until ctx ends.
func (l *Launcher) installed(ctx context.Context) []installed {
	all := appPaths()
	for _, menu := range l.cfg.Menus() {
		all = append(all, shortcuts(ctx, menu)...)
	}
	return all
}

// Start implements desktop.Programs. The program is in no job of the gateway's, and outlives it.
func (l *Launcher) Start(ctx context.Context, p desktop.Program, args []string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	words := p.Command(args)[1:]
	if needsSwitches(p.Path) {
		words = append([]string{"--force-renderer-accessibility", desktop.ChromiumNoBackgroundingFlag, "--disable-features=CalculateNativeWinOcclusion"}, words...)
	}
	if isScript(p.Path) && slices.ContainsFunc(words, func(arg string) bool { return !isSafeForScript(arg) }) {
		e := aai.Errorf(aai.InvalidParams, "%s is a script of the command processor, which would read some characters of the arguments as commands", aai.CleanLabel(p.Path, 200))
		e.Delivery, e.Hint = aai.NotDelivered, `Leave out the characters " % ! ^ & | < > ( ) and line breaks.`
		return 0, e
	}
	start := func(flags uint32) (*exec.Cmd, error) {
		cmd := exec.CommandContext(context.WithoutCancel(ctx), p.Path, words...) // not the call's context: the program keeps running
		cmd.Env, cmd.Dir = l.cfg.Environ(), filepath.Dir(p.Path)
		cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NEW_CONSOLE | flags}
		return cmd, cmd.Start()
	}
	cmd, err := start(windows.CREATE_BREAKAWAY_FROM_JOB)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) { // the job of the gateway's own parent keeps its processes
		cmd, err = start(0)
	}
	if err != nil {
		return 0, startError(p.Path, err)
	}
	go func() { _ = cmd.Wait() }() // the exit status does not matter
	return cmd.Process.Pid, nil
}

func startError(path string, err error) error {
	e := aai.Errorf(aai.AutomationFailed, "%s could not be started: %w", aai.CleanLabel(path, 200), err)
	if errors.Is(err, windows.ERROR_ELEVATION_REQUIRED) {
		e = aai.Errorf(aai.PermissionDenied, "%s asks for administrator rights, which this gateway does not have", aai.CleanLabel(path, 200))
		e.Hint = "Ask the person to start it."
	}
	e.Delivery = aai.NotDelivered
	return e
}

// needsSwitches reports whether the program shows no tree without switches: it is a build of Chromium or Electron, by its files.
func needsSwitches(path string) bool {
	if isChromium(path) {
		return true
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(path), "chrome_100_percent.pak"))
	return err == nil
}

// isChromium reports whether a program with the file name is a build of Chromium by its name.
func isChromium(file string) bool {
	name := strings.ToLower(file[strings.LastIndexAny(file, `\/`)+1:])
	return slices.Contains([]string{"chrome.exe", "chromium.exe", "msedge.exe", "brave.exe", "vivaldi.exe", "opera.exe"}, name)
}

// IsRunning implements desktop.Programs.
func (*Launcher) IsRunning(pid int) bool {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(process) //nolint:errcheck // it was only read
	state, err := windows.WaitForSingleObject(process, 0)
	return err == nil && state == uint32(windows.WAIT_TIMEOUT)
}

// IsDescendant implements desktop.Programs. Windows does not forget the parent of a process whose parent has ended, but may give its
// number to a younger process; that is no parent then.
func (*Launcher) IsDescendant(pid, ancestor int) bool {
	parents := parents()
	const maxGenerations = 50
	child := uint32(pid)
	for range maxGenerations {
		parent, ok := parents[child]
		if !ok || parent == 0 {
			return false
		}
		begun, born := started(parent), started(child)
		if !begun.IsZero() && !born.IsZero() && begun.After(born) {
			return false
		}
		if parent == uint32(ancestor) {
			return true
		}
		child = parent
	}
	return false
}

// parents returns the parent of each process.
func parents() map[uint32]uint32 {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(snapshot) //nolint:errcheck // it was only read
	found := make(map[uint32]uint32)
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		found[entry.ProcessID] = entry.ParentProcessID
	}
	return found
}

// started returns the start of a process, or a zero time if it has ended or may not be asked.
func started(pid uint32) time.Time {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return time.Time{}
	}
	defer windows.CloseHandle(process) //nolint:errcheck // it was only read
	var begun, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(process, &begun, &ended, &kernel, &user) != nil {
		return time.Time{}
	}
	return time.Unix(0, begun.Nanoseconds())
}

// LacksAccessibility implements desktop.Programs: Windows itself describes each window, at least its frame.
func (*Launcher) LacksAccessibility(int) bool { return false }
