package gateway_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// A joiner is a gate that asks about everything, and about several calls at once.
type joiner struct {
	held   int  // reservations
	open   bool // it admits all
	most   int  // of how many calls it makes one question; 0: of all
	closed bool // refuses admitted calls when they run
}

func (j *joiner) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if !r.HasReservation(j) {
		j.held++
		r.Reserve(j, func() { j.held-- })
	}
	switch answer, answered := r.Call.Answers["q"]; {
	case r.AdmittedPermission != "" && j.closed, r.Call.Tool == "refused", answered && answer.Choice != "yes":
		return nil, aai.Errorf(aai.PermissionDenied, "the gate says no to %s", r.Call.Tool)
	case r.AdmittedPermission == "" && !answered && !j.open:
		return []aai.Question{{ID: "q", Text: r.Call.Tool, Channels: []aai.Channel{aai.DesktopDialog, aai.Client}}}, nil
	}
	return nil, nil
}

func (j *joiner) MergeQuestions(asked []aai.PendingQuestion) (aai.Question, bool) {
	one := asked[0].Question
	if j.most > 0 && len(asked) > j.most {
		return one, false
	}
	for _, a := range asked[1:] {
		one.Text += "+" + a.Request.Call.Tool
	}
	return one, true
}

// together returns a gateway with a joiner gate and equal tools "one", "two" and "refused".
func together(answer string) (g *gateway.Gateway, w *world, gate *joiner, asked *[]string) {
	w, gate, asked = newWorld(plain()), &joiner{}, &[]string{}
	tool := *w.app.Tools[0]
	w.app.Tools = nil
	for _, name := range []string{"one", "two", "refused"} {
		t := tool
		t.Name = name
		w.app.Tools = append(w.app.Tools, &t)
	}
	g = w.gateway()
	g.Gates = []aai.Gate{gate}
	g.Dialog = asker(func(_ context.Context, q aai.Question) (aai.Answer, error) {
		*asked = append(*asked, q.Text)
		return aai.Answer{Choice: answer, Channel: aai.DesktopDialog}, nil
	})
	return g, w, gate, asked
}

func tool(name string) *aai.Call {
	return &aai.Call{Caller: aai.Caller{Door: "test"}, App: "org.example.App", Tool: name}
}

// outcomes are how the calls ended, by their tools.
func (w *world) outcomes() map[string]aai.Code {
	ended := map[string]aai.Code{}
	for _, s := range w.steps() {
		if s.what == string(aai.Outcome) {
			ended[s.entry.Tool] = s.entry.Code
		}
	}
	return ended
}

