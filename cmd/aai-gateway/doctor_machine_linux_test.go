package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// machine is an isolated computer for its programs: processes, mounts, the home, the runtime
// folder. A shell in it has only HOME and PATH. Everything ends with the test.
type machine struct {
	t     *testing.T
	shell io.Writer
	said  *bufio.Reader
}

// Paths in a machine.
const (
	machineHome = "/root"
	machineBin  = "/run/aai/bin"
	machineBus  = "/run/user/0/bus"
	machinePath = machineBin + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
)

// desktopMachine returns a computer with a desktop: a bus, a screen, and a user manager that knows it.
func desktopMachine(t *testing.T, bin string) *machine {
	m := newMachine(t, bin)
	m.startBus("")
	m.startScreen()
	m.startManager("$(cat /tmp/display)")
	return m
}

// startScreen starts a screen that the machine does not know yet.
func (m *machine) startScreen() {
	m.do(`mkdir -m 1777 /tmp/.X11-unix`)
	m.do(`Xvfb -displayfd 3 -screen 0 800x600x24 -nolisten tcp 3>/tmp/number 2>/dev/null &`)
	m.await(`test -s /tmp/number`)
	m.do(`echo :$(cat /tmp/number) >/tmp/display`)
}

// startManager starts the user manager with a screen, or without one.
func (m *machine) startManager(display string) {
	m.do(`mkdir -p /run/user/0/systemd`) // by which programs detect systemd
	m.do(onMachineBus(`DISPLAY=` + display + ` user-manager &`))
	m.owned("org.freedesktop.systemd1")
}

// owned waits until the name has an owner on the bus.
func (m *machine) owned(name string) {
	m.await(ownerOf(name))
}

// unowned waits until the name has no owner: a killed process may keep it for a moment.
func (m *machine) unowned(name string) { m.await("! " + ownerOf(name)) }

// ownerOf returns a command that fails if the name has no owner.
func ownerOf(name string) string {
	return onMachineBus(`dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner string:` + name + ` >/dev/null`)
}

// accessible switches accessibility on or off.
func (m *machine) accessible(on string) {
	m.do(onMachineBus(`dbus-send --session --print-reply --dest=org.a11y.Bus /org/a11y/bus org.freedesktop.DBus.Properties.Set string:org.a11y.Status string:IsEnabled variant:boolean:` + on))
}

// unlock starts an unlocked keyring.
func (m *machine) unlock() {
	m.do(onMachineBus(`sh -c 'printf password | gnome-keyring-daemon --replace --unlock --components=secrets --daemonize'`))
	m.owned("org.freedesktop.secrets")
}

// startBus starts the session bus of the login. It starts services, unless the configuration
// differs.
func (m *machine) startBus(config string) {
	which := "--session"
	if config != "" {
		m.file("/tmp/bus.conf", config)
		which = "--config-file=/tmp/bus.conf"
	}
	m.do(`install -d -m 0700 /run/user/0 && dbus-daemon ` + which + ` --fork --nopidfile --address=unix:path=` + machineBus + ` 2>/dev/null`)
}

// file writes a file.
func (m *machine) file(path, content string) {
	m.do("mkdir -p " + filepath.Dir(path) + " && cat >" + path + " <<'END OF FILE'\n" + content + "\nEND OF FILE")
}

func onMachineBus(command string) string {
	return "XDG_RUNTIME_DIR=/run/user/0 DBUS_SESSION_BUS_ADDRESS=unix:path=" + machineBus + " " + command
}

// newMachine returns a computer without processes.
func newMachine(t *testing.T, bin string) *machine {
	t.Helper()
	// The machine has its own copies of the folders that programs write to.
	const inside = `set -e
mount -t tmpfs -o mode=0755 none /run
mkdir -p /run/aai/bin
mount --bind "$1" /run/aai/bin
mount -t tmpfs -o mode=1777 none /tmp
mount -t tmpfs -o mode=0700,size=300m none /root
cd /root
set +e
exec sh`
	args := []string{"--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--ipc"}
	if os.Geteuid() != 0 {
		args = append(args, "--map-root-user")
	}
	cmd := exec.CommandContext(t.Context(), "unshare", append(args, "sh", "-c", inside, "sh", bin)...)
	cmd.Env = []string{"HOME=" + machineHome, "PATH=" + machinePath}
	in, err := cmd.StdinPipe()
	assert.NilError(t, err)
	out, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	cmd.Stderr = cmd.Stdout
	assert.NilError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL) // with all its processes
		_ = cmd.Wait()
	})
	return &machine{t: t, shell: in, said: bufio.NewReader(out)}
}

