package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

const levelDescriptor = `{"schema_version": "1.0", "appId": "org.example.App", "name": "Example", "description": "An app on the bus.", "version": "1.0",
	"platforms": {"linux": {"automation": "dbus", "service": "org.example.App", "object": "/org/example/Test", "interface": "org.example.Test", "tools": [
		{"name": "level_get", "description": "Gives the level.", "property": "Level", "access": "get", "parameters": {"type": "object"}},
		{"name": "level_set", "description": "Sets the level.", "property": "Level", "access": "set", "effect": "changes",
		 "parameters": {"type": "object", "properties": {"v": {"type": "integer"}}, "required": ["v"]}}]}}}`

// killedSteps is the number of the workflow's steps; each sets the level, initially 7, to 10 plus
// its number.
const killedSteps = 6

func levels(checks bool) string {
	var steps []any
	for n := range killedSteps {
		step := map[string]any{"app": exampleApp, "tool": "level_set", "args": map[string]any{"v": 11 + n}}
		if checks {
			step["check"] = map[string]any{"app": exampleApp, "tool": "level_get", "equals": 11 + n}
		}
		steps = append(steps, step)
	}
	b, _ := json.Marshal(map[string]any{"steps": steps})
	return string(b)
}

// A gateway killed at any step leaves a run that another one resumes, rolls back, or rejects with
// a reason; no act happens twice. AAI_KILLS is the number of kills.
func TestKilledInAWorkflow(t *testing.T) {
	b := selfProgram(t)
	rounds := 6
	if more, err := strconv.Atoi(os.Getenv("AAI_KILLS")); err == nil {
		rounds = more
	}
	bus := testkit.StartBus(t)
	w := &killTest{binary: b, bus: bus, app: testkit.ServeOnBus(t, bus, exampleApp)}
	w.object = bus.Connect(t).Object(exampleApp, testkit.ServicePath)
	for round := range rounds {
		w.round(t, round)
	}
	t.Logf("%d runs were left, %d resumed at once, %d after an answer; %d taken back, %d in part", w.left, w.resumed, w.answered, w.back, w.partly)
	assert.Check(t, w.left != 0, "no run was left in the middle")
}

// killTest is the gateway in a new home for each round, and an independent client of the app.
type killTest struct {
	binary programPath
	bus    *testkit.Bus
	app    *testkit.BusService
	object dbus.BusObject
	home   home
	before int // calls that set the level before the round

	left, resumed, answered, back, partly int
}

func (k *killTest) level(t *testing.T) int {
	t.Helper()
	v, err := k.object.GetProperty(testkit.ServiceInterface + ".Level")
	assert.NilError(t, err)
	level, _ := v.Value().(byte)
	return int(level)
}

// sets returns the number of times the level was set in this round.
func (k *killTest) sets() int { return k.app.Calls("Set") - k.before }

func (k *killTest) command(args ...string) *exec.Cmd {
	cmd := exec.Command(string(k.binary), args...)
	cmd.Env = append(k.home.env, "PERSON=yes", "AAI_INSECURE_STORAGE=true")
	return cmd
}

// does runs a command and returns its output on both streams.
func (k *killTest) does(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	out, err := k.command(args...).CombinedOutput()
	return exitOf(t, err), string(out)
}

func (k *killTest) round(t *testing.T, round int) {
	t.Helper()
	k.home = k.binary.home(t, k.bus)
	k.home.allow(t, "org.example.App", "workflows")
	k.home.write(t, ".aai/org.example.App/aai.json", levelDescriptor)
	checks := round%4 < 2
	k.home.write(t, ".aai/workflows/levels.json", levels(checks))
	assert.NilError(t, k.object.SetProperty(testkit.ServiceInterface+".Level", dbus.MakeVariant(byte(7))))
	k.before = k.app.Calls("Set")
	k.kill(t, 1+rand.IntN(killedSteps))
	id, state := k.run(t)
	what := fmt.Sprintf("round %d, checks %v, killed at level %d after %d sets, %s", round, checks, k.level(t), k.sets(), state)
	if state == "done" {
		return
	}
	assert.Equal(t, state, "interrupted", what)
	k.left++
	if round%2 == 0 {
		k.resume(t, id, what, checks)
	} else {
		k.takeBack(t, id, what)
	}
}

// kill starts the workflow and kills its process a moment after the nth act.
func (k *killTest) kill(t *testing.T, n int) {
	t.Helper()
	cmd := k.command("workflow", "run", "levels")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	assert.NilError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for k.sets() < n {
		select {
		case err := <-ended:
			t.Fatalf("it ended before it was killed: %v: %s", err, said.String())
		case <-time.After(100 * time.Microsecond):
		}
	}
	time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond)
	_ = cmd.Process.Kill() // it may have ended
	<-ended
}

// run returns the only run.
func (k *killTest) run(t *testing.T) (id, state string) {
	t.Helper()
	out, err := k.command("workflow", "list", "--format", "json").Output()
	var found struct {
		Runs []struct{ Run, State string }
	}
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	assert.NilError(t, err, out)
	assert.Assert(t, is.Len(found.Runs, 1), out)
	return found.Runs[0].Run, found.Runs[0].State
}

var unknownStep = regexp.MustCompile(`it is unknown whether this was done: step (\d+) `)

func (k *killTest) resume(t *testing.T, id, what string, checks bool) {
	t.Helper()
	code, said := k.does(t, "workflow", "resume", id)
	k.resumed++
	if code != 0 {
		found := unknownStep.FindStringSubmatch(said)
		assert.Assert(t, !checks, "%s: exit code %d: %s", what, code, said)
		assert.Assert(t, found != nil, "%s: exit code %d: %s", what, code, said)
		assert.Assert(t, is.Contains(said, "--happened"), "%s %d", what, code)
		k.resumed--
		k.answered++
		answer := "--not-happened"
		if n, _ := strconv.Atoi(found[1]); k.sets() >= n {
			answer = "--happened"
		}
		code, said = k.does(t, "workflow", "resume", id, answer)
		assert.Equal(t, code, 0, "%s: %s: exit code %d: %s", what, answer, code, said)
	}
	if k.level(t) != 10+killedSteps || k.sets() != killedSteps {
		t.Errorf("%s: after it the level is %d, and was set %d times: %s", what, k.level(t), k.sets(), said)
	}
	code, said = k.does(t, "workflow", "resume", id)
	assert.Check(t, code != 0, "%s: resumed again: %s", what, said)
	assert.Check(t, is.Contains(said, "has ended (done)"), what)
}

func (k *killTest) takeBack(t *testing.T, id, what string) {
	t.Helper()
	done := k.sets()
	code, said := k.does(t, "workflow", "rollback", id)
	assert.Equal(t, code, 0, "%s: exit code %d: %s", what, code, said)
	k.back++
	if k.level(t) != 7 {
		k.partly++
		if !strings.Contains(said, "not undone: step ") {
			t.Errorf("%s: the level is %d, and it says %s", what, k.level(t), said)
		}
	}
	n := k.sets() - done
	assert.Check(t, n <= done, "%s: %d acts were taken back by %d", what, done, n)
	again := k.sets()
	_, said = k.does(t, "workflow", "rollback", id)
	assert.Check(t, is.Equal(k.sets(), again), "%s: taken back twice: %s", what, said)
}
