package script

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/script/child"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// timeOut begins the error of a script that reached its deadline.
const timeOut = "TIMEOUT: "

// hostileScripts maps scripts that fail to the beginning of their error.
func hostileScripts() map[string]string {
	const memory, thrown = "AUTOMATION_FAILED: the script used more than", "AUTOMATION_FAILED: "
	return map[string]string{
		`while (true) {}`:                     timeOut,
		`/(a+)+$(?=b)/.test("a".repeat(100))`: timeOut,
		`sleep(1e9)`:                          timeOut,
		`sleep(Infinity)`:                     timeOut,
		`while (true) { try { call("nobody", "x") } catch {} }`:                       "",
		`call("org.example.notes", "hang")`:                                           timeOut,
		`"xx".repeat(2e9).length`:                                                     "AUTOMATION_FAILED: ",
		`new ArrayBuffer(8e9)`:                                                        "AUTOMATION_FAILED: ",
		`new Uint8Array(1e9).fill(1)`:                                                 memory,
		`const a = new Uint8Array(2.8e8); while (true) a.fill(1)`:                     memory,
		`let s = "x"; while (true) s += s`:                                            "AUTOMATION_FAILED: ",
		`const a = []; while (true) a.push(new Array(1000).fill(7))`:                  memory,
		`let s = "é".repeat(1e8); while (true) s += s`:                                memory,
		`function f() { return f() + 1 } f()`:                                         "AUTOMATION_FAILED: line 1: its functions call each other too deeply",
		`const f = () => [1].map(f); f()`:                                             thrown,
		`JSON.parse("[".repeat(1e6))`:                                                 thrown,
		strings.Repeat("(", 1_000_000):                                                "AUTOMATION_FAILED: the script, or a value in it, is nested too deeply",
		`const a = {}; a.a = a; a`:                                                    "AUTOMATION_FAILED: its result is not JSON: TypeError: Converting circular structure to JSON",
		`10n`:                                                                         "AUTOMATION_FAILED: ",
		`({toJSON() { while (true) {} }})`:                                            timeOut,
		`({toJSON() { return this.toJSON() }})`:                                       thrown,
		`({get a() { throw "no" }})`:                                                  "AUTOMATION_FAILED: line 1: its result is not JSON: no",
		`({get a() { while (true) {} }})`:                                             timeOut,
		`new Proxy({}, {ownKeys() { throw 1 }})`:                                      thrown,
		`throw {get code() { throw 1 }, toString() { throw 2 }}`:                      "AUTOMATION_FAILED: ",
		`throw {toString() { while (true) {} }}`:                                      timeOut,
		`call("org.example.notes", "read", {get cell() { throw new Error("mine") }})`: "AUTOMATION_FAILED: line 1: Error: mine",
		`call("org.example.notes", "read", "x".repeat(3e6))`:                          thrown,
		`call("org.example.notes", "read", {a: "x".repeat(3e6)})`:                     "AUTOMATION_FAILED: line 1: INVALID_PARAMS",
		`call("org.example.notes", "read", {a: "<".repeat(1.9e6)})`:                   "AUTOMATION_FAILED: line 1: INVALID_PARAMS: the arguments have more than 1024 KiB",
		`call("<".repeat(9e6), "read")`:                                               "AUTOMATION_FAILED: line 1: INVALID_PARAMS: the message is too long",
		`call("org.example.notes", "read", {a: 10n})`:                                 thrown,
		`constructor.constructor("return process")().exit()`:                          thrown,
		`constructor.constructor("return this")().process.env`:                        thrown,
		`require("fs")`:                                                               thrown,
		`new Promise(() => {})`:                                                       "AUTOMATION_FAILED: it awaits a promise that never settles",
		`const f = async () => { while (true) await 1 }; f()`:                         timeOut,
		`Object.defineProperty(Object.prototype, "code", {get() { while (true) {} }}); throw new Error("x")`: timeOut,
	}
}

