package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// The modes in which a test starts this binary.
const (
	asGateway = "PEER_TEST_GATEWAY" // a file to write the identity into
	asClient  = "PEER_TEST_CLIENT"
)

// The first arguments with which tests start this binary again.
const (
	SupervisorTestArg = "as-supervisor"
	ConcealerTestArg  = "as-concealer"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == SupervisorTestArg:
		os.Exit(RunSupervisor(os.Args[2:]))
	case len(os.Args) > 1 && os.Args[1] == ConcealerTestArg:
		err := HideEnvironment(func(name string) bool { return name == "MY_TOKEN" })
		_, _ = fmt.Println(os.Getenv("MY_TOKEN"), err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	case os.Getenv(asClient) != "":
		_ = os.Unsetenv(asClient)
		cmd := exec.Command(os.Args[1], os.Args[2:]...)
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			err = cmd.Wait()
			_ = in.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case os.Getenv(asGateway) != "":
		file := os.Getenv(asGateway)
		for os.Getenv("PEER_TEST_ORPHAN") != "" && os.Getppid() > 1 && exists(file+".wait") {
			time.Sleep(time.Millisecond)
		}
		if err := os.WriteFile(file, []byte("is "+PeerIdentity(os.Stdin)), 0o600); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// seen starts a program that is to start this binary, by the path after all arguments, and
// returns the identity that the binary sees at its standard input.
func seen(t *testing.T, env []string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "seen")
	cmd := exec.CommandContext(t.Context(), args[0], append(args[1:], self(t))...)
	cmd.Env = append(append(os.Environ(), asGateway+"="+file), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
	return strings.TrimPrefix(string(text), "is ")
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	assert.NilError(t, err)
	return path
}

// The clients: each starts the given program, and communicates with it as the SDKs of its
// language do.
const (
	nodeClient = "#!/usr/bin/env node\n" + startsNode
	startsNode = `const c = require('child_process').spawn(process.argv[2], process.argv.slice(3), {stdio: ['pipe', 'inherit', 'inherit']});
c.on('exit', code => process.exit(code ?? 1));
`
	titledClient  = "process.title = 'claude';\n" + startsNode
	pythonClient  = "import subprocess, sys\np = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)\nsys.exit(p.wait())\n"
	asyncioClient = `import asyncio, sys
async def main():
    p = await asyncio.create_subprocess_exec(*sys.argv[1:], stdin=asyncio.subprocess.PIPE)
    return await p.wait()
sys.exit(asyncio.run(main()))
`
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o755))
	return path
}

// folderOf is a folder by its real path.
func folderOf(t *testing.T) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	return folder
}

