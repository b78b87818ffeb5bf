package com

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/gybob/aai-gateway"
)

// A program is a compiled recipe.
type program struct {
	steps  []stepTemplate
	result any // template of the return step
	// returns are the variables of result; hasReturn reports whether there is a return step.
	returns   []string
	hasReturn bool
	class     string // the ProgID for messages
	vars      []string
}

// A stepTemplate is a step with placeholders in its values.
type stepTemplate struct {
	Step
	args  []valueTemplate
	value *valueTemplate
}

// A valueTemplate is a value with placeholders, or only the name of a variable.
type valueTemplate struct {
	field string
	name  string // of a named argument
	value any
	isVar bool
}

func compileSteps(r *aai.Recipe) (*program, error) {
	p := &program{class: r.COM.ProgID}
	for i, s := range r.COM.Steps {
		if p.hasReturn {
			return nil, aai.Errorf(aai.DescriptorInvalid, "script[%d]: expected nothing after the \"return\" step", i)
		}
		names := scope{r.Params, p.vars}
		if s.Action == "return" {
			result, err := names.template(stepField(i, "value"), s.Value, true)
			if err != nil {
				return nil, err
			}
			p.result, p.hasReturn = result, true
			eachName(result, func(name string, _ bool) {
				if names.isVar(name) && !slices.Contains(p.returns, name) {
					p.returns = append(p.returns, name)
				}
			})
			continue
		}
		t, err := compileStep(names, i, s)
		if err != nil {
			return nil, err
		}
		if p.class == "" {
			p.class = s.ProgID
		}
		p.steps = append(p.steps, t)
		if s.Var != "" {
			p.vars = append(p.vars, s.Var)
		}
	}
	return p, nil
}

func compileStep(names scope, i int, s aai.COMStep) (t stepTemplate, err error) {
	t.Step = Step{Action: s.Action, Var: s.Var, Object: s.Object, ProgID: s.ProgID, Member: s.Method + s.Property, Running: s.Running, Properties: s.Properties}
	switch {
	case !slices.Contains([]string{Create, Call, Get, Set, List}, s.Action):
		return t, invalid(stepField(i, "action"), `"create", "call", "get", "set", "list" or "return"`, s.Action)
	case s.Action == Create && s.ProgID == "":
		return t, invalid(stepField(i, "progid"), "a ProgID such as Example.Application", s.ProgID)
	case s.Action == Create:
		t.Programs = aai.RunsPrograms(s.ProgID)
		return t, nil
	case !slices.Contains(names.vars, s.Object):
		return t, invalid(stepField(i, "object"), "the variable of an earlier step", s.Object)
	case t.Member == "" && s.Action != List && (s.Action != Get || len(s.Properties) == 0):
		return t, invalid(stepField(i, "method"), "the name of a method or property", "")
	}
	add := func(field, name string, raw json.RawMessage) (valueTemplate, error) {
		field = stepField(i, field)
		value, err := names.template(field, raw, false)
		only, alone := onlyName(value)
		return valueTemplate{field: field, name: name, value: value, isVar: alone && names.isVar(only)}, err
	}
	for n, raw := range s.Args {
		one, err := add("args["+strconv.Itoa(n)+"]", "", raw)
		if err != nil {
			return t, err
		}
		t.args = append(t.args, one)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Named)) {
		one, err := add("named."+name, name, s.Named[name])
		if err != nil {
			return t, err
		}
		t.args = append(t.args, one)
	}
	if s.Action == Set {
		one, err := add("value", "", s.Value)
		t.value = &one
		return t, err
	}
	return t, nil
}

// request puts the arguments of a call into the steps. A step that sets a property is left out if its value is a parameter without
// an argument; such an argument of a method is omitted.
func (p *program) request(args map[string]any) (*Request, error) {
	r := &Request{Return: p.returns}
	for _, t := range p.steps {
		s := t.Step
		for _, a := range t.args {
			o, given, err := a.operand(args)
			switch {
			case err != nil:
				return nil, err
			case !given && a.name != "":
				continue
			}
			if s.Args = append(s.Args, o); a.name != "" {
				s.Names = append(s.Names, a.name)
			}
		}
		for len(s.Names) == 0 && len(s.Args) > 0 && isOmitted(s.Args[len(s.Args)-1]) {
			s.Args = s.Args[:len(s.Args)-1]
		}
		if t.value != nil {
			o, given, err := t.value.operand(args)
			if err != nil {
				return nil, err
			}
			if !given {
				continue
			}
			s.Value = &o
		}
		r.Steps = append(r.Steps, s)
	}
	return r, nil
}

func isOmitted(o Operand) bool {
	return o.Var == "" && o.Value.VT == VTError && o.Value.Bits == omitted
}

// operand returns the value for a call. given is false if it is only a parameter without an argument.
func (t valueTemplate) operand(args map[string]any) (o Operand, given bool, err error) {
	name, alone := onlyName(t.value)
	if t.isVar {
		return Operand{Var: name}, true, nil
	}
	at := t.field
	if alone {
		if _, given := args[name]; !given {
			return Operand{Value: Omitted()}, false, nil
		}
		at = name
	}
	value, err := resolve(t.value, args)
	if err != nil {
		return o, true, err
	}
	o.Value, err = Encode(value, at)
	return o, true, err
}

// answer returns the result of a call: that of the return step, otherwise that of the last step that has one.
func (p *program) answer(reply *Reply, args map[string]any) (any, error) {
	if !p.hasReturn {
		return Decode(reply.Last)
	}
	values := map[string]any{}
	for i, name := range p.returns {
		v, err := Decode(reply.Values[i])
		if err != nil {
			return nil, err
		}
		values[name] = v
	}
	for name, value := range args {
		values[name] = value
	}
	return resolve(p.absent(p.result, values), values)
}

// absent replaces placeholders of parameters without an argument by null, since the steps have run.
func (p *program) absent(template any, values map[string]any) any {
	eachName(template, func(name string, _ bool) {
		if _, given := values[name]; !given {
			values[name] = nil
		}
	})
	return template
}
