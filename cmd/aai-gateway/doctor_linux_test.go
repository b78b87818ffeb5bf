package main

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// brokenMachine is a computer with one fault.
type brokenMachine struct {
	name  string
	make  func(t *testing.T, bin string) *machine
	check string // check that names it
	state string
	saw   []string // expected texts, in the finding or its details
	stdin string   // input for the remedy's prompts
	fixes bool     // --fix repairs it too
	after string   // expected state afterwards; empty: "ok"

	others string // checks skipped because of it
}

// fixedMachine returns a computer without faults, then runs the commands.
func fixedMachine(commands ...string) func(*testing.T, string) *machine {
	return func(t *testing.T, bin string) *machine {
		m := desktopMachine(t, bin)
		for _, c := range commands {
			m.do(c)
		}
		return m
	}
}

// startsNothing is the configuration of a bus that starts no services.
const startsNothing = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=/run/user/0/bus</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`

// oldDescriptor has a version that was never published.
const oldDescriptor = `{"schema_version": "0.9", "platform": "linux", "app": {"id": "org.example.Old", "name": "Old", "description": "Old."},
 "execution": {"type": "dbus", "service": "org.example.Old", "object": "/", "interface": "org.example.Old"}, "tools": []}`

func brokenMachines() []brokenMachine {
	return []brokenMachine{
		{name: "no bus", check: "bus", state: "broken", saw: []string{"there is none"}, make: func(t *testing.T, bin string) *machine {
			m := newMachine(t, bin)
			m.startScreen()
			m.do(`export DISPLAY=$(cat /tmp/display)`)
			return m
		}},
		{name: "a bus that has gone", check: "bus", state: "broken", saw: []string{"does not answer"}, fixes: true, make: func(t *testing.T, bin string) *machine {
			m := newMachine(t, bin)
			m.startScreen()
			m.do(`export DISPLAY=$(cat /tmp/display) DBUS_SESSION_BUS_ADDRESS=unix:path=/tmp/bus`)
			return m
		}},
		{name: "a bus that hangs", check: "bus", state: "broken", saw: []string{"sends no answer"}, others: "service", make: func(t *testing.T, bin string) *machine {
			m := newMachine(t, bin)
			m.startBus("")
			m.startScreen()
			m.do(`export DISPLAY=$(cat /tmp/display); kill -STOP $(pidof dbus-daemon)`)
			return m
		}},
		{name: "no display and no user manager", check: "screen", state: "broken", saw: []string{"accepts you"}, make: func(t *testing.T, bin string) *machine {
			m := newMachine(t, bin)
			m.startBus("")
			m.startScreen()
			return m
		}},
		{name: "no accessibility bus", check: "accessibility", state: "broken", saw: []string{"there is no accessibility bus"}, fixes: true, make: func(t *testing.T, bin string) *machine {
			m := newMachine(t, bin)
			m.startBus(startsNothing)
			m.startScreen()
			m.startManager("$(cat /tmp/display)")
			return m
		}},
		{name: "accessibility switched off", check: "accessibility", state: "broken", saw: []string{"switched off"}, fixes: true, make: func(t *testing.T, bin string) *machine {
			m := desktopMachine(t, bin)
			m.accessible("false")
			return m
		}},
		{name: "no display", check: "screen", state: "broken", saw: []string{"there is none"}, make: func(t *testing.T, bin string) *machine {
			m := newMachine(t, bin)
			m.do(`mkdir -m 1777 /tmp/.X11-unix`)
			m.startBus("")
			m.startManager("")
			return m
		}},
		{name: "a display that nothing names", check: "screen", state: "broken", saw: []string{"accepts you"}, fixes: true, make: func(t *testing.T, bin string) *machine {
			m := newMachine(t, bin)
			m.startBus("")
			m.startScreen()
			m.startManager("")
			return m
		}},
		{name: "locked keyring", check: "keychain", state: "broken", saw: []string{"locked"}, stdin: "password", make: func(t *testing.T, bin string) *machine {
			m := desktopMachine(t, bin)
			m.unlock()
			m.do(onMachineBus(`sh -c 'printf secret | secret-tool store --label one a b'`))
			m.do(`kill -9 $(pidof gnome-keyring-daemon)`)
			m.unowned("org.freedesktop.secrets")
			m.do(onMachineBus(`gnome-keyring-daemon --foreground --components=secrets >/dev/null 2>&1 &`))
			m.owned("org.freedesktop.secrets")
			return m
		}},
		{name: "full disk", check: "home", state: "broken", saw: []string{"is full", "~/.cache/aai-gateway"}, fixes: true, after: "note", make: fixedMachine(
			`mount -o remount,size=40m /root`, `mkdir -p .cache/aai-gateway`, `dd if=/dev/zero of=.cache/aai-gateway/pages bs=1M count=32 2>/dev/null`,
			`dd if=/dev/zero of=rest bs=64k 2>/dev/null; test $(stat -f -c %a .) -lt 20`)},
		{name: "little space", check: "home", state: "note", saw: []string{"MB are free on the disk of", "runs of workflows: 0.0 MB of at most 256; its disk has "}, after: "note", make: fixedMachine(
			`mount -o remount,size=40m /root`)},
		{name: "read-only home", check: "home", state: "broken", saw: []string{"read-only"}, make: fixedMachine(`mount --bind /root /root`, `mount -o remount,bind,ro /root`)},
		{name: "read-only file system", check: "home", state: "broken", saw: []string{"read-only"}, make: fixedMachine(`cd /`, `mount -o remount,ro /root`)},
		{name: "wrong clock", check: "clock", state: "broken", saw: []string{"~/.aai/config.json was written on 2099-01-01"}, make: fixedMachine(`mkdir -p .aai`, `echo '{}' >.aai/config.json`, `touch -d 2099-01-01 .aai/config.json`)},
		{name: "damaged configuration", check: "settings", state: "broken", saw: []string{"/root/.aai/config.json", "line 2"}, fixes: true, make: fixedMachine(`mkdir -p .aai`, `printf '{\n "logLevel": warn\n}\n' >.aai/config.json`)},
		{name: "a setting that is none", check: "settings", state: "broken", saw: []string{"/root/.aai/config.json", "logLevel"}, fixes: true, make: fixedMachine(`mkdir -p .aai`, `echo '{"logLevel": "loud"}' >.aai/config.json`)},
		{name: "files of others", check: "settings", state: "broken", saw: []string{"files that others may have changed are not used", "/root/.aai"}, fixes: true, make: fixedMachine(`mkdir -p .aai .local/share/aai-gateway`, `chmod 0777 .aai`, `chmod 0775 .local/share/aai-gateway`)},
		{name: "variables that are wrong", check: "settings", state: "broken", saw: []string{"AAI_PROFILE: profile: expected"}, make: fixedMachine(`export AAI_PROFILE=bad`)},
		{name: "a log that cannot be", check: "settings", state: "broken", saw: []string{"AAI_LOG_FILE: logFile: /dev/full is no regular file"}, make: fixedMachine(`export AAI_LOG_FILE=/dev/full`)},
		{name: "a pipe for a journal", check: "journal", state: "broken", saw: []string{"audit.jsonl cannot be written", "named pipe"}, fixes: true, others: "keychain descriptors",
			make: fixedMachine(`mkdir -p .local/share/aai-gateway`, `mkfifo -m 600 .local/share/aai-gateway/audit.jsonl`)},
		{name: "a pipe for its key", check: "journal", state: "broken", saw: []string{"audit.jsonl.key cannot be written", "named pipe"}, fixes: true, others: "keychain descriptors",
			make: fixedMachine(`mkdir -p .local/share/aai-gateway`, `mkfifo -m 600 .local/share/aai-gateway/audit.jsonl.key`)},
		{name: "old descriptor", check: "descriptors", state: "broken", saw: []string{"~/.aai/org.example.Old/aai.json", "schema_version"}, make: fixedMachine(`mkdir -p .aai/org.example.Old`, `echo '`+oldDescriptor+`' >.aai/org.example.Old/aai.json`)},
		{name: "second gateway", check: "gateways", state: "note", saw: []string{"1 other gateway", "serves on standard input"}, make: fixedMachine(`sleep 1000 | aai-gateway >/dev/null 2>&1 &`, `until pidof aai-gateway; do sleep 0.05; done`)},
		{name: "a client with a bare environment", check: "client", state: "note", saw: []string{"DISPLAY"}, fixes: true, make: func(t *testing.T, bin string) *machine {
			m := newMachine(t, bin)
			m.startBus("")
			m.startScreen()
			m.startManager("")
			m.do(`export DISPLAY=$(cat /tmp/display)`)
			return m
		}},
	}
}

// On a computer without faults the doctor reports "ok" for everything. It names each fault with a
// remedy that works as printed; so does --fix.
func TestDoctor(t *testing.T) {
	bin := binaries(t)
	t.Run("green", func(t *testing.T) {
		m := desktopMachine(t, bin)
		m.accessible("true")
		m.unlock()
		r, exit := m.doctor("")
		left := m.do(`ls /tmp /tmp/.X11-unix | grep aai-doctor; pidof zenity; ls /tmp/.X11-unix | sed 1d; pidof Xvfb | cut -d' ' -f2- -s`)
		assert.Check(t, is.Equal(strings.TrimSpace(left), ""), "this is left: %s", left)
		for _, f := range r.Checks {
			assert.Check(t, is.Equal(f.State, "ok"), "%s %s", f.Check, f.Saw)
			assert.Check(t, is.Len(f.Commands, 0), "%s %s", f.Check, f.Saw)
		}
		for check, saw := range map[string]string{
			"keychain": "the secret was read back unchanged", "window": "zenity printed the typed text", "web": "answered after it", "journal": "a changed byte is detected",
			"service": "returned as", "client": "it lists ", "screen": ", from the user manager",
		} {
			f := r.of(t, check)
			assert.Check(t, is.Contains(f.Saw, saw), "of %s it saw %s", check, f.Saw)
		}
		kept := m.do(onMachineBus(`secret-tool search --all service aai-gateway 2>&1; true`))
		assert.Check(t, !strings.Contains(kept, "trial"), "the keyring has %s", kept)
		assert.Equal(t, exit, 0, r)
		assert.Assert(t, is.Len(r.Checks, 17), r)
		assert.Equal(t, r.State, "ok", r)
	})
	t.Run("without a desktop", func(t *testing.T) { doctorWithoutADesktop(t, newMachine(t, bin)) })
	t.Run("programs that are not there", func(t *testing.T) { doctorWithLess(t, desktopMachine(t, bin)) })
	t.Run("a journal without its state", func(t *testing.T) { doctorWithoutAState(t, newMachine(t, bin)) })
	t.Run("not this home", func(t *testing.T) { doctorElsewhere(t, newMachine(t, bin)) })
	for _, b := range brokenMachines() {
		t.Run(b.name, func(t *testing.T) { b.mended(t, bin) })
	}
}

// mended checks that the doctor names the fault, its commands work as printed, and then all is
// well.
func (b brokenMachine) mended(t *testing.T, bin string) {
	m := b.make(t, bin)
	const quick = "--skip window"
	r, exit := m.doctor(quick)
	f := r.of(t, b.check)
	broken := b.state == "broken"
	assert.Equal(t, f.State, b.state, "%d %s", exit, r)
	assert.Assert(t, len(f.Commands) != 0, "exit code %d: %s", exit, r)
	assert.Equal(t, broken, (exit == 1), "%d %s", exit, r)
	assert.Equal(t, broken, (r.State == "broken"), "%d %s", exit, r)
	for _, saw := range b.saw {
		assert.Check(t, is.Contains(f.Saw+"\n"+strings.Join(f.Details, "\n"), saw), r)
	}
	for _, other := range strings.Fields(b.others) {
		o := r.of(t, other)
		assert.Equal(t, o.State, "skipped", "%s %+v", other, o)
		assert.Assert(t, is.Contains(o.Saw, "see "), "%s %+v", other, o)
		assert.Assert(t, is.Len(o.Commands, 0), "%s %+v", other, o)
	}
	assert.Check(t, is.Equal(b.fixes, (f.Mends != "")), "--fix would do %q", f.Mends)
	for _, command := range f.Commands {
		if b.stdin != "" {
			command = "printf " + b.stdin + " | " + command
		}
		m.do(command)
	}
	after := b.after
	if after == "" {
		after = "ok"
	}
	m.becomes(b.check, after, "")
	if t.Failed() || !b.fixes {
		return
	}
	m = b.make(t, bin)
	r, _ = m.doctor("--fix --yes " + quick)
	assert.Check(t, is.Equal(r.of(t, b.check).Mended, "done"), r)
	m.becomes(b.check, after, quick)
}

// doctorWithoutADesktop: checks of a missing desktop can be skipped, as the help says.
func doctorWithoutADesktop(t *testing.T, m *machine) {
	r, exit := m.doctor("--skip screen,window,accessibility,bus")
	assert.Check(t, is.Equal(exit, 0), r)
	assert.Check(t, is.Equal(r.State, "ok"), r)
	assert.Check(t, is.Equal(r.of(t, "window").State, "skipped"), r)
	said, exit := m.types("aai-gateway doctor --skip windows")
	assert.Check(t, is.Equal(exit, 2))
	assert.Check(t, is.Contains(said, "Did you mean: window"))
	names := []string{}
	for _, f := range r.Checks {
		names = append(names, f.Check)
	}
	assert.Check(t, slices.Equal(names, strings.Fields("settings home clock bus screen accessibility window question service web journal keychain pictures descriptors gateways stop client")), "the names are %q", names)
}

// doctorWithoutAState: a journal whose state was removed is a finding, also after further records, and
// its verification fails.
func doctorWithoutAState(t *testing.T, m *machine) {
	m.do(`aai-gateway apps && rm .local/share/aai-gateway/audit.jsonl.chain`)
	for range 2 {
		r, exit := m.doctor("--skip home,bus,screen,accessibility,window,question,service,web,keychain,descriptors,gateways,client")
		f := r.of(t, "journal")
		assert.Equal(t, exit, 0, r)
		assert.Equal(t, f.State, "note", r)
		assert.Assert(t, is.Contains(f.Saw, "yours is unproven at record "), r)
		assert.Assert(t, slices.Equal(f.Commands, []string{"aai-gateway audit verify"}), "exit code %d: %s", exit, r)
	}
	said, exit := m.types("aai-gateway audit verify")
	assert.Check(t, is.Equal(exit, 1))
	assert.Check(t, is.Contains(said, "unproven at record "))
}

// doctorElsewhere: the doctor ignores a gateway with another home, and a bundle without disk space
// leaves nothing.
func doctorElsewhere(t *testing.T, m *machine) {
	const rest = " --skip settings,bus,screen,accessibility,window,question,service,web,journal,keychain,descriptors,client"
	m.do(`mkdir -p /tmp/other /tmp/small; sleep 1000 | HOME=/tmp/other aai-gateway >/dev/null 2>&1 &`)
	m.await(`pidof aai-gateway`)
	r, exit := m.doctor(rest)
	f := r.of(t, "gateways")
	assert.Check(t, is.Equal(exit, 0), "%+v", f)
	assert.Check(t, is.Equal(f.State, "ok"), "%+v", f)
	assert.Check(t, len(f.Commands)+len(f.Details) <= 0, "exit code %d: %+v", exit, f)
	m.do(`mount -t tmpfs -o size=4k none /tmp/small; dd if=/dev/zero of=/tmp/small/rest bs=4k count=1 2>/dev/null`)
	said, exit := m.types(`aai-gateway doctor --bundle /tmp/small/report.zip` + rest)
	left := m.do(`ls /tmp/small`)
	assert.Check(t, exit != 0, "exit code %d, and there is %q: %s", exit, left, said)
	assert.Check(t, is.Equal(strings.TrimSpace(left), "rest"), "%d %q %s", exit, left, said)
}

// doctorWithLess: another program's window serves, and one on the user's screen with consent;
// missing parts are named.
func doctorWithLess(t *testing.T, m *machine) {
	const others = " --skip service,web,journal,keychain,descriptors,client"
	without := func(program string) { m.do("mount --bind /dev/null " + program) }
	window := func(flags, state, did, saw, command string) {
		t.Helper()
		r, exit := m.doctor(flags + others)
		f := r.of(t, "window")
		if f.State != state || !strings.Contains(f.Did, did) || !strings.Contains(f.Saw, saw) || exit != 0 || !strings.Contains(strings.Join(f.Commands, ""), command) {
			t.Errorf("exit code %d: %+v", exit, f)
		}
	}
	m.accessible("true")
	without("/usr/bin/zenity")
	window("", "ok", "in a session of its own", "kdialog printed the typed text", "")
	m.do("umount /usr/bin/zenity")
	without("/usr/bin/Xvfb")
	window("", "skipped", "", "no person can allow", " xvfb")
	window("--yes", "ok", "in your session", "zenity printed the typed text", "")
	m.do("export LANG=xx_YY.UTF-8")
	if r, _ := m.doctor(others + " --yes"); r.of(t, "question").State != "ok" {
		t.Errorf("a locale that is not installed: %+v", r.of(t, "question"))
	}
	without("/usr/bin/zenity")
	without("/usr/bin/kdialog")
	window("", "skipped", "", "no program for a test window is installed", " zenity")

	without("/usr/libexec/at-spi-bus-launcher")
	m.do("mkdir /tmp/none; mount --bind /tmp/none /usr/share/dbus-1/services")
	m.do("kill $(pidof at-spi-bus-launcher); kill -HUP $(pidof dbus-daemon | tr ' ' '\\n' | sort -n | head -1)")
	r, exit := m.doctor(others)
	f := r.of(t, "accessibility")
	assert.Equal(t, exit, 1, "%+v", f)
	assert.Equal(t, f.State, "broken", "%+v", f)
	assert.Assert(t, is.Len(f.Commands, 1), "%+v", f)
	assert.Assert(t, is.Contains(f.Commands[0], "at-spi2-core"), "%+v", f)
}
