package com_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// readStep reads a step of the table.
func readStep(t *testing.T, line string) aai.COMStep {
	t.Helper()
	var s aai.COMStep
	if name, rest, found := strings.Cut(line, " = "); found && !strings.Contains(name, " ") {
		s.Var, line = name, rest
	}
	words := strings.SplitN(line, " ", 4)
	s.Action = words[0]
	rest := ""
	switch s.Action {
	case "create":
		s.ProgID, s.Running = words[1], len(words) > 2
	case "return":
		s.Value = json.RawMessage(strings.TrimPrefix(line, "return "))
	case "list":
		s.Object, rest = words[1], strings.Join(words[2:], " ")
	case "call":
		s.Object, s.Method, rest = words[1], words[2], strings.Join(words[3:], " ")
	case "get":
		s.Object, rest = words[1], strings.Join(words[2:], " ")
		if !strings.HasPrefix(rest, "[") {
			s.Property, rest = words[2], strings.Join(words[3:], " ")
		}
	default:
		s.Object, s.Property, rest = words[1], words[2], strings.Join(words[3:], " ")
	}
	d := json.NewDecoder(strings.NewReader(rest))
	for {
		var value json.RawMessage
		err := d.Decode(&value)
		if err == io.EOF {
			return s
		}
		assert.NilError(t, err, line)
		switch {
		case s.Action == "set" && s.Value == nil:
			s.Value = value
		case s.Action == "list" || s.Action == "get" && s.Property == "":
			assert.NilError(t, json.Unmarshal(value, &s.Properties))
		case value[0] == '{':
			assert.NilError(t, json.Unmarshal(value, &s.Named))
		default:
			assert.NilError(t, json.Unmarshal(value, &s.Args))
		}
	}
}

// canonical returns JSON in one form, with numbers as they are.
func canonical(t *testing.T, text string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	assert.NilError(t, d.Decode(&value), text)
	again, err := json.Marshal(value)
	assert.NilError(t, err)
	return string(again)
}

// TestCases runs the table. Each case is one call, and the process of a call is kept for the next.
func TestCases(t *testing.T) {
	d := newDriver(t)
	table, err := os.ReadFile("testdata/cases.txt")
	assert.NilError(t, err)
	temp, err := json.Marshal(t.TempDir())
	assert.NilError(t, err)
	text := strings.NewReplacer("@APP", startable(t), "@TEMP", strings.Trim(string(temp), `"`)).Replace(string(table))
	cases := strings.Split(text, "\n## ")[1:]
	assert.Assert(t, len(cases) >= 60)
	for _, c := range cases {
		lines := strings.Split(strings.TrimSpace(c), "\n")
		t.Run(lines[0], func(t *testing.T) {
			r := recipe(t, `[]`)
			for _, line := range lines[1 : len(lines)-1] {
				r.COM.Steps = append(r.COM.Steps, readStep(t, line))
			}
			action, err := d.Compile(r)
			assert.NilError(t, err)
			result, err := action(t.Context(), &aai.Call{})
			kind, want, _ := strings.Cut(lines[len(lines)-1], " ")
			if kind == "!!" {
				e := aai.AsError(err)
				assert.Assert(t, e != nil, "%v", result)
				got := fmt.Sprintf("%s %s %s", e.Code, e.Delivery, e.Message)
				words := strings.SplitN(want, " ", 3)
				assert.Check(t, is.Equal(words[0], string(e.Code)), got)
				assert.Check(t, is.Equal(words[1], string(e.Delivery)), got)
				assert.Check(t, is.Contains(got, words[2]))
				return
			}
			assert.NilError(t, err)
			got, err := json.Marshal(result.Data)
			assert.NilError(t, err)
			if beginning, ok := strings.CutPrefix(want, "STARTS "); ok {
				assert.Check(t, strings.HasPrefix(string(got), beginning), string(got))
				return
			}
			assert.Check(t, is.Equal(string(got), canonical(t, want)))
		})
	}
}