// containedScripts maps scripts that try to escape to their results.
func containedScripts() map[string]string {
	return map[string]string{
		`Symbol("x")`: `null`,
		`({a: Symbol("x"), b: () => 1, c: undefined, d: NaN})`: `{"d":null}`,
		`new Proxy({a: 1}, {get: () => 2})`:                    `{"a":2}`,
		`Object.prototype.app = "x"; Object.prototype.toJSON = undefined; call("org.example.notes", "read", {cell: 1}).value`:             `"v1"`,
		`JSON.stringify = () => "{"; JSON.parse = () => 7; call("org.example.notes", "read", {cell: 1}).value`:                            `"v1"`,
		`Error = class { constructor() { throw 1 } }; try { call("org.example.notes", "fail") } catch (e) { e.code }`:                     `"ELEMENT_NOT_FOUND"`,
		`Object.freeze(Object.prototype); Object.freeze(Error.prototype); try { call("org.example.notes", "fail") } catch (e) { e.code }`: `"ELEMENT_NOT_FOUND"`,
		`Array.prototype.push = Array.prototype.join = null; log("a", 1); call("org.example.notes", "read", {cell: [1]}).cell`:            `[1]`,
		`String.prototype.toString = () => { throw 1 }; log("a"); find("a", "b").by`:                                                      `"b"`,
		`Object.keys(this).sort().join()`:                                         `"args,call,console,find,log,sleep"`,
		`log(Object.create(null)); log(Symbol("x")); log(10n); log(undefined); 1`: `1`,
		"//# sourceMappingURL=/etc/passwd\n1":                                     `1`,
		`"\ud800"`:                                                                `"\ud800"`,
		`({["__proto__"]: 1, ["constructor"]: 2})`:                                `{"__proto__":1,"constructor":2}`,
	}
}

// TestHostileScripts: each ends at its limit with an error that names it, while another caller is
// served; it leaves nothing behind.
func TestHostileScripts(t *testing.T) {
	w := newWorld(t)
	w.answers(t, "1", nil) // allocations of the first remain
	clean := goleak.IgnoreCurrent()
	files := openFiles(t)
	for text, want := range hostileScripts() {
		name := text[:min(len(text), 60)]
		served := make(chan error, 1)
		go func() {
			_, err := w.gateway.Do(t.Context(), &aai.Call{Caller: aai.Caller{Door: aai.DoorCLI, Identity: aai.IdentityTerminal}, App: "org.example.notes", Tool: "read"})
			served <- err
		}()
		patience := json.Number("60000")
		if want == timeOut {
			patience = "400"
		}
		e := w.fails(t, text, map[string]any{"timeout_ms": patience})
		assert.Assert(t, strings.HasPrefix(e.Error(), want), "%s %v %.300v %s", name, e, e.Err, want)
		assert.Assert(t, e.Code != aai.Internal, "%s %v %.300v %s", name, e, e.Err, want)
		assert.Assert(t, e.Message != "", "%s %v %.300v %s", name, e, e.Err, want)
		err := <-served
		assert.Check(t, err, "%s: another was not served: %v", name, err)
		left := children(t, os.Getpid())
		assert.Check(t, is.Len(left, 0), "%s: processes are left: %v", name, left)
	}
	left := openFiles(t)
	assert.Check(t, left <= files, "%d files are open, %d were", left, files)
	goleak.VerifyNone(t, clean)
}

// openFiles returns the number of this process's open files.
func openFiles(t *testing.T) int {
	t.Helper()
	open, err := filepath.Glob("/proc/self/fd/*")
	assert.NilError(t, err)
	return len(open)
}

func TestTricksComeToNothing(t *testing.T) {
	w := newWorld(t)
	for text, want := range containedScripts() {
		a := w.answers(t, text, nil)
		assert.Check(t, is.Equal(string(a.Result), want), "%s %s", text, a.Result)
	}
}

// TestManyCalls: ten thousand calls succeed, one more ends the script, and the error lists the mutations.
func TestManyCalls(t *testing.T) {
	w := newWorld(t)
	long := map[string]any{"timeout_ms": json.Number("300000")}
	a := w.answers(t, `let n = 0; for (let i = 0; i < 10000; i++) n += call("org.example.notes", "read", {cell: i}).cell; n`, long)
	if string(a.Result) != "49995000" || a.Calls != maxCalls || w.reads.Load() != maxCalls {
		t.Errorf("%s of %d calls, %d arrived", a.Result, a.Calls, w.reads.Load())
	}
	e := w.fails(t, `call("org.example.notes", "add", {text: "a"}); for (;;) try { call("nobody", "x") } catch {}`, long)
	assert.Equal(t, e.Code, aai.RateLimited, e)
	assert.Equal(t, e.Delivery, aai.Delivered, e)
	assert.Assert(t, is.Len(w.notes, 1), e)
	assert.Equal(t, e.Message, "the script made more than 10000 calls; 1 of its acts reached their apps (org.example.notes:add ×1) and were not undone", e)
}

