package com

import (
	"encoding/json"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// raw returns JSON values.
func raw(texts ...string) (values []json.RawMessage) {
	for _, text := range texts {
		values = append(values, json.RawMessage(text))
	}
	return values
}

// mailSteps are the steps of a tool with the parameters to, cc and count.
func mailSteps() []aai.COMStep {
	return []aai.COMStep{
		{Action: "create", Var: "app", ProgID: "Example.Mail"},
		{Action: "call", Object: "app", Method: "CreateItem", Var: "mail", Args: raw(`0`, `"${cc}"`)},
		{Action: "set", Object: "mail", Property: "To", Value: json.RawMessage(`"<${to}>, ${count} times"`)},
		{Action: "set", Object: "mail", Property: "CC", Value: json.RawMessage(`"${cc}"`)},
		{Action: "call", Object: "app", Method: "Send", Args: raw(`"${mail}"`), Named: map[string]json.RawMessage{"When": json.RawMessage(`{"type":"date","value":"2026-01-31"}`), "Copy": json.RawMessage(`"${cc}"`)}},
		{Action: "return", Value: json.RawMessage(`{"to": "${to}", "mail": "${mail}", "text": "sent ${mail} ${cc}"}`)},
	}
}

func TestRequest(t *testing.T) {
	p, err := compileSteps(&aai.Recipe{Params: []string{"to", "cc", "count"}, COM: &aai.COMRecipe{Steps: mailSteps()}})
	assert.NilError(t, err)
	text := func(s string) Variant { return Variant{VT: VTString, Text: s} }
	date := Variant{VT: VTDate, Bits: 0x40e67ca000000000}
	for _, c := range []struct {
		args map[string]any
		want []Step
	}{
		// Without cc the set step is left out, the trailing argument is dropped and the named one left out.
		{map[string]any{"to": "${mail}", "count": json.Number("2")}, []Step{
			{Action: Create, Var: "app", ProgID: "Example.Mail"},
			{Action: Call, Object: "app", Member: "CreateItem", Var: "mail", Args: []Operand{{Value: Variant{VT: VTI4}}}},
			{Action: Set, Object: "mail", Member: "To", Value: &Operand{Value: text("<${mail}>, 2 times")}},
			{Action: Call, Object: "app", Member: "Send", Args: []Operand{{Var: "mail"}, {Value: date}}, Names: []string{"When"}},
		}},
		{map[string]any{"to": "a", "count": 1, "cc": "b"}, []Step{
			{Action: Create, Var: "app", ProgID: "Example.Mail"},
			{Action: Call, Object: "app", Member: "CreateItem", Var: "mail", Args: []Operand{{Value: Variant{VT: VTI4}}, {Value: text("b")}}},
			{Action: Set, Object: "mail", Member: "To", Value: &Operand{Value: text("<a>, 1 times")}},
			{Action: Set, Object: "mail", Member: "CC", Value: &Operand{Value: text("b")}},
			{Action: Call, Object: "app", Member: "Send", Args: []Operand{{Var: "mail"}, {Value: text("b")}, {Value: date}}, Names: []string{"Copy", "When"}},
		}},
	} {
		got, err := p.request(c.args)
		assert.NilError(t, err)
		assert.DeepEqual(t, got, &Request{Steps: c.want, Return: []string{"mail"}})
	}
	_, err = p.request(map[string]any{"to": "a"})
	assert.ErrorContains(t, err, "count: expected a value")
	answer, err := p.answer(&Reply{Values: []Variant{{VT: VTDispatch, Text: "IMail"}}}, map[string]any{"to": "${cc}"})
	assert.NilError(t, err)
	assert.DeepEqual(t, answer, map[string]any{"to": "${cc}", "mail": map[string]any{"object": "IMail"}, "text": `sent {"object":"IMail"} null`})
}

func TestCompileRejects(t *testing.T) {
	create := aai.COMStep{Action: "create", Var: "a", ProgID: "A.B"}
	for want, steps := range map[string][]aai.COMStep{
		`script[0].progid: expected a ProgID`:                                 {{Action: "create", Var: "a"}},
		`script[0].object: expected the variable of an earlier step, got "b"`: {{Action: "call", Object: "b", Method: "M"}},
		`script[1].method: expected the name of a method`:                     {create, {Action: "call", Object: "a"}},
		`script[1].action: expected "create"`:                                 {create, {Action: "run", Object: "a"}},
		`script[1]: expected nothing after the "return" step`:                 {{Action: "return", Value: json.RawMessage(`1`)}, create},
		`script[1].args[0]: expected "${name}" with the name of a parameter`:  {create, {Action: "call", Object: "a", Method: "M", Args: raw(`"${none}"`)}},
		`script[1].args[0]: expected the variable alone`:                      {create, {Action: "call", Object: "a", Method: "M", Args: raw(`"is ${a}"`)}},
		`script[1].value: expected the variable alone`:                        {create, {Action: "set", Object: "a", Property: "P", Value: json.RawMessage(`["${a}"]`)}},
	} {
		_, err := compileSteps(&aai.Recipe{Params: []string{"x"}, COM: &aai.COMRecipe{Steps: steps}})
		assert.Check(t, is.ErrorContains(err, want))
	}
	d := New(Config{})
	for want, r := range map[string]*aai.Recipe{
		"output_parser: expected": {OutputParser: "xml", COM: &aai.COMRecipe{Steps: []aai.COMStep{create}}},
		"progid: expected":        {IPC: &aai.IPCRecipe{}},
		"execution: expected":     {},
	} {
		_, err := d.Compile(r)
		assert.Check(t, is.ErrorContains(err, want))
	}
}

// TestFailures checks code, delivery and message of failed steps.
func TestFailures(t *testing.T) {
	p := &program{class: "A.B"}
	r := &Request{Steps: []Step{{Action: Create, ProgID: "A.B"}, {Action: Call, Member: "M", Args: make([]Operand, 2), Names: []string{"Text"}}, {Action: Create, ProgID: "A.B", Running: true}}}
	for want, f := range map[string]Failure{
		"APP_NOT_FOUND not_delivered A.B: step 1, create A.B: no such class is installed (error 0x80040154)":                                                {HRESULT: 0x80040154},
		"APP_NOT_FOUND not_delivered A.B: step 1, create A.B: error 0x80070002":                                                                             {HRESULT: 0x80070002},
		"AUTOMATION_FAILED delivered A.B: step 2, call M: error 0x80070002":                                                                                 {Step: 1, HRESULT: 0x80070002, Begun: true},
		"PERMISSION_DENIED not_delivered A.B: step 1, create A.B: it needs administrator rights (error 0x800702E4)":                                         {HRESULT: 0x800702E4},
		"APP_NOT_RUNNING not_delivered A.B: step 3, create A.B: it does not run (error 0x800401E3)":                                                         {Step: 2, HRESULT: 0x800401E3},
		"APP_NOT_RUNNING unknown A.B: step 2, call M: the app ended during the call (error 0x800706BE)":                                                     {Step: 1, HRESULT: 0x800706BE, Begun: true},
		"PERMISSION_DENIED delivered A.B: step 2, call M: App says: no (error 0x80070005)":                                                                  {Step: 1, HRESULT: 0x80020009, Code: 0x80070005, Source: "App", Description: "no\u202e", Begun: true},
		"AUTOMATION_FAILED delivered A.B: step 2, call M: argument 1: wrong type (error 0x80020005)":                                                        {Step: 1, HRESULT: 0x80020005, Argument: 1, Begun: true},
		"AUTOMATION_FAILED delivered A.B: step 2, call M: argument Text: wrong type (error 0x80020005)":                                                     {Step: 1, HRESULT: 0x80020005, Argument: 2, Begun: true},
		"AUTOMATION_FAILED not_delivered A.B: step 2, call M: the object has no \"M\" (error 0x80020006)":                                                   {Step: 1, HRESULT: 0x80020006, Name: "M"},
		"TIMEOUT not_delivered A.B: step 2, call M: the app was busy until the deadline":                                                                    {Step: 1, HRESULT: 0x80010001, Late: true},
		"TIMEOUT unknown A.B: step 2, call M: the app did not answer by the deadline":                                                                       {Step: 1, Late: true, Begun: true},
		"TIMEOUT not_delivered A.B: step 1, create A.B: the app did not answer by the deadline":                                                             {Late: true},
		"AUTOMATION_FAILED delivered A.B: step 2, call M: \"n\" is no object":                                                                               {Step: 1, Message: "\"n\" is no object", Begun: true},
		"PERMISSION_DENIED not_delivered A.B: step 1, create A.B: the class runs programs, but its name does not say so to the person who allowed the tool": {Denied: true},
	} {
		e := p.failure(r, &f)
		assert.Check(t, is.Equal(string(e.Code)+" "+string(e.Delivery)+" "+e.Message, want))
	}
	assert.Check(t, is.Contains(p.failure(r, &Failure{HRESULT: elevationRequired}).Hint, "as administrator"))
}

func TestRunsPrograms(t *testing.T) {
	for progID, want := range map[string]bool{"WScript.Shell": true, "wscript.shell.1": true, "Shell.Application.1": true, "Scripting.Dictionary": false, "WScript.ShellX": false, "": false} {
		assert.Check(t, is.Equal(aai.RunsPrograms(progID), want), progID)
	}
}
