package active_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// The variable makes this program another gateway, with its folder, and the number of programs that it
// takes.
const leasingGatewayEnv = "LEASES_TEST_GATEWAY"

// leaseForTest takes programs as another process, and prints those that it got.
func leaseForTest() bool {
	folder, programs, is := strings.Cut(os.Getenv(leasingGatewayEnv), ":")
	if !is {
		return false
	}
	n, _ := strconv.Atoi(programs)
	store := leaseStore(folder)
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	_, _ = in.ReadString('\n')
	for pid := range n {
		if store.Take(context.Background(), act("other "+strconv.Itoa(os.Getpid()), pid+1), "1") == nil {
			fmt.Println(pid + 1)
		}
	}
	fmt.Println("done")
	_, _ = in.ReadString('\n')
	return true
}

// leaseStore returns the store of a gateway.
func leaseStore(folder string) *active.LeaseStore {
	return &active.LeaseStore{Folder: folder, Log: slog.New(slog.DiscardHandler), Now: time.Now}
}

// act is a call by which an agent acts in a program.
func act(agent string, pid int) *aai.Call {
	return &aai.Call{
		Caller: aai.Caller{Door: aai.DoorMCP, Name: agent, Identity: "/bin/" + agent, Session: "session of " + agent},
		Target: &aai.App{Name: "Editor " + strconv.Itoa(pid), PID: pid},
	}
}

// leaseModel is what the leases of programs must be.
type leaseModel struct {
	holder  string
	gateway int
	until   time.Time
}

// TestLeasesAsTheModel: any sequence of acts, releases and ends of sessions and gateways has the
// outcomes of a map of programs to agents.
func TestLeasesAsTheModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "")
		assert.NilError(t, err)
		now := time.Unix(1_700_000_000, 0)
		const agents = 4 // the first two are of one gateway
		open := func() *active.LeaseStore {
			store := leaseStore(folder)
			store.Now = func() time.Time { return now }
			return store
		}
		gateways := []*active.LeaseStore{open(), open(), open()}
		model := make(map[int]leaseModel)
		defer func() {
			for _, g := range gateways {
				_ = g.Close()
			}
		}()
		for range rapid.IntRange(5, 25).Draw(r, "steps") {
			agent, pid := rapid.IntRange(0, agents-1).Draw(r, "agent"), rapid.IntRange(1, 2).Draw(r, "program")
			name, at := "agent"+strconv.Itoa(agent), max(0, agent-1)
			call, held := act(name, pid), model[pid]
			if !now.Before(held.until) {
				held = leaseModel{}
			}
			mine := leaseModel{name, at, now.Add(70 * time.Second)}
			switch rapid.IntRange(0, 9).Draw(r, "step") {
			case 0:
				assert.Equal(r, gateways[at].Release(t.Context(), call, "1"), held.holder == name)
				if held.holder == name {
					delete(model, pid)
				}
			case 1:
				gateways[at].EndConversation(call.Caller.Conversation())
				for pid, l := range model {
					if l.holder == name {
						delete(model, pid)
					}
				}
			case 2:
				assert.NilError(r, gateways[at].Close())
				gateways[at] = open()
				for pid, l := range model {
					if l.gateway == at {
						delete(model, pid)
					}
				}
			case 3:
				now = now.Add(time.Duration(rapid.IntRange(1, 80).Draw(r, "seconds")) * time.Second)
			default:
				err := gateways[at].Take(t.Context(), call, "1")
				assert.Equal(r, err != nil, held.holder != "" && held.holder != name)
				if err == nil && held.until.Sub(now) < time.Minute {
					model[pid] = mine
				}
			}
			var want, got []string
			for pid, l := range model {
				if now.Before(l.until) {
					want = append(want, fmt.Sprint(pid, l.holder, l.until.Unix()))
				}
			}
			for _, l := range gateways[rapid.IntRange(0, 2).Draw(r, "reader")].List(nil, nil) {
				got = append(got, fmt.Sprint(l.PID, strings.TrimPrefix(l.Caller, "mcp:"), l.Until.Unix()))
			}
			slices.Sort(want)
			slices.Sort(got)
			assert.DeepEqual(r, got, want)
		}
	})
}

