package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gybob/aai-gateway"
)

// A toolCommand says how a command calls a tool.
type toolCommand struct {
	app, tool string // the app "" is the gateway's own
	// operands names the parameters that the operands set. A name in brackets is optional. A last
	// name with "..." takes all further operands as a list.
	operands string
	flags    []toolFlag
	// prepare checks and completes the call before it is made; it may be nil.
	prepare func(*toolCall) error
	show    showFunc // nil means showResult
}

// A toolCall is the call that a command makes, and its result.
type toolCall struct {
	cmd       *cobra.Command
	app, tool string // the app "" is the gateway's own
	args      map[string]any
	result    *aai.Result
	// retry reports whether to make the call again after an error, once; it may be nil.
	retry func(*toolCall, error) bool
}

// isSet reports whether a flag without a value is set.
func (c *toolCall) isSet(flag string) bool {
	set, err := c.cmd.Flags().GetBool(flag)
	return err == nil && set
}

// A showFunc shows the result of a call.
type showFunc func(*run, *toolCall) error

// A toolFlag is a flag that sets the parameter of its name, with "_" for "-". After "=" its name
// names another parameter; without one there the flag is for the command alone.
type toolFlag struct {
	name     string
	standard any // a value of the flag's type: string, int, bool, []string, or a pflag.Value
	about    string
}

// newToolCommand completes a command that calls a tool.
func (r *run) newToolCommand(cmd *cobra.Command, t toolCommand) *cobra.Command {
	names := strings.Fields(t.operands)
	if cmd.Args == nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			_, low, high := withoutFlags(cmd, names)
			return operands(low, high)(cmd, args)
		}
	}
	cmd.RunE = func(cmd *cobra.Command, operands []string) error {
		names, low, _ := withoutFlags(cmd, names)
		call := &toolCall{cmd: cmd, app: t.app, tool: t.tool, args: operandArgs(names, low, operands)}
		for _, flag := range t.flags {
			if name, value := flag.parameter(cmd); value != nil && name != "" {
				call.args[name] = value
			}
		}
		if t.prepare != nil {
			if err := t.prepare(call); err != nil {
				return err
			}
		}
		return r.callAndShow(call, t.show)
	}
	parameters := make([]string, len(names))
	for i, name := range names {
		parameters[i] = bareName(name)
	}
	for _, flag := range t.flags {
		flag.add(r, cmd)
		_, parameter := flag.names()
		parameters = append(parameters, parameter)
	}
	// A test compares these with the schema of the tool.
	cmd.Annotations = map[string]string{"app": t.app, "tool": t.tool, "parameters": strings.Join(parameters, " ")}
	return cmd
}

// callAndShow makes a call and shows its result.
func (r *run) callAndShow(call *toolCall, show showFunc) (err error) {
	do := func() (*aai.Result, error) {
		return r.do(call.cmd.Context(), cmp.Or(call.app, aai.BuiltinApp), call.tool, call.args)
	}
	if call.result, err = do(); err != nil && call.retry != nil && call.retry(call, err) {
		call.result, err = do()
	}
	if err != nil {
		return err
	}
	return r.show(call, show)
}

// show shows the result of a call by show, or if that is nil by showResult.
func (r *run) show(call *toolCall, show showFunc) error {
	if show == nil {
		return r.showResult(call.result)
	}
	return show(r, call)
}

// names returns the names of the flag and of the parameter that it sets.
func (f toolFlag) names() (flag, parameter string) {
	flag, parameter, named := strings.Cut(f.name, "=")
	if typed, ok := f.standard.(*typedFlag); ok {
		return flag, typed.parameter
	}
	if !named {
		parameter = strings.ReplaceAll(flag, "-", "_")
	}
	return flag, parameter
}

// add adds the flag to a command.
func (f toolFlag) add(r *run, cmd *cobra.Command) {
	name, _ := f.names()
	flags := cmd.Flags()
	switch standard := f.standard.(type) {
	case string:
		flags.String(name, standard, f.about)
	case int:
		flags.Int(name, standard, f.about)
	case bool:
		flags.Bool(name, standard, f.about)
	case []string:
		flags.StringArray(name, standard, f.about)
	case pflag.Value:
		flag := flags.VarPF(standard, name, "", f.about)
		if standard.Type() == "boolean" {
			flag.NoOptDefVal = "true"
		}
	}
	if name == "app" && f.standard == "" {
		completeWith(cmd, name, r.completeApp)
	}
}

