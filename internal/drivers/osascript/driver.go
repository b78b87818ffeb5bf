package osascript

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/envelope"
	"github.com/gybob/aai-gateway/internal/process"
)

// maxOutput limits the answer of a script, in bytes.
const maxOutput = 8 << 20

// The parsers of a descriptor.
const (
	parseText   = "result as text"
	parseRecord = "result as record"
	parseJSON   = "json"
)

const noValueText = "The script ended without a value."

// Config configures a Driver.
type Config struct {
	// Program is the path of osascript; empty: /usr/bin/osascript.
	Program string
	// Environ returns the environment of osascript; nil: none.
	Environ func() []string
	// Getenv reads the environment of the gateway, which names the app that started it; nil: unknown.
	Getenv func(string) string
}

// A Driver runs tools by osascript. It implements [aai.Driver] and is safe for concurrent use.
type Driver struct {
	config  Config
	allowed sync.Map // apps with a script that macOS has allowed in this run
}

// New returns a Driver. It starts nothing before the first call.
func New(config Config) *Driver {
	config.Program = cmp.Or(config.Program, "/usr/bin/osascript")
	return &Driver{config: config}
}

func (d *Driver) getenv(name string) string {
	if d.config.Getenv == nil {
		return ""
	}
	return d.config.Getenv(name)
}

// Compile returns the Action of a recipe that has Script or IPC set. Its error is an *aai.Error with code AAI_JSON_INVALID and a
// message that begins with the descriptor's field.
func (d *Driver) Compile(r *aai.Recipe) (aai.Action, error) {
	switch {
	case r.OutputParser != "" && r.OutputParser != parseText && r.OutputParser != parseRecord && r.OutputParser != parseJSON:
		return nil, aai.Errorf(aai.DescriptorInvalid, "output_parser: expected %q, %q, %q or none, got %q", parseText, parseRecord, parseJSON, aai.CleanLabel(r.OutputParser, 60))
	case r.IPC != nil:
		return d.envelope(r)
	case r.Script == nil:
		return nil, aai.Errorf(aai.DescriptorInvalid, "execution: expected a script or ipc with a bundle_id")
	}
	j, err := newJob(r.Script)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		value, err := d.run(ctx, call, r.App, j)
		if err != nil {
			return nil, err
		}
		return resultOf(r.App, value, r.OutputParser)
	}, nil
}

// A job is a compiled script.
type job struct {
	*template
	jxa bool
	// once is set if the script has one app and does nothing else, so that a refusal of macOS comes before any effect.
	once bool
}

func newJob(s *aai.ScriptRecipe) (*job, error) {
	compile, isJXA := compileAppleScript, s.Language == "jxa"
	if isJXA {
		compile = compileJXA
	}
	t, err := compile(s.Script)
	if err != nil {
		return nil, err
	}
	return &job{template: t, jxa: isJXA, once: doesOnce(s)}, nil
}