// startLeasing starts another gateway that takes n programs at the next line.
func startLeasing(t *testing.T, folder string, n int) *testkit.Process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s:%d", leasingGatewayEnv, folder, n))
	p := testkit.StartProcess(t, cmd)
	assert.Equal(t, p.ReadLine(t), "ready")
	return p
}

// TestLeasesOfTwoProcesses: of two gateways that take the same programs at once, one gets each. The
// leases of a killed gateway end at once.
func TestLeasesOfTwoProcesses(t *testing.T) {
	const programs = 100
	folder := filepath.Join(t.TempDir(), "leases")
	both := []*testkit.Process{startLeasing(t, folder, programs), startLeasing(t, folder, programs)}
	for _, p := range both {
		_, err := p.In.Write([]byte("\n"))
		assert.NilError(t, err)
	}
	holders, got := make(map[string]int), make([]int, len(both))
	for i, p := range both {
		for line := p.ReadLine(t); line != "done"; line = p.ReadLine(t) {
			got[i]++
			holders[line]++
		}
	}
	assert.Assert(t, is.Len(holders, programs))
	for pid, n := range holders {
		assert.Check(t, is.Equal(n, 1), "program %s has %d holders", pid, n)
	}
	store := leaseStore(folder)
	assert.Check(t, is.Len(store.List(nil, nil), programs))
	both[0].Kill()
	assert.Check(t, is.Len(store.List(nil, nil), got[1]))
	both[1].Kill()
	assert.Check(t, is.Len(store.List(nil, nil), 0))
	assert.NilError(t, store.Take(t.Context(), act("late", 1), "1"))
	files, err := filepath.Glob(filepath.Join(folder, "*-*.lock"))
	assert.NilError(t, err)
	assert.Check(t, is.Len(files, 1), "locks of dead gateways stay: %v", files)
	assert.NilError(t, store.Close())
}

// TestLeaseRefusal: the error names the other agent, the program and the times, and is safe to repeat
// after a wait. The person is never refused, and a program with the same id but another start is
// another one.
func TestLeaseRefusal(t *testing.T) {
	store := leaseStore(filepath.Join(t.TempDir(), "leases"))
	assert.NilError(t, store.Take(t.Context(), act("ann", 7), "1"))
	err := aai.AsError(store.Take(t.Context(), act("ben", 7), "1"))
	assert.Assert(t, err != nil)
	assert.Check(t, is.Equal(err.Code, aai.RateLimited))
	assert.Check(t, is.Contains(err.Message, `not now: mcp:ann (/bin/ann) works in Editor 7 since `))
	assert.Check(t, is.Contains(err.Hint, `"tool": "ax_lease", "args": {"app": "7", "wait_seconds": 120}`))
	assert.Check(t, err.RetrySafe())
	assert.Check(t, err.RetryAfter > 0)
	person := act("ben", 7)
	person.Caller.Door = aai.DoorCLI
	assert.Check(t, store.Take(t.Context(), person, "1"))
	assert.Check(t, store.Take(t.Context(), act("ben", 7), "2"))
	same := act("ann", 7)
	same.Caller.Session = "another"
	err = aai.AsError(store.Take(t.Context(), same, "1"))
	assert.Assert(t, err != nil)
	assert.Check(t, is.Contains(err.Message, `another conversation of mcp:ann`))
	assert.NilError(t, store.Close())
}

// TestLeaseFailsOpen: a damaged file and one that cannot be written are logged, and keep no agent out.
func TestLeaseFailsOpen(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "leases")
	var log bytes.Buffer
	store := leaseStore(folder)
	store.Log = slog.New(slog.NewTextHandler(&log, nil))
	assert.NilError(t, store.Take(t.Context(), act("ann", 7), "1"))
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "leases.json"), []byte("?"), 0o600))
	assert.NilError(t, store.Take(t.Context(), act("ben", 7), "1"))
	assert.Check(t, is.Contains(log.String(), "cannot be read"))
	assert.Check(t, is.ErrorContains(store.Take(t.Context(), act("ann", 7), "1"), "mcp:ben"))
	assert.NilError(t, os.RemoveAll(folder))
	assert.NilError(t, os.WriteFile(folder, nil, 0o600))
	assert.NilError(t, store.Take(t.Context(), act("cy", 7), "1"))
	assert.Check(t, is.Contains(log.String(), "cannot be stored"))
}