// parameter returns the parameter that the flag sets, and its value. Without a value the flag sets
// nothing.
func (f toolFlag) parameter(cmd *cobra.Command) (parameter string, value any) {
	name, parameter := f.names()
	flag := cmd.Flags().Lookup(name)
	if !flag.Changed {
		return parameter, nil
	}
	switch set := flag.Value.(type) {
	case *typedFlag:
		return parameter, parseTyped(set.text, set.types)
	case pflag.SliceValue:
		return parameter, flagValue(flag)
	}
	text := flag.Value.String()
	if text == flag.DefValue {
		return parameter, nil
	}
	return parameter, parseTyped(text, []string{flag.Value.Type()})
}

// withoutFlags returns the operands that no flag of the desktop's tools sets, and their least and
// greatest number; a negative one means any.
func withoutFlags(cmd *cobra.Command, names []string) (rest []string, low, high int) {
	given := make(map[string]bool)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if p, ok := f.Value.(*typedFlag); ok {
			given[p.parameter] = true
		}
	})
	rest = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return given[bareName(name)] })
	for _, name := range rest {
		if !strings.HasPrefix(name, "[") {
			low++
		}
	}
	if len(rest) > 0 && strings.HasSuffix(rest[len(rest)-1], "...") {
		return rest, low, -1
	}
	return rest, low, len(rest)
}

// bareName returns an operand's name without its marks.
func bareName(name string) string { return strings.Trim(name, "[].") }

// operandArgs maps the operands to the names of the parameters. If operands are missing, it
// omits optional parameters first.
func operandArgs(names []string, low int, args []string) map[string]any {
	object := make(map[string]any, len(names))
	spare := len(args) - low
	for _, name := range names {
		if strings.HasSuffix(name, "...") {
			if len(args) > 0 {
				object[bareName(name)] = listOf(args)
			}
			break
		}
		if strings.HasPrefix(name, "[") {
			if spare == 0 {
				continue
			}
			spare--
		}
		object[bareName(name)] = args[0]
		args = args[1:]
	}
	return object
}

// dropEmpty removes the arguments of empty operands.
func dropEmpty(c *toolCall) {
	maps.DeleteFunc(c.args, func(_ string, value any) bool { return value == "" })
}

// listOf returns texts as a list of JSON values.
func listOf(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// inText shows an answer as JSON, or for people by show.
func inText(show showFunc) showFunc {
	return func(r *run, c *toolCall) error {
		return r.output.show(c.result.Data, func() error { return show(r, c) })
	}
}

// showText shows the data of an answer as JSON, or its text for people.
func showText(r *run, c *toolCall) error {
	return r.output.show(c.result.Data, func() error {
		r.output.lines(c.result.Text)
		return nil
	})
}

// rowsOr shows the rows of an answer, or a note that there are none.
func rowsOr(none string) showFunc {
	return inRows(func(r *run, s *answerTable, _ *toolCall) {
		if len(s.rows) == 0 {
			r.output.note(none)
			return
		}
		r.output.showAnswerTable(s, nil, nil)
	})
}

// inRows is inText for an answer with rows.
func inRows(show func(*run, *answerTable, *toolCall)) showFunc {
	return inText(func(r *run, c *toolCall) error {
		rows, err := r.readTable(c.cmd.Context(), c.tool, c.result.Data)
		if err == nil {
			show(r, rows, c)
		}
		return err
	})
}

// decoded is inText with the data of the answer as T.
func decoded[T any](show func(*run, T, *toolCall)) showFunc {
	return inText(func(r *run, c *toolCall) error {
		data, err := decodeView[T](c.result.Data)
		if err == nil {
			show(r, data, c)
		}
		return err
	})
}

// withFindings ends the command with an exit code if the answer reports a problem. It shows the
// answer by show, or if that is nil by showResult.
func withFindings[T any](exit int, isProblem func(T) bool, show showFunc) showFunc {
	return func(r *run, c *toolCall) error {
		data, err := decodeView[T](c.result.Data)
		if err != nil {
			return err
		}
		if err := r.show(c, show); err != nil {
			return err
		}
		if isProblem(data) {
			return &findingsError{exit: exit}
		}
		return nil
	}
}