// binaries returns a folder with the released program, and this test binary under the names of its
// doubles.
func binaries(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(folder, "aai-gateway"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	self, err := os.Executable()
	assert.NilError(t, err)
	for _, name := range []string{"user-manager"} {
		assert.NilError(t, exec.CommandContext(t.Context(), "cp", self, filepath.Join(folder, name)).Run())
	}
	return folder
}

// types types a command at the shell, and returns its output and exit code.
func (m *machine) types(command string) (said string, exit int) {
	m.t.Helper()
	const mark = "the exit code of that was "
	_, err := fmt.Fprintf(m.shell, "{ %s\n} </dev/null\ncode=$?; echo; echo '%s'$code\n", command, mark)
	assert.NilError(m.t, err, command)
	var all strings.Builder
	for {
		line, err := m.said.ReadString('\n')
		if code, ended := strings.CutPrefix(line, mark); ended {
			exit, err = strconv.Atoi(strings.TrimSpace(code))
			assert.NilError(m.t, err)
			return strings.TrimSuffix(all.String(), "\n"), exit
		}
		all.WriteString(line)
		if err != nil {
			m.t.Fatalf("%s: %v: %s", command, err, all.String())
		}
	}
}

// do types a command that must succeed.
func (m *machine) do(command string) string {
	m.t.Helper()
	said, exit := m.types(command)
	assert.Equal(m.t, exit, 0, "%s: exit code %d: %s", command, exit, said)
	return said
}

// await waits until a command succeeds.
func (m *machine) await(command string) {
	m.t.Helper()
	m.do("for i in $(seq 600); do if " + command + "; then break; fi 2>/dev/null; sleep 0.05; done; " + command)
}

// report is the doctor's JSON report.
type report struct {
	Version int
	State   string
	Next    string
	Checks  []found
}

// found is one finding of it.
type found struct {
	Check, State, Saw, Did, Advice, Mends, Mended string
	Details, Commands                             []string
}

func (r report) of(t *testing.T, check string) found {
	t.Helper()
	i := slices.IndexFunc(r.Checks, func(f found) bool { return f.Check == check })
	assert.Assert(t, i >= 0, "nothing is said of %s: %+v", check, r)
	return r.Checks[i]
}

// doctor runs the doctor.
func (m *machine) doctor(flags string) (r report, exit int) {
	m.t.Helper()
	said, exit := m.types("aai-gateway doctor --format json " + flags + " 2>/tmp/doctor.err")
	// Background processes share the terminal.
	lines := slices.DeleteFunc(strings.Split(said, "\n"), func(line string) bool { return !strings.HasPrefix(line, `{"version"`) })
	err := json.Unmarshal([]byte(strings.Join(lines, "")), &r)
	assert.NilError(m.t, err, said)
	assert.Equal(m.t, r.Version, 1, said)
	return r, exit
}

// becomes waits until the doctor reports the state for a check, and no fault.
func (m *machine) becomes(check, state, flags string) {
	m.t.Helper()
	var last report
	exit := 0
	for begun := time.Now(); time.Since(begun) < 2*time.Minute; time.Sleep(100 * time.Millisecond) { // started processes may not be ready yet
		if last, exit = m.doctor(flags); last.of(m.t, check).State == state && exit == 0 && last.State == "ok" {
			return
		}
	}
	m.t.Errorf("%s is not %s, or something is broken; exit code %d: %s", check, state, exit, last)
}

// String formats the report for test output.
func (r report) String() string {
	lines := []string{r.State + ": " + r.Next}
	for _, f := range r.Checks {
		lines = append(lines, fmt.Sprintf("%-8s %-14s %s %q %s %q %s", f.State, f.Check, f.Saw, f.Details, f.Advice, f.Commands, f.Mended))
	}
	return strings.Join(lines, "\n")
}
