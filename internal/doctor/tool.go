package doctor

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// ToolName is the name of the doctor's tool in the builtin app.
const ToolName = "doctor"

const params = `{"type": "object", "additionalProperties": false, "properties": {
	"skip": {"type": "array", "maxItems": 50, "items": {"type": "string"}, "description": "Names of checks to skip"}}}`

// totalTimeout limits all examinations, which run concurrently with their own timeouts.
const totalTimeout = examinationTimeout + stopTimeout + 10*time.Second

// Tool returns the doctor's tool for the builtin app. Each call uses a new Doctor from open and
// reports progress after each examination.
func Tool(open func() *Doctor) *aai.Tool {
	return &aai.Tool{
		Name: ToolName, Description: "Test every way to an app, and report how to fix the broken ones", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{AllowUnaudited: true}),
		Params: schema.MustParse(params), Returns: aai.Schema{Source: answer.SchemaOf[answer.DoctorReport]()}, Limits: aai.Limits{Timeout: totalTimeout},
		Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			skip, err := skipArg(call)
			if err != nil {
				return nil, err
			}
			return open().answer(ctx, skip)
		},
	}
}

// skipArg returns the examinations to skip.
func skipArg(call *aai.Call) (names []string, err error) {
	given, _ := call.Args["skip"].([]any)
	for _, item := range given {
		name, _ := item.(string)
		if !slices.Contains(Checks(), name) {
			e := aai.Errorf(aai.InvalidParams, "skip: there is no check %q; expected some of %s", aai.CleanLabel(name, 60), strings.Join(Checks(), ", "))
			e.Candidates = aai.Nearest(name, Checks(), 1)
			return nil, e
		}
		names = append(names, name)
	}
	return names, nil
}

// answer runs the examinations for a call.
func (d *Doctor) answer(ctx context.Context, skip []string) (*aai.Result, error) {
	// The examinations make calls of their own gateways, which are not subcalls of this call.
	apart, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	out := answer.DoctorReport{State: answer.StateOK, Program: d.cfg.Version, System: runtime.GOOS + "/" + runtime.GOARCH, Checks: []answer.Finding{}}
	total, begun := float64(len(Checks())), time.Now()
	gateway.Progress(ctx, 0, total, "testing every way to an app")
	var broken []string
	halted := ""
	d.Examine(apart, skip, func(f Finding, waiting []string) {
		if ctx.Err() != nil {
			return // an interrupted examination proves nothing
		}
		out.Checks = append(out.Checks, f.Finding)
		if f.State == answer.StateBroken {
			out.State, broken = answer.StateBroken, append(broken, f.Title)
		}
		if f.Check == "stop" && f.State == answer.StateNote {
			halted = f.Saw
		}
		said := string(f.State) + ": " + f.Title
		if len(waiting) > 0 {
			said += "; trying: " + strings.Join(waiting, ", ")
		}
		gateway.Progress(ctx, float64(len(out.Checks)), total, said)
		if d.cfg.OnFinding != nil {
			d.cfg.OnFinding(f, waiting)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out.TookMS = time.Since(begun).Milliseconds()
	words := "All is well."
	if halted != "" {
		words = "All works, but " + halted + "."
	}
	if len(broken) > 0 {
		words = "Broken: " + strings.Join(broken, ", ") + "."
	}
	return &aai.Result{Text: words, Data: out}, nil
}
