package gui

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/schema"
)

// callTimeout is the default time limit of a tool.
const callTimeout = 10 * time.Second

// spec is the definition of a tool.
type spec struct {
	name, title, description string
	effect                   aai.Effect
	kind                     aai.Kind
	starts                   bool              // it may start a program
	types                    bool              // it sends text or keys
	pictures                 bool              // it takes a screenshot
	goesTo                   string            // the host of the model that gets its pictures; empty: none
	params                   string            // the properties of its parameters, as JSON
	required                 string            // the names of required parameters, as JSON
	renamed                  map[string]string // other names of parameters, which stay undocumented
	idempotent               bool              // of a tool that acts: the same call again changes nothing more
	unlisted                 bool              // it serves resources, and takes no place in lists of tools and guides
	recordsPerson            bool              // it records the person's acts
	onlyLeases               bool              // it changes only leases, and acts on no program
	lengthy                  bool              // clients may run its calls as tasks, however short its timeout
	returns                  string            // the properties of a result that is data, as JSON; all are optional; empty: it is text
	secret                   []string
	fillsSecrets             bool                               // it fills the person's secrets in the parameters of secret
	sends                    string                             // its parameter for the path of a file that it sends to the program
	plain                    func(args map[string]any) []string // the names in secret that are not secret in this call
	private                  bool                               // its result is not kept
	timeout                  time.Duration
	concurrency              func(*aai.Call) aai.Concurrency        // nil: the default
	precheck                 func(context.Context, *aai.Call) error // nil: none
	run                      aai.Action
}

// tool returns the tool of a definition. Its calls take the steps of precheckTool and runTool.
func (d *engine) tool(s spec) *aai.Tool {
	required, timeout := s.required, s.timeout
	if required == "" {
		required = "[]"
	}
	if timeout == 0 {
		timeout = callTimeout
	}
	args := schema.MustParse(`{"type": "object", "additionalProperties": false, "properties": {` + s.params + `}, "required": ` + required + `}`)
	if s.types {
		args.Check = acceptNumbers(args.Check)
	}
	if s.renamed != nil {
		args.Check = acceptNames(args.Check, s.renamed)
	}
	elements := slices.DeleteFunc([]string{"query", "to_query"}, func(name string) bool { return !slices.Contains(args.Order, name) })
	hasMode := slices.Contains(args.Order, "mode")
	tool := &aai.Tool{
		Name: s.name, Title: s.title, Description: s.description,
		Params: args,
		Effect: s.effect, Target: params.AppParam,
		Assess:  func(call *aai.Call) aai.Assessment { return s.assess(call, elements) },
		Privacy: aai.Privacy{Secret: s.secret, NonSecret: s.plain, Result: s.private, FillsSecrets: s.fillsSecrets}, Limits: aai.Limits{Timeout: timeout, AllowsTask: s.lengthy, Unlisted: s.unlisted}, Idempotent: s.idempotent,
		Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.runTool(ctx, s, call, hasMode)
		},
	}
	if slices.Contains(args.Order, givenPictureParam) {
		tool.Privacy.RecordArgs = withoutGivenPicture
	}
	if s.returns != "" {
		// Tests validate the results of builtin tools against it, not each call.
		tool.Returns = aai.Schema{Source: json.RawMessage(`{"type": "object", "properties": {` + s.returns + `}}`)}
	}
	if s.needsScreen() || s.types || s.precheck != nil {
		tool.Precheck = func(ctx context.Context, call *aai.Call) error { return d.precheckTool(ctx, s, call) }
	}
	return tool
}

// acceptNames returns a check that takes parameters by other names too, unless the call has both.
func acceptNames(check func(any) (any, error), renamed map[string]string) func(any) (any, error) {
	return func(v any) (any, error) {
		args, _ := v.(map[string]any)
		for other, name := range renamed {
			value, given := args[other]
			if _, both := args[name]; given && !both {
				args = maps.Clone(args)
				args[name] = value
				delete(args, other)
				v = args
			}
		}
		return check(v)
	}
}

// acceptNumbers returns a check that takes numbers, true and false in the place of texts in the parameter value, and
// in the values of fields.
func acceptNumbers(check func(any) (any, error)) func(any) (any, error) {
	asText := func(args map[string]any) map[string]any {
		switch value := args["value"].(type) {
		case bool, json.Number, float64, int:
			if text, err := json.Marshal(value); err == nil {
				args = maps.Clone(args)
				args["value"] = string(text)
			}
		}
		return args
	}
	return func(v any) (any, error) {
		args, is := v.(map[string]any)
		if !is {
			return check(v)
		}
		args = asText(args)
		if fields, is := args["fields"].([]any); is {
			args = maps.Clone(args)
			fields = slices.Clone(fields)
			for n, field := range fields {
				if field, is := field.(map[string]any); is {
					fields[n] = asText(field)
				}
			}
			args["fields"] = fields
		}
		return check(args)
	}
}

// acts reports whether the tool acts on a program.
func (s spec) acts() bool { return s.effect != aai.Reads && !s.onlyLeases }

// needsScreen reports whether the tool needs a desktop. The tools that check for one do not.
func (s spec) needsScreen() bool {
	return s.effect != aai.Reads || s.pictures || s.name == listAppsName
}