// doesOnce reports whether a script names one app and runs no program.
func doesOnce(s *aai.ScriptRecipe) bool {
	apps := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?i)\b(?:application|app) *\(?(?:id )? *["']([^"']*)["']`).FindAllStringSubmatch(s.Script, -1) {
		apps[strings.ToLower(found[1])] = true
	}
	return len(apps) == 1 && len(s.ProgramCommands()) == 0
}

// RunScript runs a script of a caller as it is: it has no placeholders.
func (d *Driver) RunScript(ctx context.Context, call *aai.Call, language, script string) (*aai.Result, error) {
	const name = "the script"
	value, err := d.run(ctx, call, name, &job{
		template: &template{code: script}, jxa: language == "jxa", once: doesOnce(&aai.ScriptRecipe{Language: language, Script: script}),
	})
	if err != nil {
		return nil, err
	}
	return resultOf(name, value, "")
}

// text returns the input of osascript for a call.
func (j *job) text(args map[string]any) (string, error) {
	values, err := j.values(args)
	if err != nil {
		return "", err
	}
	if j.jxa {
		return j.template.jxa(values)
	}
	return j.appleScript(values)
}

// run runs a job and returns its value. The error is an *aai.Error.
func (d *Driver) run(ctx context.Context, call *aai.Call, app string, j *job) (any, error) {
	text, err := j.text(call.Args)
	if err != nil {
		return nil, undelivered(err)
	}
	// -s s prints values as source text, which tells a text from a list. The runner of JXA prints one text of JSON.
	args := []string{"osascript", "-s", "s", "-"}
	if j.jxa {
		args = []string{"osascript", "-l", "JavaScript", "-"}
	}
	end, started, err := process.Run(ctx, d.command(args), []byte(text), maxOutput)
	switch {
	case err != nil && !started:
		return nil, startError(err)
	case errors.Is(err, process.ErrOutputTooLong):
		return nil, unreadable(app, fmt.Errorf("it has more than %d MiB", maxOutput>>20))
	case err != nil:
		return nil, endedError(ctx, app, err)
	case end.State.ExitCode() < 0:
		return nil, endedError(ctx, app, fmt.Errorf("osascript has ended: %s", end.State))
	case !end.State.Success():
		f := parseFailure(string(end.Stderr))
		f.placeIn(text, j.template)
		return nil, d.problem(f, call, app, j.once)
	}
	answer := strings.TrimSuffix(string(end.Stdout), "\n")
	if j.jxa {
		return d.jxaAnswer(call, app, j, answer)
	}
	d.allowed.Store(app, true)
	if answer == "" {
		return nil, nil
	}
	return parse(answer), nil
}

func (d *Driver) command(args []string) *exec.Cmd {
	cmd := &exec.Cmd{Path: d.config.Program, Args: args, Env: []string{}}
	if d.config.Environ != nil {
		cmd.Env = d.config.Environ()
	}
	return cmd
}

// jxaAnswer reads the answer of the runner.
func (d *Driver) jxaAnswer(call *aai.Call, app string, j *job, text string) (any, error) {
	var answer struct {
		OK                   bool
		Value                any
		Number               *json.Number
		Stage, Name, Message string
		Line                 int
	}
	reader := json.NewDecoder(strings.NewReader(text))
	reader.UseNumber()
	if err := reader.Decode(&answer); err != nil {
		return nil, unreadable(app, errors.New("it is not the JSON of the runner"))
	}
	if answer.OK {
		d.allowed.Store(app, true)
		return answer.Value, nil
	}
	if answer.Stage == "answer" {
		return nil, unreadable(app, fmt.Errorf("the value has no JSON form: %s", aai.CleanText(answer.Message, 300)))
	}
	f := &failure{message: strings.TrimSpace(strings.TrimPrefix(answer.Name+": "+answer.Message, ": ")), line: answer.Line, unbegun: answer.Stage == "parse"}
	if answer.Number != nil {
		n, err := answer.Number.Int64()
		f.number, f.known = int(n), err == nil
	}
	return nil, d.problem(f, call, app, j.once)
}

// resultOf returns the result with a value. A text that the parser "json" cannot read stays a text.
func resultOf(app string, value any, parser string) (*aai.Result, error) {
	text, isText := value.(string)
	record, isRecord := value.(map[string]any)
	_, isObject := record["object"]
	switch {
	case value == nil:
		return &aai.Result{Text: noValueText}, nil
	case parser == parseRecord && (!isRecord || isObject && len(record) == 1):
		return nil, unreadable(app, fmt.Errorf("expected a record, got %s", aai.CleanText(fmt.Sprint(value), 200)))
	case isText && parser == parseJSON:
		reader := json.NewDecoder(strings.NewReader(text))
		reader.UseNumber()
		var data any
		if err := reader.Decode(&data); err == nil {
			return &aai.Result{Text: text, Data: data}, nil
		}
	}
	if isText {
		return &aai.Result{Text: text, Data: text}, nil
	}
	written, err := json.Marshal(value)
	if err != nil {
		return nil, unreadable(app, err)
	}
	if parser == parseText {
		return &aai.Result{Text: string(written), Data: string(written)}, nil
	}
	return &aai.Result{Text: string(written), Data: value}, nil
}

// envelope compiles a tool of an app that implements the AAI protocol: its handler of the Apple event "AAI " "call" takes and
// returns JSON.
func (d *Driver) envelope(r *aai.Recipe) (aai.Action, error) {
	bundle := r.IPC.BundleID
	if bundle == "" || !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,154}$`).MatchString(bundle) {
		return nil, aai.Errorf(aai.DescriptorInvalid, "bundle_id: expected a bundle id such as com.example.notes, got %q", aai.CleanLabel(bundle, 60))
	}
	j, err := newJob(&aai.ScriptRecipe{Language: "applescript", Script: "with timeout of 3600 seconds\n\ttell application id \"" + bundle + "\" to «event AAI call» |request|\nend timeout"})
	if err != nil {
		return nil, err
	}
	j.code, j.once = strings.Replace(j.code, "|request|", j.name("request", true), 1), true
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		id := cmp.Or(call.ID, rand.Text())
		request, err := envelope.Request(r.Tool, call.Args, id)
		if err != nil {
			return nil, undelivered(err)
		}
		value, err := d.run(ctx, &aai.Call{Caller: call.Caller, Args: map[string]any{"request": request}}, bundle, j)
		if err != nil {
			return nil, err
		}
		reply, _ := value.(string)
		data, failed, err := envelope.Read(bundle, reply, id)
		switch {
		case failed != nil:
			return nil, failed
		case err != nil:
			return nil, unreadable(bundle, err)
		}
		return resultOf(bundle, data, r.OutputParser)
	}, nil
}