// TestOutputIsBounded: output above the limit is truncated with a warning.
func TestOutputIsBounded(t *testing.T) {
	w := newWorld(t)
	result, err := w.do(t.Context(), `"é".repeat(2e6)`, nil)
	assert.NilError(t, err)
	a := result.Data.(answer)
	var text string
	if json.Unmarshal(a.Result, &text) != nil || len(text) > child.MaxResult || len(text) < child.MaxResult-1 || !strings.HasPrefix(text, `"éé`) || !strings.HasSuffix(text, "é") ||
		result.Warning != fmt.Sprintf("the result's JSON has 4000002 bytes; these are the first %d, as text", len(text)) {
		t.Errorf("%d bytes, warning %q", len(text), result.Warning)
	}
	const noisy = `for (let i = 0; i < 20000; i++) log("line", i); 1`
	for all, most := range map[bool]int{false: maxShownLog, true: child.MaxLog} {
		result, err := w.do(t.Context(), noisy, map[string]any{"full_log": all})
		assert.NilError(t, err)
		log := result.Data.(answer).Log
		if !strings.HasPrefix(log, "line 0\nline 1\n") || len(log) > most || len(log) < most-20 || !strings.Contains(result.Warning, "the log has ") {
			t.Errorf("%v: %d bytes, warning %q", all, len(log), result.Warning)
		}
	}
}

// TestACancelledScriptEnds: cancelling ends the current call and the process, whether it waits or
// computes.
func TestACancelledScriptEnds(t *testing.T) {
	for _, text := range []string{`call("org.example.notes", "hang")`, `try { call("org.example.notes", "begin") } catch {}; while (true) {}`} {
		w := newWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := w.do(ctx, `call("org.example.notes", "add", {text: "a"}); `+text, nil)
			failed <- err
		}()
		<-w.began
		assert.Check(t, is.Len(children(t, os.Getpid()), 1), "there is no child to be ended")
		cancel()
		e := aai.AsError(<-failed)
		assert.Check(t, e.Delivery != "", "%s %v %s", text, e, e.Delivery)
		assert.Check(t, e.Delivery != aai.NotDelivered, "%s %v %s", text, e, e.Delivery)
		for w.running.Load() > 0 || len(children(t, os.Getpid())) > 0 {
			time.Sleep(5 * time.Millisecond) // the test's timeout ends it
		}
	}
}

// TestNothingOutlivesTheGateway: child processes end with the gateway, however it dies.
func TestNothingOutlivesTheGateway(t *testing.T) {
	gateway := exec.CommandContext(t.Context(), "/proc/self/exe", gatewayMark)
	assert.NilError(t, gateway.Start())
	var kids []int
	for len(kids) == 0 || lastWord(kids[0]) != childMark || !usesProcessor(kids[0]) {
		time.Sleep(5 * time.Millisecond)
		kids = children(t, gateway.Process.Pid)
	}
	assert.NilError(t, gateway.Process.Kill())
	_ = gateway.Wait()
	for !testkit.HasExited(kids[0]) {
		time.Sleep(5 * time.Millisecond) // the test's timeout ends it
	}
}

// lastWord returns the last argument of a process.
func lastWord(pid int) string {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	words := strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
	return words[len(words)-1]
}

// usesProcessor reports whether a process has used more processor time than its start takes.
func usesProcessor(pid int) bool {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, after, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(after)
	if len(fields) < 12 {
		return false
	}
	ticks, _ := strconv.Atoi(fields[11])
	return ticks > 20
}

// TestTheChildIsConfined: the child has few permissions and inherits nothing.
func TestTheChildIsConfined(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "hidden-key")
	w := newWorld(t)
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // inherited by the test
	failed := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := w.do(ctx, `call("org.example.notes", "hang")`, nil)
		failed <- err
	}()
	<-w.began
	kids := children(t, os.Getpid())
	assert.Assert(t, is.Len(kids, 1))
	at := filepath.Join("/proc", strconv.Itoa(kids[0]))
	environ, err := os.ReadFile(filepath.Join(at, "environ"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(environ, 0))
	cwd, _ := os.Readlink(filepath.Join(at, "cwd"))
	assert.Check(t, is.Equal(cwd, "/"))
	open, _ := filepath.Glob(filepath.Join(at, "fd", "*"))
	for _, fd := range open {
		what, _ := os.Readlink(fd)
		n := filepath.Base(fd)
		assert.Check(t, is.Equal((n <= "2"), strings.HasPrefix(what, "pipe:")), "%s %s", n, what)
		assert.Check(t, n <= "2" || strings.HasPrefix(what, "anon_inode:") || strings.HasPrefix(what, "/sys/fs/cgroup/"), "it has %s open: %s", n, what)
	}
	status, _ := os.ReadFile(filepath.Join(at, "status"))
	for _, line := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
		assert.Check(t, is.Contains(string(status), line), "its status lacks %q", line)
	}
	cancel()
	assert.Check(t, (<-failed) != nil, "it ended well")
}

// children returns the running children of this process.
func children(t testing.TB, of int) []int {
	t.Helper()
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(of) + "/task/*/children")
	var pids []int
	for _, task := range tasks {
		b, _ := os.ReadFile(task)
		for _, word := range strings.Fields(string(b)) {
			pid, _ := strconv.Atoi(word)
			pids = append(pids, pid)
		}
	}
	return pids
}
