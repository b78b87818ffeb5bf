package child

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// machine runs one script.
type machine struct {
	vm      *goja.Runtime
	job     Job
	out     io.Writer
	replies <-chan *Reply
	logged  int // bytes

	// Saved before the script can replace them.
	stringify, parse goja.Callable
	newError         *goja.Object
}

// run runs the script to its end.
func (m *machine) run() *Done {
	m.vm.SetParserOptions(parser.WithDisableSourceMaps)
	m.vm.SetMaxCallStackSize(maxDepth)
	if err := m.defineGlobals(); err != nil {
		return failed(&Failure{Message: err.Error()})
	}
	program, form, wrong := compile(m.job.Script)
	if wrong != nil {
		return failed(wrong)
	}
	value, err := m.vm.RunProgram(program)
	if promise, ok := exported[*goja.Promise](value); ok && err == nil {
		switch promise.State() {
		case goja.PromiseStateFulfilled:
			value = promise.Result()
		case goja.PromiseStateRejected:
			return failed(m.thrownFailure(promise.Result(), nil, form))
		case goja.PromiseStatePending:
			return failed(&Failure{Message: "it awaits a promise that never settles"})
		}
	}
	if err != nil {
		return failed(m.failureOf(err, form))
	}
	return m.result(value, form)
}

func failed(f *Failure) *Done { return &Done{Failure: f} }

// exported returns the value as a T, if it is a promise; T must be *goja.Promise.
func exported[T any](v goja.Value) (t T, ok bool) {
	if object, isObject := v.(*goja.Object); isObject && object.ExportType() == reflect.TypeFor[*goja.Promise]() {
		t, ok = object.Export().(T)
	}
	return t, ok
}

// result returns the value as JSON, as JSON.stringify writes it.
func (m *machine) result(value goja.Value, f wrapper) *Done {
	text, err := m.json(value)
	if err != nil {
		failure := m.failureOf(err, f)
		failure.Message = "its result is not JSON: " + failure.Message
		return failed(failure)
	}
	if len(text) <= MaxResult {
		return &Done{Value: json.RawMessage(text)}
	}
	end := MaxResult
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return &Done{Truncated: text[:end], Size: len(text)}
}

// json returns the value as JSON; "null" if JSON has no form for it.
func (m *machine) json(value goja.Value) (string, error) {
	if value == nil {
		return "null", nil
	}
	text, err := m.stringify(goja.Undefined(), value)
	if err != nil {
		return "", err
	}
	if goja.IsUndefined(text) {
		return "null", nil
	}
	return text.String(), nil
}