// TestLeaseRequest: a waiting agent gets the program when it is free; the person may give it to an
// agent at once, of which the other is told at its next act.
func TestLeaseRequest(t *testing.T) {
	folder, choice := filepath.Join(t.TempDir(), "leases"), "refuse"
	var asked aai.Question
	anns, bens := leaseStore(folder), leaseStore(folder)
	bens.Ask = func(_ context.Context, q aai.Question) (aai.Answer, error) {
		asked = q
		if choice == "" {
			return aai.Answer{}, errors.New("no window")
		}
		return aai.Answer{Choice: choice}, nil
	}
	assert.NilError(t, anns.Take(t.Context(), act("ann", 7), "1"))
	_, err := bens.Request(t.Context(), act("ben", 7), "1", 0, true)
	assert.Check(t, is.Equal(aai.AsError(err).Code, aai.PermissionDenied))
	assert.Check(t, is.Contains(asked.Text, `mcp:ann (/bin/ann) works in Editor 7`))
	assert.Check(t, is.Contains(asked.Text, `mcp:ben (/bin/ben)`))
	choice = ""
	_, err = bens.Request(t.Context(), act("ben", 7), "1", 0, true)
	assert.Check(t, err != nil, "no answer counts as a permission")
	choice = "allow"
	got, err := bens.Request(t.Context(), act("ben", 7), "1", 0, true)
	assert.NilError(t, err)
	assert.Check(t, got.Given)
	assert.Check(t, got.Yours)
	assert.Check(t, is.ErrorContains(anns.Take(t.Context(), act("ann", 7), "1"), "when the person let it"))
	assert.Check(t, bens.Take(t.Context(), act("ben", 7), "1"))
	waited := make(chan error, 1)
	go func() {
		_, err := anns.Request(t.Context(), act("ann", 7), "1", time.Minute, false)
		waited <- err
	}()
	assert.Check(t, bens.Release(t.Context(), act("ben", 7), "1"))
	assert.NilError(t, <-waited)
	leases := bens.List(act("ben", 7), []int{7})
	assert.Assert(t, is.Len(leases, 1))
	assert.Check(t, is.Equal(leases[0].Caller, "mcp:ann"))
	assert.Check(t, !leases[0].Yours)
	assert.Check(t, is.Len(bens.List(act("ben", 7), nil), 0), "an agent sees leases of programs that it does not use")
	assert.NilError(t, errors.Join(anns.Close(), bens.Close()))
}

// TestRenewalWritesSeldom: acts within some seconds write the file once.
func TestRenewalWritesSeldom(t *testing.T) {
	folder, now := filepath.Join(t.TempDir(), "leases"), time.Now()
	store := leaseStore(folder)
	store.Now = func() time.Time { return now }
	assert.NilError(t, store.Take(t.Context(), act("ann", 7), "1"))
	first, err := os.Lstat(filepath.Join(folder, "leases.json"))
	assert.NilError(t, err)
	for range 9 {
		now = now.Add(time.Second)
		assert.NilError(t, store.Take(t.Context(), act("ann", 7), "1"))
	}
	later, err := os.Lstat(filepath.Join(folder, "leases.json"))
	assert.NilError(t, err)
	assert.Check(t, os.SameFile(first, later), "the file was written again")
	now = now.Add(2 * time.Second)
	assert.NilError(t, store.Take(t.Context(), act("ann", 7), "1"))
	later, err = os.Lstat(filepath.Join(folder, "leases.json"))
	assert.NilError(t, err)
	assert.Check(t, !os.SameFile(first, later), "the lease was not renewed")
	assert.NilError(t, store.Close())
}

func BenchmarkLeaseRenewal(b *testing.B) {
	store := leaseStore(filepath.Join(b.TempDir(), "leases"))
	call := act("ann", 7)
	for b.Loop() {
		if err := store.Take(b.Context(), call, "1"); err != nil {
			b.Fatal(err)
		}
	}
	_ = store.Close()
}