// TestAdmit: one question covers several calls, nothing runs before the answer, and each call
// runs once.
func TestAdmit(t *testing.T) {
	g, w, gate, asked := together("yes")
	a, err := g.Admit(t.Context(), tool("one"), tool("two"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(*asked, 1))
	assert.Equal(t, (*asked)[0], "one+two")
	assert.Equal(t, w.count("run"), 0)
	assert.Equal(t, gate.held, 2)
	for i := range 2 {
		_, err := a.Run(t.Context(), i)
		assert.NilError(t, err, "%d", i)
		assert.Equal(t, w.count("run"), i+1, "%d", i)
		assert.Equal(t, gate.held, 1-i, "%d", i)
	}
	for _, i := range []int{0, 1, 2, -1} {
		_, err := a.Run(t.Context(), i)
		_ = wantCode(t, err, aai.Internal)
	}
	a.Release()
	if got := w.outcomes(); w.count("run") != 2 || w.count(string(aai.Outcome)) != 2 || got["one"] != "" || got["two"] != "" || len(*asked) != 1 {
		t.Errorf("%d ran, outcomes %v, asked %q", w.count("run"), got, *asked)
	}
}

// TestOneRefusedNoneAdmitted: after a refusal by a gate or the person, all calls are recorded and
// no reservation remains.
func TestOneRefusedNoneAdmitted(t *testing.T) {
	for _, c := range []struct {
		answer, second, message string
		dialogs                 int
		first                   aai.Code
	}{
		{"yes", "refused", "the gate says no to refused", 0, aai.PermissionDenied},
		{"yes", "missing", "has no tool", 0, aai.ToolNotFound},
		{"no", "two", "the gate says no to one", 1, aai.PermissionDenied},
	} {
		g, w, gate, asked := together(c.answer)
		a, err := g.Admit(t.Context(), tool("one"), tool(c.second))
		if a != nil || err == nil || !strings.Contains(err.Error(), c.message) || len(*asked) != c.dialogs {
			t.Errorf("%s: %v, asked %q", c.second, err, *asked)
		}
		got := w.outcomes()
		assert.Assert(t, is.Len(got, 2), c.second)
		assert.Equal(t, got["one"], c.first, c.second)
		assert.Equal(t, got[c.second], c.first, c.second)
		assert.Equal(t, w.count("run"), 0, c.second)
		assert.Equal(t, gate.held, 0, c.second)
	}
}

// TestAdmitAgainWithAnswers: a door that asks the question passes its answer with each call.
func TestAdmitAgainWithAnswers(t *testing.T) {
	g, w, gate, _ := together("")
	g.Dialog = nil
	_, err := g.Admit(t.Context(), tool("one"), tool("two"))
	e := wantCode(t, err, aai.ConsentRequired)
	assert.Assert(t, is.Len(e.Questions, 1))
	assert.Equal(t, e.Questions[0].Text, "one+two")
	assert.Equal(t, gate.held, 0)
	assert.Assert(t, is.Len(w.outcomes(), 2))
	calls := []*aai.Call{tool("one"), tool("two")}
	for _, c := range calls {
		c.Answers = map[string]aai.Answer{"q": {Choice: "yes", Channel: aai.Client}}
	}
	a, err := g.Admit(t.Context(), calls...)
	assert.NilError(t, err)
	defer a.Release()
	_, err = a.Run(t.Context(), 1)
	assert.Check(t, err)
}

// TestWhatIsNotRun: an admission that is released, expired or cancelled holds no reservation, and
// the calls are recorded as not run.
func TestWhatIsNotRun(t *testing.T) {
	for name, end := range map[string]func(a *gateway.Admission, cancel func()){
		"released": func(a *gateway.Admission, _ func()) { a.Release() },
		"expired":  func(*gateway.Admission, func()) { time.Sleep(time.Hour) },
		"gone":     func(_ *gateway.Admission, cancel func()) { cancel() },
	} {
		synctest.Test(t, func(t *testing.T) {
			g, w, gate, _ := together("yes")
			w.app.Tools[0].Run = func(context.Context, *aai.Call) (*aai.Result, error) {
				w.note(step{what: "run"})
				time.Sleep(toolTimeout / 2)
				return nil, nil
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			a, err := g.Admit(ctx, tool("one"), tool("two"))
			assert.NilError(t, err)
			time.Sleep(5 * time.Minute) // it rests, and no deadline passes
			_, err = a.Run(ctx, 0)
			assert.NilError(t, err, name)
			assert.Equal(t, gateway.QueueCount(g), 0, name)
			end(a, cancel)
			synctest.Wait()
			if got := w.outcomes(); gate.held != 0 || got["one"] != "" || got["two"] == "" || gateway.QueueCount(g) != 0 {
				t.Errorf("%s: %d held, outcomes %v, %d lanes", name, gate.held, got, gateway.QueueCount(g))
			}
			if _, err := a.Run(t.Context(), 1); err == nil || !aai.AsError(err).RetrySafe() || w.count("run") != 1 {
				t.Errorf("%s: %v, %d ran", name, err, w.count("run"))
			}
		})
	}
}

// TestAnAdmissionThatHangs ends by the deadline of the hanging call.
func TestAnAdmissionThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w, gate, _ := together("yes")
		hangs := make(chan bool)
		defer close(hangs)
		g.Gates = append(g.Gates, gateFunc(func(r *aai.Request) ([]aai.Question, error) {
			if r.Call.Tool == "two" {
				<-hangs
			}
			return nil, nil
		}))
		begun := time.Now()
		_, err := g.Admit(t.Context(), tool("one"), tool("two"))
		e := wantCode(t, err, aai.Timeout)
		assert.Assert(t, e.RetrySafe(), "after %s: %+v", time.Since(begun), e)
		assert.Assert(t, time.Since(begun) <= toolTimeout+grace, "after %s: %+v", time.Since(begun), e)
		synctest.Wait()
		got := w.outcomes()
		assert.Check(t, is.Equal(gate.held, 0), got)
		assert.Check(t, is.Equal(got["one"], aai.Timeout), got)
		assert.Check(t, is.Equal(got["two"], aai.Timeout), got)
	})
}

// TestRunLooksAgain: the gates check an admitted call again when it runs, and no person is asked.
func TestRunLooksAgain(t *testing.T) {
	for _, before := range []string{"", "yes"} { // without and with a question
		g, w, gate, asked := together("yes")
		gate.open = before == ""
		a, err := g.Admit(t.Context(), tool("one"))
		assert.NilError(t, err)
		gate.open, gate.closed = false, true
		_, err = a.Run(t.Context(), 0)
		_ = wantCode(t, err, aai.PermissionDenied)
		assert.Equal(t, w.count("run"), 0)
		assert.Assert(t, is.Len(*asked, len(before)/3))
		assert.Equal(t, gate.held, 0)
	}
}