// TestClientsAreToldApart: clients in node, Python and Go, by sockets and pipes, directly and
// through shells and launchers, have their own identities.
func TestClientsAreToldApart(t *testing.T) {
	folder := folderOf(t)
	node := write(t, folder+"/node/cli.js", nodeClient)
	plain, async := write(t, folder+"/py/agent.py", pythonClient), write(t, folder+"/py/async.py", asyncioClient)
	goClient := write(t, folder+"/go/client", "")
	copyFile(t, self(t), goClient)
	nodePackage(t, folder+"/work/node_modules/agent")
	ours := ourPackage(t, folder+"/ours")
	client := asClient + "=1"
	for name, c := range map[string]struct {
		env  []string
		args []string
		ends string
	}{
		"node":                   {nil, []string{"node", node}, "/node " + node},
		"node through shells":    {nil, []string{"sh", "-c", `bash -c 'node "$0" env timeout 60 sh -c "\"\$0\"" "$1"; exit' "$0" "$1"`, node}, "/node " + node},
		"node that has a title":  {nil, []string{"node", write(t, folder+"/t/cli.js", titledClient)}, ""},
		"node by npx":            {nil, []string{"sh", "-c", `cd "$0" && npx --offline agent "$1"`, folder + "/work"}, "/node " + folder + "/work/node_modules/agent/cli.js"},
		"node, and then npx":     {[]string{"GATEWAY=" + self(t)}, []string{"node", node, "sh", "-c", `cd "$0" && exec npx --offline gateway`, folder + "/work"}, "/node " + node},
		"node, and then ours":    {nil, []string{"node", node, "node", ours}, "/node " + node},
		"Python":                 {nil, []string{"python3", plain}, " " + plain},
		"Python through env":     {nil, []string{"env", "A=1", "nice", "python3", plain, "sh", "-c", `"$0"; exit`}, " " + plain},
		"Python by a socket":     {nil, []string{"python3", async, "setsid", "--wait"}, " " + async},
		"Python, then a helper":  {nil, []string{"python3", plain, "python3", write(t, folder+"/helper.py", "import subprocess, sys\nsys.exit(subprocess.run(sys.argv[1:]).returncode)\n")}, " " + plain},
		"Go":                     {[]string{client}, []string{goClient}, goClient},
		"Go through a shell":     {[]string{client}, []string{goClient, "sh", "-c", `"$0"; exit`}, goClient},
		"a shell, and then ours": {[]string{client}, []string{goClient, "bash", "-c", `echo | node "$0" "$1" | cat`, ours}, goClient},
		"a shell of an agent":    {[]string{client}, []string{goClient, "bash", "-c", `echo | "$0" | cat`}, goClient},
	} {
		got := seen(t, c.env, c.args...)
		assert.Assert(t, strings.HasSuffix(got, c.ends), "%s is %q; want it to end in %q", name, got, c.ends)
		assert.Assert(t, c.ends != "" || got == "", "%s is %q; want it to end in %q", name, got, c.ends)
	}
}

// nodePackage makes a package of node's that has a client and a server.
func nodePackage(t *testing.T, folder string) {
	t.Helper()
	write(t, folder+"/package.json", `{"name": "agent", "version": "1.0.0", "bin": {"agent": "cli.js", "gateway": "gateway.js"}}`)
	write(t, folder+"/cli.js", nodeClient)
	write(t, folder+"/gateway.js", "#!/usr/bin/env node\nrequire('child_process').spawnSync(process.env.GATEWAY, {stdio: 'inherit'});\n")
	bin := filepath.Join(filepath.Dir(folder), ".bin")
	assert.NilError(t, os.MkdirAll(bin, 0o755))
	for name, file := range map[string]string{"agent": "cli.js", "gateway": "gateway.js"} {
		assert.NilError(t, os.Symlink("../agent/"+file, filepath.Join(bin, name)))
	}
}

// ourPackage installs our npm package, which starts this binary, and returns its script.
func ourPackage(t *testing.T, folder string) string {
	t.Helper()
	launcher, err := os.ReadFile("../../packaging/npm/aai-gateway.js")
	assert.NilError(t, err)
	write(t, folder+"/package.json", `{"name": "ours", "version": "1.0.0", "optionalDependencies": {"ours-linux-x64": "1.0.0", "ours-linux-arm64": "1.0.0"}}`)
	for _, name := range []string{"ours-linux-x64", "ours-linux-arm64"} {
		bin := folder + "/node_modules/" + name + "/bin/"
		assert.NilError(t, os.MkdirAll(bin, 0o755))
		copyFile(t, self(t), bin+"aai-gateway")
	}
	return write(t, folder+"/aai-gateway.js", string(launcher))
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(to, b, 0o755))
}

// TestAnUpdateOfAClientIsTheSame: a new version in a new folder keeps the identity; another
// program beside it differs.
func TestAnUpdateOfAClientIsTheSame(t *testing.T) {
	testkit.Need(t, "node")
	folder := folderOf(t)
	of := func(path string) string {
		if strings.HasSuffix(path, ".js") {
			return seen(t, nil, "node", write(t, path, nodeClient))
		}
		write(t, path, "")
		copyFile(t, self(t), path)
		return seen(t, []string{asClient + "=1"}, path)
	}
	one, next := of(folder+"/claude/versions/1.0.58"), of(folder+"/claude/versions/1.0.59")
	assert.Check(t, is.Equal(one, next))
	assert.Check(t, is.Equal(one, folder+"/claude/versions/*"))
	npx, again := of(folder+"/_npx/12ab/node_modules/agent/cli.js"), of(folder+"/_npx/34cd/node_modules/agent/cli.js")
	assert.Check(t, is.Equal(npx, again))
	assert.Check(t, npx != of(folder+"/_npx/12ab/node_modules/other/cli.js"), "it was %q, and is %q", npx, again)
}

