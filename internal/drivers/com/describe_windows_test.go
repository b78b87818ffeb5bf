package com_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/com/typelib"
)

// TestCallsDescribe reads a real type library.
func TestCallsDescribe(t *testing.T) {
	d := newDriver(t)
	l, err := d.Describe(t.Context(), "Scripting.FileSystemObject", false)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(l.Interfaces[0].Name, "IFileSystem3"))
	assert.Check(t, is.Equal(l.Version, "1.0"))
	assert.Check(t, l.InProcess)
	members := map[string]typelib.Member{}
	for _, m := range l.Interfaces[0].Members {
		members[m.Name] = m
	}
	text := typelib.Type{Base: "string"}
	assert.Check(t, is.DeepEqual(members["OpenTextFile"], typelib.Member{
		Name: "OpenTextFile", Kind: typelib.Method, Result: typelib.Type{Base: "object", Name: "ITextStream"},
		Params: []typelib.Parameter{
			{Name: "FileName", Type: text},
			{Name: "IOMode", Type: typelib.Type{Base: "int", Name: "IOMode"}, Optional: true},
			{Name: "Create", Type: typelib.Type{Base: "bool"}, Optional: true},
			{Name: "Format", Type: typelib.Type{Base: "int", Name: "Tristate"}, Optional: true},
		},
	}))
	assert.Check(t, is.Equal(members["MoveFile"].Doc, "Move a file"))
	assert.Check(t, l.Interface("IDriveCollection").Items)
	assert.Check(t, is.DeepEqual(l.Enum("IOMode").Values[0], typelib.Value{Name: "ForReading", Value: 1}))
	_, err = d.Describe(t.Context(), "Excel.Application", true)
	assert.Equal(t, aai.AsError(err).Code, aai.AppNotFound)
	_, err = d.Describe(t.Context(), startable(t), false)
	assert.Equal(t, aai.AsError(err).Code, aai.AppNotRunning)
	_, err = d.Describe(t.Context(), startable(t), true)
	assert.ErrorContains(t, err, "the class has no type library")
}