// assess returns the assessment of a call, which is nil for the tool in general.
func (s spec) assess(call *aai.Call, elements []string) aai.Assessment {
	a := aai.Assessment{EffectInherent: true, PicturesGoTo: s.goesTo, Kind: s.kind, MayStartProgram: s.starts, SendsKeys: s.types, RecordsPerson: s.recordsPerson, TakesScreenshot: s.pictures, ElementParams: elements}
	if call != nil {
		a.KeepsFocus = !params.TakesFocus(call)
	}
	if call != nil && s.sends != "" && params.Has(call, s.sends) {
		a.ReadsFiles = []string{params.String(call, s.sends)}
		if call.Target != nil {
			a.FilesGoTo = call.Target.ID
		}
	}
	if call != nil && s.concurrency != nil {
		a.Concurrency = s.concurrency(call)
	}
	return a
}

// constantConcurrency returns a function that returns turn for every call.
func constantConcurrency(turn aai.Concurrency) func(*aai.Call) aai.Concurrency {
	return func(*aai.Call) aai.Concurrency { return turn }
}

// precheckTool returns the error that the call is about to encounter, before a person is asked about it: a missing
// desktop, an invalid text, and the errors of the tool's own precheck.
func (d *engine) precheckTool(ctx context.Context, s spec, call *aai.Call) error {
	if s.needsScreen() && (call.Target == nil || call.Target.PID == 0) {
		if err := d.CheckScreen(ctx); err != nil {
			return err
		}
	}
	if s.types {
		if err := params.CheckText(call); err != nil {
			return err
		}
	}
	if s.precheck == nil {
		return nil
	}
	return s.precheck(ctx, call)
}

// runTool runs a call of the tool. A tool that acts first checks that the person can see the screen, takes the lease of
// the program, and shows the person that an agent acts. Then the text is checked and the tool runs. At last the error is adapted to the tool, and
// the conversation's secrets are removed from the reply.
func (d *engine) runTool(ctx context.Context, s spec, call *aai.Call, hasMode bool) (result *aai.Result, err error) {
	if s.acts() {
		d.acting.Add(1)
		d.acts.Add(1)
		defer d.acting.Add(-1)
		b := d.OpenBackend()
		if b.PauseReason != nil {
			if err := inputlock.CheckPaused(ctx, b.PauseReason); err != nil {
				return nil, err
			}
		}
		if err := d.takeLease(ctx, call); err != nil {
			return nil, err
		}
		if b.Indicator != nil {
			defer b.Indicator.Show(indicatorLabel(call))()
		}
	}
	if s.types {
		err = params.CheckText(call)
	}
	if err == nil {
		measuring, end := withMeasurements(ctx, s.name == getTreeName)
		result, err = s.run(measuring, call)
		end()
	}
	if err != nil {
		err = s.adaptError(err, call, hasMode)
	}
	if secrets := d.Sessions.For(call).SecretRedactor(); secrets != nil {
		return redact(secrets, result, err)
	}
	return result, err
}

// maxIndicatorName is the maximum length of a name on the person's indicator, in characters.
const maxIndicatorName = 30

// indicatorLabel returns the sentence about the call on the person's indicator.
func indicatorLabel(call *aai.Call) string {
	label := "An agent acts"
	if name := aai.CleanLabel(call.Caller.Name, maxIndicatorName); name != "" {
		label = fmt.Sprintf("An agent named %q acts", name) // the name is the agent's own claim
	}
	if call.Target != nil && call.Target.PID != 0 {
		label += " in " + aai.CleanLabel(call.Target.Name, maxIndicatorName)
	}
	return label
}

// adaptError returns the error without a delivery for a tool that delivers nothing, and without a hint at the mode of a
// tool that lacks it.
func (s spec) adaptError(err error, call *aai.Call, hasMode bool) error {
	e := *aai.AsError(err)
	switch {
	case s.onlyLeases: // the program gets nothing in any case
		e.Delivery = aai.NotDelivered
	case s.effect == aai.Reads && !params.Launches(call):
		if e.Delivery = ""; s.starts { // the gateway cannot see that this call starts no program
			e.Delivery = aai.NotDelivered
		}
	case e.Code == aai.InvalidParams && e.Delivery == "": // parameters are read before any action
		e.Delivery = aai.NotDelivered
	}
	if !hasMode {
		e.Hint = withoutMode(e.Hint)
	}
	return &e
}

// focusHint replaces a hint to use the mode "focus" for a tool without that mode.
const focusHint = `ax_click and ax_type have the mode "focus", which uses the person's own pointer and keyboard.`

// withoutMode removes the sentences about the tool's own mode from a hint.
func withoutMode(hint string) string {
	var kept []string
	for _, sentence := range strings.SplitAfter(hint, ". ") {
		if !strings.Contains(sentence, `mode "focus"`) || strings.Contains(sentence, "ax_click by") || strings.Contains(sentence, "by ax_click") {
			kept = append(kept, strings.TrimSpace(sentence))
		} else if !slices.Contains(kept, focusHint) {
			kept = append(kept, focusHint)
		}
	}
	return strings.Join(kept, " ")
}

// redact removes the conversation's secrets from a reply. A text for a password field may have landed elsewhere, and a
// page may repeat it in its title.
func redact(secrets *sanitize.Redactor, result *aai.Result, err error) (*aai.Result, error) {
	if err != nil {
		e := *aai.AsError(err)
		e.Message, e.Hint = secrets.Redact(e.Message), secrets.Redact(e.Hint)
		e.Data = secrets.RedactValue(e.Data)
		e.Candidates = append([]string(nil), e.Candidates...)
		for i, text := range e.Candidates {
			e.Candidates[i] = secrets.Redact(text)
		}
		return nil, &e
	}
	told := *result
	told.Text, told.Warning = secrets.Redact(told.Text), secrets.Redact(told.Warning)
	if data, err := aai.ToJSONValue(told.Data); err == nil && told.Data != nil {
		told.Data = secrets.RedactValue(data)
	}
	return &told, nil
}