// TestNobodyCertain: a peer that has ended, or is not visible, has no identity.
func TestNobodyCertain(t *testing.T) {
	folder := folderOf(t)
	file := filepath.Join(folder, "seen")
	orphan := func(in *os.File) string {
		t.Helper()
		write(t, file+".wait", "")
		cmd := exec.CommandContext(t.Context(), "sh", "-c", `"$0" <&3 3<&- & exit 0`, self(t))
		cmd.Env = append(os.Environ(), asGateway+"="+file, "PEER_TEST_ORPHAN=1")
		cmd.ExtraFiles = []*os.File{in}
		assert.NilError(t, cmd.Run())
		_ = os.Remove(file + ".wait") // its parent has ended
		for !exists(file) {
			time.Sleep(time.Millisecond)
		}
		text, err := os.ReadFile(file)
		for err == nil && len(text) == 0 {
			text, err = os.ReadFile(file)
		}
		_ = os.Remove(file)
		return string(text)
	}
	null, err := os.Open(os.DevNull)
	assert.NilError(t, err)
	defer null.Close() //nolint:errcheck // it was only read
	// The process that started an orphan is never taken for its peer.
	got := orphan(null)
	assert.Check(t, got != "is "+readPeerFacts(os.Getpid()).identity(), "without a parent it %s", got)
	if h, err := parentOf(1, func() bool { return true }); err == nil {
		t.Errorf("the first process is a child of %d", h.pid)
	}
	// The other end of an internet socket is no process of this account.
	fds, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	assert.NilError(t, err)
	socket := os.NewFile(uintptr(fds), "socket")
	defer socket.Close() //nolint:errcheck // nothing was written
	got = PeerIdentity(socket)
	assert.Check(t, is.Equal(got, ""), "a socket of the internet is %q", got)
}

// TestASocketsMakerThatHasEnded: its number may be another's by now.
func TestASocketsMakerThatHasEnded(t *testing.T) {
	testkit.Need(t, "python3")
	listener := filepath.Join(t.TempDir(), "socket")
	p := testkit.StartProcess(t, exec.CommandContext(t.Context(), "python3", "-c", "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\ns.listen()\nprint(flush=True)\nsys.stdin.read()", listener))
	p.ReadLine(t)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	assert.NilError(t, err)
	socket := os.NewFile(uintptr(fd), "socket")
	defer socket.Close() //nolint:errcheck // nothing was written
	assert.NilError(t, unix.Connect(fd, &unix.SockaddrUnix{Name: listener}))
	got := PeerIdentity(socket)
	assert.Check(t, is.Contains(got, "python3 code:"), "the maker of the socket is %q", got)
	assert.NilError(t, p.Close())
	got = PeerIdentity(socket)
	assert.Check(t, is.Equal(got, ""), "a maker that has ended is %q", got)
}

// TestHostChecker: the hosts of this process are its ancestors, and no others.
func TestHostChecker(t *testing.T) {
	hosts := HostChecker(nil)
	if !hosts(os.Getppid()) || hosts(os.Getpid()) || hosts(1) || hosts(1<<30) {
		t.Errorf("the parent: %v, the process: %v, the first one: %v, nobody: %v", hosts(os.Getppid()), hosts(os.Getpid()), hosts(1), hosts(1<<30))
	}
	child := exec.CommandContext(t.Context(), "sleep", "60")
	assert.NilError(t, child.Start())
	assert.Assert(t, !hosts(child.Process.Pid), "a child is a host")
	assert.Assert(t, !HostChecker(nil)(child.Process.Pid), "a child is a host")
	_ = child.Process.Kill()
	_ = child.Wait() // it was killed
}