// defineGlobals defines the script's globals.
func (m *machine) defineGlobals() error {
	vm := m.vm
	words := vm.Get("JSON").ToObject(vm)
	m.stringify, _ = goja.AssertFunction(words.Get("stringify"))
	m.parse, _ = goja.AssertFunction(words.Get("parse"))
	m.newError = vm.Get("Error").ToObject(vm)
	args, err := m.parse(goja.Undefined(), vm.ToValue(string(m.job.Args)))
	if err != nil {
		return err
	}
	for name, value := range map[string]any{
		"args": args, "call": m.call, "find": m.find, "sleep": sleep, "log": m.log,
		"console": map[string]any{"log": m.log, "info": m.log, "warn": m.log, "error": m.log},
	} {
		if err := vm.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// call implements call(app, tool, args), or call(tool, args) with the default app.
func (m *machine) call(f goja.FunctionCall) goja.Value {
	names := make([]string, 0, 2)
	for len(names) < 2 && len(names) < len(f.Arguments) && isText(f.Argument(len(names))) {
		names = append(names, f.Argument(len(names)).String())
	}
	switch len(names) {
	case 0:
		m.throw(&Fault{Code: "INVALID_PARAMS", Message: "call: expected (app, tool, args)"})
	case 1:
		return m.callParent(m.job.App, names[0], f.Argument(1))
	}
	return m.callParent(names[0], names[1], f.Argument(2))
}

func isText(v goja.Value) bool {
	_, ok := v.Export().(string)
	return ok && !goja.IsUndefined(v)
}

// find implements find(app, query): one element of a program's windows.
func (m *machine) find(f goja.FunctionCall) goja.Value {
	args := m.vm.NewObject()
	for i, name := range []string{"app", "query"} {
		if err := args.Set(name, f.Argument(i)); err != nil {
			panic(err)
		}
	}
	return m.callParent("desktop", "ax_find", args)
}

// callParent requests a call from the parent, and returns its value or throws its error.
func (m *machine) callParent(app, tool string, args goja.Value) goja.Value {
	c := &Call{App: app, Tool: tool}
	if !goja.IsUndefined(args) && !goja.IsNull(args) {
		text, err := m.json(args)
		if err != nil {
			panic(rethrow(err))
		}
		if len(text) > MaxArgs {
			m.throw(&Fault{Code: "INVALID_PARAMS", Message: "call: the arguments have more than 2 MiB",
				Delivery: "not_delivered"})
		}
		c.Args = json.RawMessage(text)
	}
	m.send(Message{Call: c})
	reply := <-m.replies
	if reply.Fault != nil {
		m.throw(reply.Fault)
	}
	value, err := m.parse(goja.Undefined(), m.vm.ToValue(string(reply.Value)))
	if err != nil {
		panic(rethrow(err))
	}
	return value
}

// send sends a message to the parent, or throws an error if the message is too long. Without a parent
// it blocks; the reader then ends the process.
func (m *machine) send(message Message) {
	switch err := Write(m.out, message); {
	case errors.Is(err, ErrFrameTooLong):
		m.throw(&Fault{Code: "INVALID_PARAMS", Message: err.Error(), Hint: "Send less at once.", Delivery: "not_delivered"})
	case err != nil:
		select {}
	}
}

// throw throws an Error with the members of a fault.
func (m *machine) throw(f *Fault) {
	e, err := m.vm.New(m.newError, m.vm.ToValue(f.Message))
	if err != nil {
		panic(rethrow(err))
	}
	says := map[string]any{"code": string(f.Code), "hint": f.Hint, "delivery": string(f.Delivery)}
	if len(f.Candidates) > 0 {
		says["candidates"] = m.vm.NewArray(texts(f.Candidates)...)
	}
	if f.RetryAfterMS > 0 {
		says["retry_after_ms"] = f.RetryAfterMS
	}
	for name, value := range says {
		if err := e.DefineDataProperty(name, m.vm.ToValue(value), goja.FLAG_TRUE, goja.FLAG_TRUE,
			goja.FLAG_TRUE); err != nil {
			panic(rethrow(err))
		}
	}
	panic(m.vm.ToValue(e))
}

func texts(list []string) []any {
	all := make([]any, len(list))
	for i, s := range list {
		all[i] = s
	}
	return all
}

// rethrow returns the panic value that shows the error to the script.
func rethrow(err error) any {
	if ex, ok := errors.AsType[*goja.Exception](err); ok && ex.Value() != nil {
		return ex.Value()
	}
	return err
}

// log implements log(...): strings unchanged, other values as JSON.
func (m *machine) log(f goja.FunctionCall) goja.Value {
	if m.logged > MaxLog {
		return goja.Undefined()
	}
	parts := make([]string, len(f.Arguments))
	for i, v := range f.Arguments {
		if isText(v) {
			parts[i] = v.String()
		} else if text, err := m.json(v); err == nil && !goja.IsUndefined(v) {
			parts[i] = text
		} else {
			parts[i] = v.String()
		}
	}
	line := strings.ToValidUTF8(strings.Join(parts, " "), "\uFFFD")
	line = line[:min(len(line), MaxLog+1)]
	m.logged += len(line) + 1
	m.send(Message{Log: &line})
	return goja.Undefined()
}

// sleep implements sleep(ms). The parent ends a script that sleeps too long.
func sleep(f goja.FunctionCall) goja.Value {
	ms := f.Argument(0).ToFloat()
	if ms > 0 { // false for NaN
		time.Sleep(time.Duration(math.Min(ms, 1e9) * float64(time.Millisecond)))
	}
	return goja.Undefined()
}