// TestRunFindsTheTargetAgain: the program may have been restarted; another program with its name
// is not admitted.
func TestRunFindsTheTargetAgain(t *testing.T) {
	for digest, want := range map[string]aai.Code{"of the editor": "", "of another": aai.ConsentRequired} {
		now := &aai.App{ID: "desktop/editor", Digest: "of the editor", PID: 7}
		g, _, w := windows(aai.Changes, func(context.Context, *aai.Call, string) (*aai.App, error) { return now, nil })
		touched := 0
		w.app.Tools[0].Run = func(_ context.Context, c *aai.Call) (*aai.Result, error) { touched = c.Target.PID; return nil, nil }
		a, err := g.Admit(t.Context(), on("Editor"))
		assert.NilError(t, err)
		now = &aai.App{ID: "desktop/editor", Digest: digest, PID: 8}
		_, err = a.Run(t.Context(), 0)
		assert.Check(t, is.Equal(codeOf(err), want), "%s %v %d", digest, err, touched)
		assert.Check(t, is.Equal((touched == 8), (want == "")), "%s %v %d", digest, err, touched)
	}
}

// TestWithin: nested calls use the slot of their parent's program, one at a time at any depth,
// and have the outer call as parent.
func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const deep = 70
		var g *gateway.Gateway
		level, most := 0, 0
		g, w := inLanes(func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			if level++; level > most {
				most = level
			}
			defer func() { level-- }()
			if level == deep {
				time.Sleep(toolTimeout / 4)
				return nil, nil
			}
			if level > 1 {
				return g.Do(ctx, on("a"))
			}
			done := make(chan error)
			for range 2 {
				go func() { _, err := g.Do(ctx, on("a")); done <- err }()
			}
			for range 2 {
				assert.Check(t, <-done)
			}
			return nil, nil
		}, program("a", nil))
		_, err := g.Do(t.Context(), on("a"))
		assert.NilError(t, err)
		assert.Equal(t, most, deep)
		n := gateway.QueueCount(g)
		assert.Check(t, is.Equal(n, 0), "%d lanes are remembered", n)
		calls := map[string]bool{}
		parents := 0
		for _, s := range w.steps() {
			if s.what == string(aai.Intent) {
				if calls[s.entry.Call] = true; calls[s.entry.Parent] {
					parents++
				}
			}
		}
		assert.Assert(t, is.Len(calls, 2*deep-1))
		assert.Equal(t, parents, len(calls)-1)
	})
}

// TestLeftBehindWithin: an abandoned nested call keeps the slot until it ends.
func TestLeftBehindWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acting, goOn := 0, make(chan bool)
		var g *gateway.Gateway
		g, _ = inLanes(func(ctx context.Context, c *aai.Call) (*aai.Result, error) {
			switch c.Args["what"] {
			case "parent":
				child := on("a")
				child.Args["what"] = "child"
				go func() { _, _ = g.Do(ctx, child) }()
				synctest.Wait()
				return nil, nil
			case "child":
				acting++
				<-goOn
				acting--
			default:
				assert.Check(t, is.Equal(acting, 0), "two act on one program")
			}
			return nil, nil
		}, program("a", nil))
		parent := on("a")
		parent.Args["what"] = "parent"
		if _, err := g.Do(t.Context(), parent); err != nil || acting != 1 {
			t.Fatal(err, acting)
		}
		_, err := g.Do(t.Context(), on("a"))
		_ = wantCode(t, err, aai.Timeout)
		close(goOn)
		synctest.Wait()
		_, err = g.Do(t.Context(), on("a"))
		assert.Check(t, err)
	})
}

// TestAskedWithin: while a person is asked about a nested call, the deadline of the outer call is
// paused too.
func TestAskedWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w, _, asked := together("yes")
		outer := *w.app.Tools[0]
		outer.Name, outer.Assess = "outer", aai.Always(aai.Assessment{OnlyMakesCalls: true})
		outer.Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) { return g.Do(ctx, tool("one")) }
		w.app.Tools = append(w.app.Tools, &outer)
		dialog := g.Dialog
		g.Dialog = asker(func(ctx context.Context, q aai.Question) (aai.Answer, error) {
			time.Sleep(40 * time.Second)
			return dialog.Ask(ctx, q)
		})
		_, err := g.Do(t.Context(), tool("outer"))
		assert.NilError(t, err)
		assert.Assert(t, is.Len(*asked, 2))
	})
}

// TestTooManyForOneQuestion: questions that a gate cannot merge into one are merged as far as
// possible.
func TestTooManyForOneQuestion(t *testing.T) {
	g, w, gate, asked := together("yes")
	gate.most = 4
	calls := make([]*aai.Call, 9)
	for i := range calls {
		calls[i] = tool("one")
	}
	a, err := g.Admit(t.Context(), calls...)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(*asked, 3))
	assert.Equal(t, w.count("ask"), 0)
	a.Release()
}
